#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

namespace kron::api::upcoming_paths_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::utc;

class UpcomingPathsTest : public ApiRig {
 protected:
  std::string told(const std::string& query = "") {
    const auto answer = ask("GET", "/api/v1/upcoming.ics" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.content_type, "text/calendar; charset=utf-8");
    return answer.body;
  }
  static std::size_t events_in(const std::string& calendar) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = calendar.find("BEGIN:VEVENT", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  void succeed(const std::string& job, int times, Seconds length) {
    for (int i = 0; i < times; ++i) {
      const Instant at = utc("2026-02-01T12:00:00Z") + std::chrono::days(i);
      history_->add({.job = job,
                     .outcome = Outcome::executed,
                     .period = at,
                     .chosen = at,
                     .run_id = std::string(31, '0') + std::to_string(i),
                     .started_at = at,
                     .ended_at = at + length,
                     .exit_code = 0});
    }
  }
};

TEST_F(UpcomingPathsTest, TellsThirtyDaysOfAllJobs) {
  const std::string all = told();
  EXPECT_EQ(events_in(all), 90U);
  EXPECT_THAT(all, HasSubstr("UID:a/b@2026-03-30T12:00:00Z\r\n"));
  EXPECT_THAT(all, Not(HasSubstr("2026-03-31T12:00:00Z")));
  EXPECT_EQ(events_in(told("?for=2d&prefix=a/")), 2U);
  EXPECT_EQ(events_in(told("?prefix=nobody")), 0U);
}

TEST_F(UpcomingPathsTest, AnEventIsAsLongAsTheRunsWere) {
  succeed("c", 5, Seconds(90));
  const std::string calendar = told("?for=1d");
  EXPECT_THAT(calendar, HasSubstr("DTSTART:20260301T120000Z\r\nDURATION:PT90S\r\nSUMMARY:c\r\n"));
  EXPECT_THAT(calendar, HasSubstr("DTSTART:20260301T120000Z\r\nSUMMARY:d\r\n"));
}

TEST_F(UpcomingPathsTest, WhatIsPausedIsThereWhenItStartsAgain) {
  ASSERT_EQ(ask("POST", "/api/v1/jobs/c/pause", "{}").status, 200);
  ASSERT_EQ(ask("POST", "/api/v1/jobs/d/pause", R"({"until":"2026-03-03T00:00:00Z"})").status, 200);
  const std::string calendar = told("?for=3d");
  EXPECT_THAT(calendar, Not(HasSubstr("SUMMARY:c\r\n")));
  EXPECT_THAT(calendar, Not(HasSubstr("UID:d@2026-03-02T12:00:00Z")));
  EXPECT_THAT(calendar, HasSubstr("UID:d@2026-03-03T12:00:00Z"));
  EXPECT_EQ(events_in(calendar), 4U);
}

TEST_F(UpcomingPathsTest, IsKnownByItsTag) {
  const auto first = ask("GET", "/api/v1/upcoming.ics");
  const auto tag = first.header("etag");
  ASSERT_TRUE(tag);
  http::Client client(socket());
  const auto again = client.request("GET", "/api/v1/upcoming.ics", {}, {{"If-None-Match", std::string(*tag)}}).value();
  EXPECT_EQ(again.status, 304);
}

TEST_F(UpcomingPathsTest, HasItsLimits) {
  const std::pair<const char*, int> cases[] = {{"?for=366d", 200}, {"?for=367d", 400}, {"?for=0s", 400},
                                               {"?for=x", 400},    {"?from=now", 400}, {"?for=1d&for=1d", 400}};
  for (const auto& [query, status] : cases) {
    EXPECT_EQ(ask("GET", std::string("/api/v1/upcoming.ics") + query).status, status) << query;
  }
}

}  // namespace
}  // namespace kron::api::upcoming_paths_test
