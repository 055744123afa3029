#include "kron/forecast/timeline.h"

#include <gtest/gtest.h>
#include <numeric>

#include "kron/core/constraints.h"
#include "kron/core/decision.h"
#include "kron/core/sample_jobs.h"
#include "kron/forecast/load_profile.h"

namespace kron::timeline_test {
namespace {

using testing::make_job;
using testing::utc;

const Instant kMarch = utc("2026-03-01T00:00:00Z");

jobs::JobDefinition definition(const testing::JobSpec& spec) {
  jobs::JobDefinition result;
  result.job = make_job(spec);
  return result;
}

jobs::JobDefinition named(std::string name, std::string schedule = "0 12 * * *") {
  return definition({.schedule = std::move(schedule), .identity = std::move(name)});
}

TimelineQuestion day(std::size_t lanes = 40) { return {.from = kMarch, .now = kMarch, .columns = 24, .lanes = lanes}; }

Timeline made(const std::vector<jobs::JobDefinition>& jobs, const TimelineQuestion& question) {
  return timeline(jobs, question).value();
}

std::vector<std::string> names_of(const Timeline& timeline) {
  std::vector<std::string> names;
  for (const TimelineLane& lane : timeline.lanes) names.push_back(lane.name);
  return names;
}
using Names = std::vector<std::string>;
using Periods = std::vector<TimelineLane::Period>;
using Density = std::vector<TimelineLane::Column>;
using Windows = std::vector<TimelineLane::Span>;

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST(Timeline, ALaneHasItsPeriodsInSecondsFromTheBeginning) {
  const std::vector jobs{definition({.schedule = "0 6,12 * * *", .identity = "a"})};
  const Timeline told = made(jobs, day());
  ASSERT_EQ(names_of(told), Names{"a"});
  EXPECT_FALSE(told.lanes[0].is_dense);
  EXPECT_EQ(told.lanes[0].periods, (Periods{{21'600, 21'600, 21'600, 21'600}, {43'200, 43'200, 43'200, 43'200}}));
  EXPECT_EQ(told.before[6], 1U);
  EXPECT_EQ(told.after[12], 1U);
  EXPECT_EQ(sum(told.before), 2U);
  EXPECT_EQ(told.until, kMarch + std::chrono::hours(24));
  EXPECT_EQ(told.more, 0U);
}

TEST(Timeline, APeriodWhoseWindowReachesIntoTheTimeIsToldToo) {
  const std::vector jobs{definition({.schedule = "0 23 * * *", .window = "2h", .identity = "a"})};
  const Timeline told = made(jobs, day());
  ASSERT_EQ(told.lanes[0].periods.size(), 2U);
  const TimelineLane::Period first = told.lanes[0].periods[0];
  EXPECT_EQ(first.nominal, -3600);
  EXPECT_EQ(first.window_start, -3600);
  EXPECT_EQ(first.window_end, 3600);
  EXPECT_EQ(first.chosen, epoch_seconds(*decide(jobs[0].job, kMarch - Seconds(3600)).chosen) - epoch_seconds(kMarch));
  EXPECT_EQ(sum(told.before), 1U);
}

TEST(Timeline, AnUnschedulablePeriodHasNoChosenTime) {
  std::vector jobs{definition({.schedule = "0 6 * * *", .identity = "a"})};
  ASSERT_TRUE(add_clause(jobs[0].job.constraints.only, "dates", "2026-03-02"));
  const Timeline told = made(jobs, day());
  ASSERT_EQ(told.lanes[0].periods.size(), 1U);
  EXPECT_EQ(told.lanes[0].periods[0].chosen, std::nullopt);
  EXPECT_EQ(sum(told.before), 1U);
  EXPECT_EQ(sum(told.after), 0U);
}

TEST(Timeline, JobsWhoseNamesDifferInTheirDigitsShareALane) {
  std::vector<jobs::JobDefinition> jobs;
  for (const char* name : {"host-1/backup", "host-2/backup", "host-30/backup", "web-1", "web-2"}) {
    jobs.push_back(definition({.schedule = "0 6 * * *", .window = "1h", .identity = name}));
  }
  const Timeline told =
      made(jobs, {.from = kMarch, .now = kMarch, .columns = 24, .order = TimelineQuestion::Order::name});
  ASSERT_EQ(names_of(told), (Names{"host-*/backup", "web-1", "web-2"}));
  const TimelineLane& hosts = told.lanes[0];
  EXPECT_EQ(hosts.jobs, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(hosts.is_dense);
  EXPECT_EQ(hosts.windows, (Windows{{21'600, 25'200}}));
  std::uint64_t starts = 0;
  for (const auto& [column, count] : hosts.density) {
    EXPECT_TRUE(column == 6 || column == 7) << column;
    starts += count;
  }
  EXPECT_EQ(starts, 3U);
}

TEST(Timeline, DigitsBecomeOneStarEach) {
  const std::pair<const char*, const char*> cases[] = {
      {"a", "a"}, {"a12/b3", "a*/b*"}, {"7", "*"}, {"x-1-2", "x-*-*"}, {"", ""}};
  for (const auto& [name, expected] : cases) EXPECT_EQ(without_digits(name), expected);
}

TEST(Timeline, BeyondTheLanesThatWereAskedForThoseOfOnePathAreOne) {
  const std::vector jobs{named("a/x"), named("a/y"), named("a/z"), named("b/x"), named("b/y"), named("c")};
  EXPECT_EQ(made(jobs, day(6)).lanes.size(), 6U);
  const Timeline told = made(jobs, day(5));
  EXPECT_EQ(names_of(told), (Names{"a/*", "b/x", "b/y", "c"}));
  EXPECT_EQ(told.lanes[0].jobs.size(), 3U);
  EXPECT_EQ(told.more, 0U);
}

TEST(Timeline, WhoAsksForAPathSeesWhatIsInIt) {
  const std::vector jobs{named("a/x"), named("a/y"), named("a/z"), named("a/b/x"), named("a/b/y"), named("a/b/z")};
  TimelineQuestion question = day(2);
  question.prefix = "a/";
  const Timeline told = made(jobs, question);
  EXPECT_EQ(names_of(told), (Names{"a/b/*", "a/x"}));
  EXPECT_EQ(told.more, 2U);
}

TEST(Timeline, WhatIsDueNextComesFirst) {
  const std::vector jobs{named("late", "0 20 * * *"), named("past", "0 3 * * *"), named("soon", "0 13 * * *"),
                         named("never", "0 0 1 7 *")};
  TimelineQuestion question = day();
  question.now = kMarch + std::chrono::hours(12);
  EXPECT_EQ(names_of(made(jobs, question)), (Names{"soon", "late", "never", "past"}));
  question.order = TimelineQuestion::Order::name;
  EXPECT_EQ(names_of(made(jobs, question)), (Names{"late", "never", "past", "soon"}));
  question.order = TimelineQuestion::Order::attention;
  question.need = [](std::size_t job) { return job == 1 ? 5U : 0U; };
  EXPECT_EQ(names_of(made(jobs, question)), (Names{"past", "soon", "late", "never"}));
  question.lanes = 1;
  const Timeline first = made(jobs, question);
  EXPECT_EQ(names_of(first), Names{"past"});
  EXPECT_EQ(first.more, 3U);
  EXPECT_EQ(sum(first.before), 3U) << "the load is that of all jobs";
}

TEST(Timeline, MorePeriodsThanEveryThirdColumnAreADensity) {
  const std::vector jobs{named("eight", "0 */3 * * *"), named("twelve", "0 */2 * * *")};
  TimelineQuestion question = day();
  question.order = TimelineQuestion::Order::name;
  const Timeline told = made(jobs, question);
  EXPECT_FALSE(told.lanes[0].is_dense);
  EXPECT_EQ(told.lanes[0].periods.size(), 8U);
  EXPECT_TRUE(told.lanes[1].is_dense);
  EXPECT_TRUE(told.lanes[1].periods.empty());
  EXPECT_EQ(told.lanes[1].density.size(), 12U);
  EXPECT_TRUE(told.lanes[1].windows.empty());
}

TEST(Timeline, WindowsThatAreLongerThanTheIntervalAreADensityWhenTheyAreMoreThanThreeAtOnce) {
  const std::vector jobs{definition({.schedule = "0 */4 * * *", .window = "11h", .identity = "three"}),
                         definition({.schedule = "0 */4 * * *", .window = "13h", .identity = "four"})};
  TimelineQuestion question = day();
  question.columns = 240;
  question.order = TimelineQuestion::Order::name;
  const Timeline told = made(jobs, question);
  EXPECT_EQ(names_of(told), (Names{"four", "three"}));
  EXPECT_TRUE(told.lanes[0].is_dense);
  EXPECT_EQ(told.lanes[0].windows, (Windows{{0, 86'400}}));
  EXPECT_FALSE(told.lanes[1].is_dense);
}

TEST(Timeline, TheHourThatIsMissingOrDoubleIsTold) {
  const std::vector jobs{definition({.schedule = "30 2 * * *", .identity = "a", .zone = "Europe/Paris"}),
                         definition({.schedule = "30 * * * *", .identity = "b", .zone = "Europe/Paris"})};
  for (const char* morning : {"2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z"}) {
    SCOPED_TRACE(morning);
    const TimelineQuestion question{
        .from = utc(morning), .now = utc(morning), .columns = 96, .order = TimelineQuestion::Order::name};
    const Timeline told = made(jobs, question);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      Periods expected;
      auto t = jobs[i].job.schedule.next_after(question.from - Seconds(1), jobs[i].job.zone);
      for (; t && *t < told.until; t = jobs[i].job.schedule.next_after(*t, jobs[i].job.zone)) {
        const std::int64_t at = (*t - question.from).count();
        expected.push_back({at, at, at, at});
      }
      EXPECT_EQ(told.lanes[i].periods, expected);
    }
    EXPECT_EQ(told.lanes[1].periods.size(), 24U) << "an hour of the day is a second hour, or none, and 24 pass";
  }
}

TEST(Timeline, ColumnsDivideTheTimeEvenly) {
  const TimelineQuestion question{.from = kMarch, .length = Seconds(100), .now = kMarch, .columns = 7};
  EXPECT_EQ(column_of(question, kMarch - Seconds(1)), std::nullopt);
  EXPECT_EQ(column_of(question, kMarch), 0U);
  EXPECT_EQ(column_of(question, kMarch + Seconds(14)), 0U);
  EXPECT_EQ(column_of(question, kMarch + Seconds(15)), 1U);
  EXPECT_EQ(column_of(question, kMarch + Seconds(99)), 6U);
  EXPECT_EQ(column_of(question, kMarch + Seconds(100)), std::nullopt);
}

TEST(Timeline, CountsWhatALoadProfileCounts) {
  std::vector<jobs::JobDefinition> jobs;
  for (int i = 0; i < 50; ++i) {
    jobs.push_back(
        definition({.schedule = std::to_string(i) + " */2 * * *",
                    .window = std::to_string(i * 7) + "m",
                    .identity = "job" + std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i)}));
  }
  const Timeline told = made(jobs, day());
  const LoadProfile profile =
      load_profile(jobs, {.from = kMarch, .length = std::chrono::hours(24), .step = Seconds(3600)}).value();
  EXPECT_EQ(told.before, profile.before.starts);
  EXPECT_EQ(told.after, profile.after.starts);
}

TEST(Timeline, SuspendedJobsAndThoseOfABootHaveNoLane) {
  std::vector jobs{named("a"), named("b"), named("c", "@reboot")};
  jobs[0].job.policy.suspend = true;
  EXPECT_EQ(names_of(made(jobs, day())), Names{"b"});
}

TEST(Timeline, TenThousandJobsFitIntoTheirLanesAndItems) {
  std::vector<jobs::JobDefinition> jobs;
  for (int i = 0; i < 10'000; ++i) {
    // A thousand names that differ in more than digits, ten times each.
    const std::string letters{static_cast<char>('a' + i / 10 % 10), static_cast<char>('a' + i / 100 % 10),
                              static_cast<char>('a' + i / 1000)};
    jobs.push_back(definition({.schedule = std::to_string(i % 60) + " * * * *",
                               .window = "20m",
                               .identity = letters + "/job-" + std::to_string(i % 10)}));
  }
  TimelineQuestion question = day(200);
  question.columns = TimelineQuestion::kMostColumns;
  question.limit.periods = kMostPeriodsAsked;
  const Timeline told = made(jobs, question);
  std::size_t items = 0;
  for (const TimelineLane& lane : told.lanes) items += lane.periods.size() + lane.density.size() + lane.windows.size();
  EXPECT_LE(items, TimelineQuestion::kMostItems);
  EXPECT_GT(told.lanes.size(), 10U);
  EXPECT_EQ(told.lanes.size() + told.more, 1000U);
  EXPECT_EQ(sum(told.before), 240'000U);
}

TEST(Timeline, ALaneThatWouldBeOneItemTooManyIsNotShown) {
  // 666 periods fit into every third of 2,000 columns; 30 lanes have 19,980 items, and the next one does not fit.
  std::vector<jobs::JobDefinition> jobs;
  for (int i = 0; i < 31; ++i) {
    std::string name = "x";
    name.append(static_cast<std::size_t>(i + 1), 'y');
    jobs.push_back(named(std::move(name), "*/2 * * * *"));
  }
  TimelineQuestion question{.from = kMarch, .length = Seconds(666 * 120), .now = kMarch, .columns = 2000, .lanes = 200};
  const Timeline told = made(jobs, question);
  EXPECT_EQ(told.lanes.size(), 30U);
  EXPECT_EQ(told.more, 1U);
  question.length = Seconds(600 * 120);
  EXPECT_EQ(made(jobs, question).lanes.size(), 31U);
}

TEST(Timeline, HasTheLimitsOfALoadProfile) {
  const std::vector jobs{named("a", "* * * * *")};
  TimelineQuestion question = day();
  question.limit.periods = 1441;
  EXPECT_TRUE(timeline(jobs, question));
  question.limit.periods = 1440;
  EXPECT_EQ(timeline(jobs, question).error().field, "for");
  question = day();
  question.length = Seconds(0);
  EXPECT_EQ(timeline(jobs, question).error().field, "for");
  question.length = Seconds(1);
  question.from = kLastInstant;
  EXPECT_TRUE(timeline(jobs, question));
  question.length = Seconds(2);
  EXPECT_EQ(timeline(jobs, question).error().field, "for");
  question.from = kLastInstant + Seconds(1);
  EXPECT_EQ(timeline(jobs, question).error().field, "from");
}

TEST(Timeline, OfNoJobsThereIsNothingToTell) {
  const Timeline told = made({}, day());
  EXPECT_TRUE(told.lanes.empty());
  EXPECT_EQ(told.before.size(), 24U);
}

}  // namespace
}  // namespace kron::timeline_test
