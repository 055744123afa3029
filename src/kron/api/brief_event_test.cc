#include "kron/api/brief_event.h"

#include <gtest/gtest.h>

namespace kron::api {
namespace {

std::string brief(const std::string& json) {
  const std::string before = "id: 7\nevent: run_started\ndata: ";
  const std::string text = brief_event_text(before + json + "\n\n");
  EXPECT_TRUE(text.starts_with(before));
  EXPECT_TRUE(text.ends_with("\n\n"));
  return text.substr(before.size(), text.size() - before.size() - 2);
}

TEST(BriefEvent, LeavesOutHowATimeWasChosen) {
  EXPECT_EQ(brief(R"({"time":"t","decision":{"a":[1,{"b":"}"}],"c":"\"}"},"runId":"r","seedHash":"00"})"),
            R"({"time":"t","runId":"r"})");
  EXPECT_EQ(brief(R"({"decision":{},"seedHash":"x","a":1})"), R"({"a":1})");
  EXPECT_EQ(brief(R"({"decision":null})"), "{}");
}

TEST(BriefEvent, LeavesTheRestAsItIs) {
  for (const char* json :
       {R"({"a":"decision","b":{"decision":1}})", R"({"a":"\",\"decision\":1"})", "{}", "[]", "", R"({"a")", R"({"a":)",
        R"({"a":"x)", R"({"a":{)", R"({"decision":{"a":1)", "{,}", "nonsense"}) {
    EXPECT_EQ(brief(json), json);
  }
  EXPECT_EQ(brief_event_text(": krond\n\n"), ": krond\n\n");
}

}  // namespace
}  // namespace kron::api
