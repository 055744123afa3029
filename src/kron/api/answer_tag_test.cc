#include "kron/api/answer_tag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AnswerTagTest : public ApiRig {
 protected:
  http::Response jobs(http::Fields headers = {}, const std::string& query = "") {
    return ask("GET", "/api/v1/jobs" + query, {}, std::move(headers));
  }
  std::string tag() { return std::string(jobs().header("etag").value_or("")); }
  int status_with(const std::string& known) { return jobs({{"If-None-Match", known}}).status; }

  void load_jobs(int count) {
    std::vector<jobs::JobDefinition> definitions;
    for (int i = 0; i < count; ++i) definitions.push_back(noon_job("job-" + std::to_string(i)));
    do_on_loop([&] { EXPECT_TRUE(host_.reload(std::move(definitions))); });
  }
};

TEST_F(AnswerTagTest, WhoHasTheAnswerIsToldSo) {
  const std::string known = tag();
  EXPECT_THAT(known, StartsWith("W/\""));
  const http::Response again = jobs({{"If-None-Match", known}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.header("etag"), known);
  EXPECT_EQ(again.header("cache-control"), "private, no-cache");
  EXPECT_EQ(status_with("\"other\", " + known), 304);
  EXPECT_EQ(status_with(known.substr(2)), 304) << "weak comparison";
  EXPECT_EQ(status_with("*"), 304);
  EXPECT_EQ(status_with("W/\"other\""), 200);
  EXPECT_EQ(status_with(""), 200);
}

TEST_F(AnswerTagTest, WhateverMayChangeTheAnswerChangesTheTag) {
  std::string known = tag();
  events_.publish("run_started", "{}");
  EXPECT_EQ(status_with(known), 200);
  known = tag();
  load_jobs(4);
  EXPECT_EQ(status_with(known), 200);
  known = tag();
  is_reader_ = true;
  EXPECT_EQ(status_with(known), 200) << "somebody else may see less";
  known = tag();
  EXPECT_EQ(status_with(known), 304);
  do_on_loop([&] { host_.pass(std::chrono::seconds(10)); });
  EXPECT_EQ(status_with(known), 200) << "a pause may be over";
}

TEST_F(AnswerTagTest, LoadAndTimelineHaveOneTooForEachRight) {
  for (const std::string path : {"/api/v1/load?for=1h", "/api/v1/timeline?for=6h"}) {
    is_reader_ = false;
    const http::Response first = ask("GET", path);
    ASSERT_EQ(first.status, 200) << path;
    const std::string known(first.header("etag").value_or(""));
    EXPECT_THAT(known, StartsWith("W/\"")) << path;
    EXPECT_EQ(first.header("cache-control"), "private, no-cache") << path;
    const auto status = [&] { return ask("GET", path, {}, {{"If-None-Match", known}}).status; };
    EXPECT_EQ(status(), 304) << path;
    is_reader_ = true;
    EXPECT_EQ(status(), 200) << path;
    is_reader_ = false;
    EXPECT_EQ(status(), 304) << path;
    events_.publish("run_ended", "{}");
    EXPECT_EQ(status(), 200) << path;
  }
  const auto tag_of = [&](const std::string& path) { return std::string(*ask("GET", path).header("etag")); };
  const auto load = tag_of("/api/v1/load?for=1h");
  const auto timeline = tag_of("/api/v1/timeline?for=6h");
  do_on_loop([&] { host_.pass(std::chrono::seconds(1)); });
  EXPECT_EQ(tag_of("/api/v1/load?for=1h"), load);
  EXPECT_NE(tag_of("/api/v1/timeline?for=6h"), timeline) << "it tells the time";
  const http::Response wrong = ask("GET", "/api/v1/timeline?columns=0");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.header("etag"), std::nullopt);
}

TEST_F(AnswerTagTest, ALargeAnswerIsCompressedForThoseWhoAcceptIt) {
  load_jobs(60);
  const http::Response plain = jobs();
  ASSERT_GT(plain.body.size(), Call::kLeastCompressed);
  EXPECT_EQ(plain.header("content-encoding"), std::nullopt);
  EXPECT_EQ(plain.header("vary"), "Accept-Encoding");
  const http::Response zipped = jobs({{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(zipped.header("content-encoding"), "gzip");
  EXPECT_EQ(zipped.header("vary"), "Accept-Encoding");
  EXPECT_EQ(zipped.header("etag"), plain.header("etag"));
  EXPECT_THAT(zipped.body, StartsWith("\x1f\x8b"));
  EXPECT_LT(zipped.body.size(), plain.body.size() / 2);
}

TEST_F(AnswerTagTest, ASmallAnswerAndAProblemAreNot) {
  const http::Fields accepts{{"Accept-Encoding", "gzip"}};
  EXPECT_EQ(jobs(accepts).header("content-encoding"), std::nullopt);
  const http::Response wrong = jobs(accepts, "?fields=" + std::string(5000, 'x'));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.header("content-encoding"), std::nullopt);
  EXPECT_EQ(wrong.header("etag"), std::nullopt);
}

}  // namespace
}  // namespace kron::api
