#include "kron/forecast/look_limit.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/forecast/load_profile.h"

namespace kron::look_limit_test {
namespace {

using testing::make_job;
using testing::utc;

const Instant kMarch = utc("2026-03-01T00:00:00Z");

jobs::JobDefinition definition(const testing::JobSpec& spec) {
  jobs::JobDefinition result;
  result.job = make_job(spec);
  return result;
}

// 24 periods and one for the job itself: what is looked through.
const std::vector<jobs::JobDefinition> kHourly{definition({.schedule = "0 * * * *"})};

Result<LoadProfile> day_of(const std::vector<jobs::JobDefinition>& jobs, LookLimit limit) {
  return load_profile(jobs, {.from = kMarch,
                             .length = std::chrono::days(1),
                             .step = Seconds(3600),
                             .hot_spots = 0,
                             .limit = std::move(limit)});
}

TEST(LookLimit, AsManyPeriodsAsItAllowsAreLookedAtAndNotOneMore) {
  EXPECT_TRUE(day_of(kHourly, {.periods = 25}));
  const auto refused = day_of(kHourly, {.periods = 24});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid);
  EXPECT_EQ(refused.error().field, "for");
  EXPECT_EQ(
      refused.error().message,
      "this would look at more than 24 periods; ask for a shorter time, or for fewer jobs, or let `kron simulate` "
      "answer, which has no such limit");
}

TEST(LookLimit, TooMuchIsRefusedBeforeAnythingIsLookedAt) {
  std::size_t jobs_done = 0;
  const LoadQuestion question{.from = kMarch, .length = std::chrono::days(365), .limit = {.periods = 1000}};
  EXPECT_FALSE(load_profile(kHourly, question, [&](std::size_t, std::size_t) { ++jobs_done; }));
  EXPECT_EQ(jobs_done, 0U);
}

TEST(LookLimit, AWindowThatReachesIntoTheTimeCounts) {
  // Two days before, and the day itself.
  const std::vector jobs{definition({.schedule = "0 * * * *", .window = "48h"})};
  EXPECT_TRUE(day_of(jobs, {.periods = 74}));
  EXPECT_FALSE(day_of(jobs, {.periods = 72}));
}

TEST(LookLimit, YearsInWhichNothingHappensCostSomethingToo) {
  const std::vector jobs{definition({.schedule = "0 0 29 2 *"})};
  const LoadQuestion years{
      .from = kMarch, .length = std::chrono::days(36'500), .step = std::chrono::days(30), .limit = {.periods = 1000}};
  EXPECT_FALSE(load_profile(jobs, years));
}

TEST(LookLimit, WhoSearchesTheBusiestStepsPaysForThat) {
  const std::vector jobs{definition({.schedule = "* * * * *", .window = "24h"})};
  LoadQuestion question{
      .from = kMarch, .length = Seconds(60), .step = Seconds(60), .hot_spots = 1, .limit = {.periods = 1500}};
  EXPECT_FALSE(load_profile(jobs, question));
  question.hot_spots = 0;
  EXPECT_TRUE(load_profile(jobs, question));
}

TEST(LookLimit, SuspendedJobsAndThoseOfABootCostNothingButTheLook) {
  std::vector jobs{definition({.schedule = "* * * * * *"}), definition({.schedule = "@reboot"})};
  jobs[0].job.policy.suspend = true;
  EXPECT_TRUE(day_of(jobs, {.periods = 2}));
}

TEST(LookLimit, StopsWhenNobodyWantsTheAnswerAnyMore) {
  const std::vector jobs{definition({.schedule = "* * * * * *"})};
  int asked = 0;
  const auto stopped = day_of(jobs, {.is_wanted = [&] { return ++asked < 3; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::unreachable);
  EXPECT_EQ(asked, 3);
}

TEST(LookLimit, WithoutOneEverythingIsLookedAt) {
  const std::vector jobs{definition({.schedule = "* * * * * *"})};
  EXPECT_EQ(day_of(jobs, {}).value().before.total, 86'400U);
}

}  // namespace
}  // namespace kron::look_limit_test
