#include "kron/forecast/load_profile.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "kron/core/decision.h"
#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

jobs::JobDefinition definition(const testing::JobSpec& spec) {
  jobs::JobDefinition result;
  result.job = make_job(spec);
  return result;
}

LoadQuestion hour_in_quarters() {
  return {.from = utc("2026-03-01T00:00:00Z"), .length = Seconds(3600), .step = Seconds(900)};
}

using Counts = std::vector<std::uint64_t>;
using Causes = std::vector<LoadProfile::Cause>;

TEST(LoadProfile, CountsNominalTimesPerStepWithoutWindows) {
  const std::vector jobs{definition({.schedule = "0,10,20,50 * * * *"}), definition({.schedule = "0 0 * * *"})};
  const LoadProfile profile = load_profile(jobs, hour_in_quarters()).value();
  EXPECT_EQ(profile.before.starts, (Counts{3, 1, 0, 1}));
  EXPECT_EQ(profile.after.starts, profile.before.starts);
  EXPECT_EQ(profile.before.total, 5U);
  EXPECT_EQ(profile.before.peak, 3U);
  EXPECT_EQ(profile.before.p50, 1U);
  EXPECT_EQ(profile.before.p99, 3U);
  EXPECT_EQ(profile.until, utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(profile.start_of(3), utc("2026-03-01T00:45:00Z"));
}

TEST(LoadProfile, PercentilesAreThoseOfTheNearestRank) {
  // 100 steps of a second with 1, 2 … 3 starts: one at each second, a second one at the last five, a third at the last.
  const std::vector jobs{definition({.schedule = "* * * * * *"}), definition({.schedule = "35-39 1 0 * * *"}),
                         definition({.schedule = "39 1 0 * * *"})};
  const LoadProfile profile =
      load_profile(jobs, {.from = utc("2026-03-01T00:00:00Z"), .length = Seconds(100), .step = Seconds(1)}).value();
  EXPECT_EQ(profile.before.total, 106U);
  EXPECT_EQ(profile.before.p50, 1U);
  EXPECT_EQ(profile.before.p95, 1U);
  EXPECT_EQ(profile.before.p99, 2U);
  EXPECT_EQ(profile.before.peak, 3U);
}

TEST(LoadProfile, TheLastStepMayBeShort) {
  const std::vector jobs{definition({.schedule = "* * * * *"})};
  const LoadProfile profile =
      load_profile(jobs, {.from = utc("2026-03-01T00:00:00Z"), .length = Seconds(150), .step = Seconds(60)}).value();
  EXPECT_EQ(profile.before.starts, (Counts{1, 1, 1}));
  const LoadProfile shorter =
      load_profile(jobs, {.from = utc("2026-03-01T00:00:01Z"), .length = Seconds(119), .step = Seconds(60)}).value();
  EXPECT_EQ(shorter.before.starts, (Counts{1, 0}));
}

TEST(LoadProfile, NamesTheGreatestCausesOfTheBusiestSteps) {
  const std::vector jobs{definition({.schedule = "0 0 * * *", .identity = "once"}),
                         definition({.schedule = "*/5 * * * *", .identity = "often"}),
                         definition({.schedule = "0 * * * *", .identity = "hourly"})};
  LoadQuestion question = hour_in_quarters();
  question.hot_spots = 2;
  question.causes = 2;
  const LoadProfile profile = load_profile(jobs, question).value();
  ASSERT_EQ(profile.after.hot_spots.size(), 2U);
  EXPECT_EQ(profile.after.hot_spots[0], (LoadProfile::HotSpot{0, 5, 3, Causes{{1, 3}, {0, 1}}}));
  EXPECT_EQ(profile.after.hot_spots[1], (LoadProfile::HotSpot{1, 3, 1, Causes{{1, 3}}}));
  EXPECT_EQ(profile.before.hot_spots, profile.after.hot_spots);
}

// SPEC example: prod/db-backup with salt backup is due at 02:32:20.
TEST(LoadProfile, CountsAChosenTimeWhereItFalls) {
  const std::vector jobs{
      definition({.schedule = "0 0 * * *", .window = "3h", .identity = "prod/db-backup", .salt = "backup"})};
  const LoadProfile whole =
      load_profile(jobs, {.from = utc("2026-03-01T00:00:00Z"), .length = Seconds(10800), .step = Seconds(3600)})
          .value();
  EXPECT_EQ(whole.before.starts, (Counts{1, 0, 0}));
  EXPECT_EQ(whole.after.starts, (Counts{0, 0, 1}));
  EXPECT_EQ(whole.after.hot_spots, (std::vector{LoadProfile::HotSpot{2, 1, 1, Causes{{0, 1}}}}));
}

TEST(LoadProfile, SeesWindowsThatReachIntoTheRange) {
  const std::vector jobs{
      definition({.schedule = "0 0 * * *", .window = "3h", .identity = "prod/db-backup", .salt = "backup"})};
  const LoadProfile late =
      load_profile(jobs, {.from = utc("2026-03-01T02:00:00Z"), .length = Seconds(3600), .step = Seconds(3600)}).value();
  EXPECT_EQ(late.before.starts, Counts{0});
  EXPECT_EQ(late.after.starts, Counts{1});
}

TEST(LoadProfile, ListsUnschedulablePeriodsWhereTheirWindowsStart) {
  std::vector jobs{definition({.schedule = "0 * * * *"}), definition({.schedule = "0 * * * *", .window = "10m"})};
  for (jobs::JobDefinition& job : jobs) ASSERT_TRUE(add_clause(job.job.constraints.avoid, "hours", "1-22"));
  const LoadProfile profile =
      load_profile(
          jobs, {.from = utc("2026-03-01T00:00:00Z"), .length = Seconds(86'400), .step = Seconds(43'200), .periods = 2})
          .value();
  const std::vector first{utc("2026-03-01T01:00:00Z"), utc("2026-03-01T02:00:00Z")};
  EXPECT_EQ(profile.unschedulable,
            (std::vector{LoadProfile::Unschedulable{0, 22, first}, LoadProfile::Unschedulable{1, 22, first}}));
  EXPECT_EQ(profile.unschedulable_periods(), 44U);
  EXPECT_EQ(profile.before.starts, (Counts{24, 24}));
  EXPECT_EQ(profile.after.starts, (Counts{2, 2}));
}

TEST(LoadProfile, SuspendedPausedAndBootJobsNeverStart) {
  std::vector jobs{definition({}), definition({}), definition({.schedule = "@reboot"})};
  jobs[0].job.policy.suspend = true;
  jobs::RunOptions paused;
  paused.terms.emplace().paused = true;
  jobs[1].options = std::make_shared<const jobs::RunOptions>(paused);
  const LoadProfile profile = load_profile(jobs, hour_in_quarters()).value();
  EXPECT_EQ(profile.jobs, 3U);
  EXPECT_EQ(profile.suspended, 2U);
  EXPECT_EQ(profile.at_boot, 1U);
  EXPECT_EQ(profile.after.total, 0U);
  EXPECT_TRUE(profile.after.hot_spots.empty());
}

TEST(LoadProfile, NoJobsAreAnEmptyProfile) {
  const LoadProfile profile = load_profile({}, hour_in_quarters()).value();
  EXPECT_EQ(profile.after.starts, (Counts{0, 0, 0, 0}));
}

TEST(LoadProfile, RefusesRangesItCannotCut) {
  const Instant from = utc("2026-03-01T00:00:00Z");
  const auto field_of = [](const LoadQuestion& question) { return load_profile({}, question).error().field; };
  EXPECT_EQ(field_of({.from = from, .length = Seconds(0)}), "for");
  EXPECT_EQ(field_of({.from = from, .step = Seconds(0)}), "step");
  EXPECT_EQ(field_of({.from = utc("1969-12-31T23:59:59Z")}), "from");
  EXPECT_EQ(field_of({.from = utc("2199-12-31T00:00:00Z")}), "for");
  const LoadQuestion fine{.from = from, .length = Seconds(2'000'000), .step = Seconds(1)};
  EXPECT_EQ(load_profile({}, fine).error().message,
            "1s cuts 3w2d3h33m20s into 2000000 steps, more than 1000000; take 2s or more");
  EXPECT_TRUE(load_profile({}, {.from = from, .length = Seconds(2'000'000), .step = Seconds(2)}));
}

TEST(LoadProfile, ReportsProgressOfBothPasses) {
  const std::vector jobs{definition({}), definition({})};
  std::vector<std::size_t> seen;
  const auto progress = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 4U);
    seen.push_back(done);
  };
  ASSERT_TRUE(load_profile(jobs, hour_in_quarters(), progress));
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3, 4}));
}

TEST(LoadProfile, IsWrittenWithItsDocumentedNames) {
  const std::vector jobs{definition({.schedule = "0 * * * *", .identity = "hourly"})};
  LoadQuestion question = hour_in_quarters();
  question.step = Seconds(1800);
  EXPECT_EQ(load_profile_json(load_profile(jobs, question).value(), jobs),
            R"({"from":"2026-03-01T00:00:00Z","until":"2026-03-01T01:00:00Z","stepSeconds":1800,"steps":2,"jobs":1,)"
            R"("suspendedJobs":0,"rebootJobs":0,)"
            R"("before":{"total":1,"peak":1,"p50":0,"p95":1,"p99":1,"hotSpots":[{"time":"2026-03-01T00:00:00Z",)"
            R"("starts":1,"jobs":1,"causes":[{"job":"hourly","starts":1}]}],"starts":[1,0]},)"
            R"("after":{"total":1,"peak":1,"p50":0,"p95":1,"p99":1,"hotSpots":[{"time":"2026-03-01T00:00:00Z",)"
            R"("starts":1,"jobs":1,"causes":[{"job":"hourly","starts":1}]}],"starts":[1,0]},)"
            R"("unschedulable":{"periods":0,"jobs":[]}})");
}

// Every period is decided by itself, from far before to far after, and must be found where it falls.
TEST(LoadProfile, EveryChosenTimeInTheRangeIsCountedOnce) {
  testing::for_all(60, [] {
    const auto schedule = *rc::gen::element<std::string>("*/7 * * * *", "13 */3 * * *", "30 2 * * *", "@every 50m");
    const auto window = *rc::gen::element<std::string>("0s", "500ms", "10m", "90m", "5h");
    const auto mode = *rc::gen::element(WindowMode::after, WindowMode::before, WindowMode::around);
    std::vector jobs{definition({.schedule = schedule, .window = window, .mode = mode, .zone = "Europe/Paris"})};
    const Job& job = jobs[0].job;
    if (*rc::gen::arbitrary<bool>()) RC_ASSERT(add_clause(jobs[0].job.constraints.only, "hours", "2,5-9").has_value());
    const Instant from = utc("2026-03-28T00:00:00Z") + Seconds(*rc::gen::inRange(0, 86'400));
    const LoadQuestion question{.from = from,
                                .length = Seconds(*rc::gen::inRange(1, 200'000)),
                                .step = Seconds(*rc::gen::inRange(1, 9'000)),
                                .hot_spots = 1000};
    const LoadProfile profile = load_profile(jobs, question).value();
    std::uint64_t chosen = 0;
    std::uint64_t lost = 0;
    Instant t = from - Seconds(400'000);
    for (auto next = job.schedule.next_after(t, job.zone); *next < profile.until + Seconds(400'000);
         next = job.schedule.next_after(*next, job.zone)) {
      const Decision decision = decide(job, *next);
      const bool is_inside = from <= decision.due() && decision.due() < profile.until;
      if (is_inside) ++(decision.chosen ? chosen : lost);
    }
    RC_ASSERT(profile.after.total == chosen);
    RC_ASSERT(profile.unschedulable_periods() == lost);
    RC_ASSERT(profile.before.total == job.schedule.count_between(from, profile.until - Seconds(1), job.zone));
    for (const LoadProfile::HotSpot& spot : profile.after.hot_spots) {
      RC_ASSERT(spot.causes.size() == 1U);
      RC_ASSERT(spot.causes[0].starts == spot.starts);
    }
  });
}

}  // namespace
}  // namespace kron
