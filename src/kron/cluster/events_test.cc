#include "kron/cluster/events.h"

#include <gtest/gtest.h>

namespace kron::cluster {
namespace {

TEST(Events, AreReadAsCronkenWritesThem) {
  struct Case {
    std::string text;
    Event event;
  };
  const Case cases[] = {
      {R"({"action":"pause","args":"a b"})", events::Pause{"a b"}},
      {R"({"action":"pause","args":"all"})", events::Pause{"all"}},
      {R"({"action":"pause","args":"n","at":1700000000,"by":"anna"})", events::Pause{"n", instant_of(1700000000)}},
      {R"({"action":"pause","args":"n","at":"now"})", events::Pause{"n"}},
      {R"({"action":"resume","args":"ä"})", events::Resume{"ä"}},
      {R"({"action":"terminate_run","args":"00ff"})", events::TerminateRun{"00ff"}},
      {R"({"action":"kill_run","args":"00ff"})", events::KillRun{"00ff"}},
      {R"({"action":"add","args":{"job_def": {"x" : 1.50,"y":"}"} , "job_name":"n"}})",
       events::Add{"n", R"({"x" : 1.50,"y":"}"})"}},
      {R"({"action":"add","args":{"job_name":"","job_def":5}})", events::Add{"", "5"}},
      {R"({"action":"remove","args":"n"})", events::Remove{"n"}},
      {R"({"action":"reload","args":{}})", events::Reload{}},
      {R"({"action":"reload","args":null})", events::Reload{}},
      {R"({"action":"reload","args":"whatever","more":[]})", events::Reload{}},
      {R"({"action":"trigger","args":"n"})", events::Trigger{"n"}},
      {R"({"action":"trigger","args":"n","id":"x","at":1700000000})",
       events::Trigger{"n", "x", instant_of(1700000000)}},
      {R"({"at":1700000000.75,"args":"n","action":"trigger","id":null})",
       events::Trigger{"n", "", instant_of(1700000000)}},
      {R"({"action":"validate","args":[]})", events::Validate{{}}},
      {R"({"action":"validate","args":null})", events::Validate{{}}},
      {R"({"action":"validate","args":"n"})", events::Validate{{"n"}}},
      {R"({"action":"validate","args":["n","m"]})", events::Validate{{"n", "m"}}},
      {R"({"action":"drain_nodes","args":["h"]})", events::DrainNodes{{"h"}}},
      {R"({"action":"drain_nodes","args":"h"})", events::DrainNodes{{"h"}}},
  };
  for (const Case& c : cases) {
    const Result<Event> event = parse_event(c.text);
    ASSERT_TRUE(event) << c.text << event.error().message;
    EXPECT_EQ(*event, c.event) << c.text;
    const Result<Event> again = parse_event(text_of(*event));
    ASSERT_TRUE(again) << text_of(*event);
    EXPECT_EQ(*again, c.event) << text_of(*event);
  }
}

TEST(Events, ArePrintedForThePublisher) {
  EXPECT_EQ(text_of(events::Trigger{"n", "id-1", instant_of(5)}),
            R"({"action":"trigger","args":"n","id":"id-1","at":5})");
  EXPECT_EQ(text_of(events::Add{"n", R"({"x":1.50})"}),
            R"({"action":"add","args":{"job_name":"n","job_def":{"x":1.50}}})");
  EXPECT_EQ(text_of(events::Reload{}), R"({"action":"reload","args":{}})");
  EXPECT_EQ(text_of(events::DrainNodes{{"a", "b"}}), R"({"action":"drain_nodes","args":["a","b"]})");
}

TEST(Events, JunkIsAnErrorThatSaysWhy) {
  struct Case {
    std::string text;
    std::string says;
  };
  const Case cases[] = {
      {"", ""},
      {"hello", ""},
      {"[]", "action"},
      {"5", "action"},
      {"null", "action"},
      {R"({"action":"pause"})", "args"},
      {R"({"args":"n"})", "action"},
      {R"({"action":5,"args":"n"})", "action"},
      {R"({"action":"dance","args":"n"})", "'dance'"},
      {R"({"action":"pause","args":""})", "the name of a job"},
      {R"({"action":"pause","args":["n"]})", "the name of a job"},
      {R"({"action":"kill_run","args":7})", "the id of a run"},
      {R"({"action":"add","args":"n"})", "job_name"},
      {R"({"action":"add","args":{"job_name":"n"}})", "job_def"},
      {R"({"action":"add","args":{"job_name":5,"job_def":{}}})", "job_name"},
      {R"({"action":"trigger","args":"n","id":5})", "id must be"},
      {R"({"action":"trigger","args":"n","id":""})", "id must be"},
      {R"({"action":"trigger","args":"n","at":"now"})", "at must be"},
      {R"({"action":"trigger","args":"n","at":-1})", "at must be"},
      {R"({"action":"trigger","args":"n","at":1e300})", "at must be"},
      {R"({"action":"validate","args":[5]})", "list of names"},
      {R"({"action":"drain_nodes","args":{}})", "list of names"},
      {"\xff\xfe", ""},
      {std::string(kLargestEvent + 1, ' '), "bytes"},
      {R"({"action":"trigger","args":"n","id":")" + std::string(201, 'x') + "\"}", "id must be"},
  };
  for (const Case& c : cases) {
    const Result<Event> event = parse_event(c.text);
    ASSERT_FALSE(event) << c.text.substr(0, 100);
    EXPECT_NE(event.error().message.find(c.says), std::string::npos) << event.error().message;
  }
}

TEST(Events, SayWhoSentThemBesideWhatCronkenReads) {
  const std::string text = text_of(events::Pause{"a"}, {"ada", "a move"});
  EXPECT_EQ(text, R"({"action":"pause","args":"a","by":"ada","note":"a move"})");
  EXPECT_EQ(parse_event(text).value(), Event(events::Pause{"a"}));
  EXPECT_EQ(sender_in(text), (Sender{"ada", "a move"}));
  EXPECT_EQ(text_of(events::Pause{"a"}), R"({"action":"pause","args":"a"})");
  EXPECT_EQ(sender_in(R"({"action":"pause","args":"a","by":3,"note":null})"), Sender{});
  EXPECT_EQ(sender_in(R"({"action":"reload","args":{},"by":")" + std::string(501, 'x') + R"("})"), Sender{});
  EXPECT_EQ(sender_in("junk"), Sender{});
}

}  // namespace
}  // namespace kron::cluster
