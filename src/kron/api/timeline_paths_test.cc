#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api::timeline_paths_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::utc;

class TimelinePathsTest : public ApiRig {
 protected:
  std::string told(const std::string& query) {
    const auto answer = ask("GET", "/api/v1/timeline?from=2026-03-01T00:00:00Z" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body;
  }
  void add_run(const std::string& job, std::string id, std::optional<int> exit_code) {
    const Instant at = utc("2026-03-01T06:00:00Z");
    history_->add({.job = job,
                   .outcome = Outcome::executed,
                   .period = at,
                   .chosen = at,
                   .run_id = std::move(id),
                   .started_at = at,
                   .ended_at = at + Seconds(30),
                   .exit_code = exit_code});
  }
};

TEST_F(TimelinePathsTest, TellsLanesAndLoad) {
  EXPECT_EQ(told("&columns=2&order=name"),
            R"({"from":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z","now":"2026-03-01T00:00:00Z","lanes":[)"
            R"({"name":"a/b","jobs":1,"usual":null,"mark":null,"density":[[1,1]],"windows":[]},)"
            R"({"name":"c","jobs":1,"usual":null,"mark":null,"density":[[1,1]],"windows":[]},)"
            R"({"name":"d","jobs":1,"usual":null,"mark":null,"density":[[1,1]],"windows":[]}],)"
            R"("more":0,"before":[0,3],"after":[0,3],"actual":[0,0]})")
      << "no period is told by itself: there are not three columns for one";
}

TEST_F(TimelinePathsTest, ARunIsSeenAtOnceAlthoughTheRestIsKept) {
  EXPECT_THAT(told("&columns=24"), HasSubstr(R"("periods":[[43200,43200,43200,43200]],"runs":[])"));
  do_on_loop([this] { host_.clock.advance(Seconds(50)); });
  add_run("c", "0123456789abcdef0123456789abcdef", 1);
  const std::string later = told("&columns=24&order=due");
  EXPECT_EQ(looks_ahead_, 1);
  EXPECT_THAT(later, HasSubstr(R"("now":"2026-03-01T00:00:50Z")"));
  EXPECT_THAT(later, HasSubstr(R"({"name":"c","jobs":1,"usual":null,"mark":"fail",)"));
  EXPECT_THAT(later, HasSubstr(R"([[21600,21600,21630,"fail","0123456789abcdef0123456789abcdef"]])"));
}

TEST_F(TimelinePathsTest, WhatNeedsSomebodyComesFirst) {
  add_run("d", "0123456789abcdef0123456789abcdef", 1);
  EXPECT_THAT(told("&lanes=1&order=due"), HasSubstr(R"("lanes":[{"name":"a/b")"));
  EXPECT_THAT(told("&lanes=1&order=attention"), HasSubstr(R"("lanes":[{"name":"d")"));
  EXPECT_THAT(told("&lanes=0"), HasSubstr(R"("lanes":[],"more":3)"));
}

TEST_F(TimelinePathsTest, SomeJobsAreAskedForByTheirNames) {
  const std::string some = told("&prefix=a/&columns=1");
  EXPECT_THAT(some, HasSubstr(R"("name":"a/b")"));
  EXPECT_THAT(some, Not(HasSubstr(R"("name":"c")")));
  EXPECT_THAT(some, HasSubstr(R"("before":[1])"));
  EXPECT_THAT(told("&match=c&columns=1"), HasSubstr(R"("lanes":[{"name":"c")"));
  EXPECT_THAT(told("&match=zzz"), HasSubstr(R"("lanes":[],"more":0)"));
}

TEST_F(TimelinePathsTest, BeginsAQuarterOfItsTimeBeforeNow) {
  EXPECT_THAT(ask("GET", "/api/v1/timeline").body,
              HasSubstr(R"("from":"2026-02-28T18:00:00Z","until":"2026-03-01T18:00:00Z")"));
  EXPECT_THAT(ask("GET", "/api/v1/timeline?for=4h").body,
              HasSubstr(R"("from":"2026-02-28T23:00:00Z","until":"2026-03-01T03:00:00Z")"));
}

TEST_F(TimelinePathsTest, HasItsLimits) {
  const std::pair<const char*, int> cases[] = {{"?columns=2000", 200}, {"?columns=2001", 400}, {"?columns=0", 400},
                                               {"?lanes=200", 200},    {"?lanes=201", 400},    {"?order=size", 400},
                                               {"?for=0s", 400},       {"?for=x", 400},        {"?from=noon", 400},
                                               {"?lane=1", 400},       {"?for=1000000d", 400}};
  for (const auto& [query, status] : cases) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/timeline") + query).status, status) << query;
  }
}

}  // namespace
}  // namespace kron::api::timeline_paths_test
