#include "kron/core/allowed_share.h"

#include <chrono>
#include <cmath>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

Job job_with(const char* window, const char* zone, const char* kind, const char* value) {
  Job job = make_job({.window = window, .zone = zone});
  EXPECT_TRUE(add_clause(job.constraints.only, kind, value));
  return job;
}

// Second by second, as the sampling sees it.
double counted_share(const Job& job, Instant nominal) {
  const Window window = window_of(job.window, nominal);
  const double slots = static_cast<double>((window.end - window.start).count() + 1);
  double share = 0;
  for (Instant t = window.start; t <= window.end; t += Seconds(1)) {
    if (!job.constraints.allow(job.zone.to_civil(t))) continue;
    const auto offset = static_cast<double>((t - window.start).count());
    share += job.distribution.chance_below((offset + 1) / slots, job.window) -
             job.distribution.chance_below(offset / slots, job.window);
  }
  return share;
}

TEST(AllowedShare, IsWholeWithoutConstraints) {
  const AllowedShare share = allowed_share(make_job({.window = "3h"}), utc("2026-03-01T00:00:00Z"));
  EXPECT_EQ(share.share, 1);
  EXPECT_EQ(share.chance_unschedulable, 0);
}

TEST(ExcludedBy, NamesTheClauseThatForbidsTheWholeWindow) {
  const auto holiday = utc("2026-12-25T09:00:00Z");
  Job job = make_job({.schedule = "0 9 * * *", .window = "2h"});
  EXPECT_EQ(excluded_by(job, holiday), std::nullopt);
  const auto dates = parse_date_range("2026-12-24..2026-12-26");
  ASSERT_TRUE(dates);
  ASSERT_TRUE(add_clause(job.constraints.avoid, "calendar", "holidays", {{"holidays", {*dates}}}));
  ASSERT_TRUE(add_clause(job.constraints.avoid, "hours", "10"));
  EXPECT_EQ(excluded_by(job, holiday), "avoid calendar=holidays");
  EXPECT_EQ(excluded_by(job, utc("2026-12-27T09:00:00Z")), std::nullopt);
  // Two that only together leave nothing: 09:00-09:59 is not in `only`, 10:00-11:00 is avoided.
  Job both = make_job({.schedule = "0 9 * * *", .window = "1h30m"});
  ASSERT_TRUE(add_clause(both.constraints.only, "hours", "10-12"));
  ASSERT_TRUE(add_clause(both.constraints.avoid, "hours", "10"));
  EXPECT_EQ(excluded_by(both, holiday), "only hours=10-12; avoid hours=10");
}

TEST(ExcludedBy, ASecondThatIsHardlyEverDrawnIsAllowed) {
  Job job = job_with("12h", "UTC", "hours", "12");  // the last second of the window alone
  job.distribution = make_distribution("skewEarly", {{"shape", "50"}}).value();
  EXPECT_EQ(excluded_by(job, utc("2026-03-01T00:00:00Z")), std::nullopt);
  EXPECT_NE(excluded_by(job, utc("2026-03-01T13:00:00Z")), std::nullopt);
}

TEST(AllowedShare, OfAZeroWindowIsAllOrNothing) {
  const Job job = job_with("0s", "UTC", "hours", "10");
  EXPECT_EQ(allowed_share(job, utc("2026-03-01T10:00:00Z")).share, 1);
  EXPECT_EQ(allowed_share(job, utc("2026-03-01T10:00:00Z")).chance_unschedulable, 0);
  EXPECT_EQ(allowed_share(job, utc("2026-03-01T11:00:00Z")).share, 0);
  EXPECT_EQ(allowed_share(job, utc("2026-03-01T11:00:00Z")).chance_unschedulable, 1);
}

TEST(AllowedShare, CountsTheSlotsOfAUniformWindow) {
  // 18:58:00 to 19:00:00, both included, of 3,601 seconds.
  const AllowedShare share =
      allowed_share(job_with("1h", "UTC", "between", "18:58-19:00"), utc("2026-03-01T18:00:00Z"));
  EXPECT_NEAR(share.share, 121.0 / 3601, 1e-15);
  EXPECT_NEAR(share.chance_unschedulable, std::pow(1 - 121.0 / 3601, 64), 1e-12);
}

TEST(AllowedShare, FollowsTheWallClockOverAChangeOfOffset) {
  // On 29 March 2026 Paris has no hour 2; on 25 October it has two of them.
  const Job job = job_with("24h", "Europe/Paris", "hours", "2");
  EXPECT_EQ(allowed_share(job, utc("2026-03-28T23:00:00Z")).share, 0);
  EXPECT_EQ(allowed_share(job, utc("2026-03-28T23:00:00Z")).chance_unschedulable, 1);
  EXPECT_NEAR(allowed_share(job, utc("2026-10-24T22:00:00Z")).share, 7200.0 / 86401, 1e-12);
}

TEST(AllowedShare, EqualsTheSumOverTheSeconds) {
  const char* const kZones[] = {"UTC", "Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns"};
  const char* const kKinds[] = {"uniform", "skewEarly", "skewLate", "normal", "exponential"};
  testing::for_all(60, [&] {
    Job job = make_job({.zone = kZones[*rc::gen::inRange(0, 5)]});
    job.window = {*rc::gen::element(WindowMode::after, WindowMode::before, WindowMode::around),
                  Seconds(*rc::gen::inRange(1, 200'000))};
    job.distribution = make_distribution(kKinds[*rc::gen::inRange(0, 5)], {}).value();
    job.constraints.only.hours = *rc::gen::element(0U, 0x3FU, 0xFFFF00U);
    job.constraints.avoid.weekdays = *rc::gen::element<std::uint8_t>(0, 1, 0x3E);
    job.constraints.avoid.between = {
        {*rc::gen::inRange<std::int16_t>(0, 1440), *rc::gen::inRange<std::int16_t>(0, 1440)}};
    const Instant nominal = *rc::gen::element(utc("2026-03-28T12:00:00Z"), utc("2026-10-25T01:30:00Z"),
                                              utc("2011-12-30T08:00:00Z"), utc("2026-04-04T15:00:00Z"));
    RC_ASSERT(std::abs(allowed_share(job, nominal).share - counted_share(job, nominal)) < 1e-9);
  });
}

TEST(AllowedShare, OfAYearIsReadByDaysNotBySeconds) {
  Job job = make_job({.window = "52w", .zone = "Europe/Paris"});
  job.distribution = make_distribution("skewLate", {}).value();
  ASSERT_TRUE(add_clause(job.constraints.only, "hours", "0,2,4,6,8,10,12,14,16,18,20,22"));
  const auto start = std::chrono::steady_clock::now();
  const AllowedShare share = allowed_share(job, utc("2026-03-01T00:00:00Z"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  EXPECT_NEAR(share.share, 0.5, 0.01);
  EXPECT_LT(share.chance_unschedulable, 1e-19);
}

}  // namespace
}  // namespace kron
