#include "kron/forecast/next_start.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

const Instant kNow = utc("2026-03-02T10:01:48Z");

JobState seen_before() {
  JobState state;
  state.last_handled = utc("2026-03-02T09:30:00Z");
  return state;
}

JobState paused_until(std::optional<Instant> until) {
  JobState state = seen_before();
  state.suspended = Suspension{.since = kNow, .until = until};
  return state;
}

TEST(NextStart, IsTheNextPeriodOfAJobThatIsNotPaused) {
  const auto next = next_start(make_job({.schedule = "30 * * * *"}), seen_before(), false, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, utc("2026-03-02T10:30:00Z"));
  EXPECT_EQ(next->period.nominal, utc("2026-03-02T10:30:00Z"));
}

TEST(NextStart, OfAPausedJobIsTheFirstAfterThePause) {
  const Job job = make_job({.schedule = "30 * * * *"});
  const auto next = next_start(job, paused_until(utc("2026-03-02T12:01:48Z")), false, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, utc("2026-03-02T12:30:00Z"));
}

TEST(NextStart, OfAPausedJobIsTheLatestLatePeriodWhenItsDeadlineAllowsIt) {
  Job job = make_job({.schedule = "30 * * * *"});
  job.policy.deadline = std::chrono::hours(1);
  const auto next = next_start(job, paused_until(utc("2026-03-02T12:01:48Z")), false, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, utc("2026-03-02T12:01:48Z"));
  EXPECT_EQ(next->period.nominal, utc("2026-03-02T11:30:00Z"));
}

TEST(NextStart, OfAPeriodThatWaitsForARunIsNowAtTheEarliest) {
  const Job job = make_job({.schedule = "30 * * * *", .deadline = "2h", .concurrency = Concurrency::queue});
  JobState state;
  state.last_handled = utc("2026-03-02T08:30:00Z");
  const auto next = next_start(job, state, true, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, kNow);
  EXPECT_EQ(next->period.nominal, utc("2026-03-02T09:30:00Z"));
}

TEST(NextStart, IsUnknownWhilePausedForGoodOrSuspended) {
  Job job = make_job({.schedule = "30 * * * *"});
  EXPECT_FALSE(next_start(job, paused_until(std::nullopt), false, kNow));
  job.policy.suspend = true;
  EXPECT_FALSE(next_start(job, seen_before(), false, kNow));
  EXPECT_FALSE(next_start(make_job({.schedule = "@reboot"}), seen_before(), false, kNow));
}

TEST(NextStart, APauseThatIsOverDoesNotCount) {
  const auto next = next_start(make_job({.schedule = "30 * * * *"}), paused_until(kNow), false, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, utc("2026-03-02T10:30:00Z"));
}

TEST(NextStart, LeavesOutPeriodsThatHaveNoTime) {
  Job job = make_job({.schedule = "0 9 * * *"});
  job.constraints.avoid.dates.push_back(*parse_date_range("2026-03-03..2026-03-05"));
  const auto next = next_start(job, seen_before(), false, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, utc("2026-03-06T09:00:00Z"));
}

TEST(NextStart, IsAtOnceWhenALatePeriodMayStillStart) {
  Job job = make_job({.schedule = "0 10 * * *"});
  job.policy.deadline = std::chrono::hours(1);
  const auto next = next_start(job, seen_before(), false, kNow);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->at, kNow);
  EXPECT_EQ(next->period.nominal, utc("2026-03-02T10:00:00Z"));
  const auto blocked = next_start(job, seen_before(), true, kNow);
  ASSERT_TRUE(blocked);
  EXPECT_EQ(blocked->at, utc("2026-03-03T10:00:00Z"));
}

TEST(NextStart, GivesUpOnAScheduleThatIsNeverAllowed) {
  Job job = make_job({.schedule = "* * * * * *"});
  job.constraints.only.dates.push_back(*parse_date_range("2020-01-01"));
  EXPECT_FALSE(next_start(job, seen_before(), false, kNow));
}

}  // namespace
}  // namespace kron
