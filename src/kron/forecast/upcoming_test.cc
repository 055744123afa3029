#include "kron/forecast/upcoming.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

std::vector<Instant> first_nominals(const Job& job, Instant from, int count) {
  std::vector<Instant> nominals;
  Result<Upcoming> upcoming = Upcoming::of(job, from);
  while (static_cast<int>(nominals.size()) < count) {
    const auto period = upcoming->next();
    if (!period) break;
    nominals.push_back(period->nominal);
  }
  return nominals;
}

TEST(Upcoming, BeginsWithAPeriodThatIsOpenButNotDueYet) {
  const Job job = make_job({.schedule = "0 0 * * *", .window = "3h", .identity = "prod/db-backup", .salt = "backup"});
  EXPECT_EQ(first_nominals(job, utc("2026-03-01T02:32:20Z"), 1).front(), utc("2026-03-01T00:00:00Z"));
  EXPECT_EQ(first_nominals(job, utc("2026-03-01T02:32:21Z"), 1).front(), utc("2026-03-02T00:00:00Z"));
}

TEST(Upcoming, SeesPeriodsThatRunBeforeTheirNominalTime) {
  const Job job = make_job({.schedule = "0 0 * * *", .window = "3h", .mode = WindowMode::before});
  EXPECT_EQ(first_nominals(job, utc("2026-03-01T21:00:00Z"), 1).front(), utc("2026-03-02T00:00:00Z"));
}

TEST(Upcoming, EndsWithTheSchedule) {
  const Job job = make_job({.schedule = "0 0 0 1 1 ? 2027"});
  EXPECT_EQ(first_nominals(job, utc("2026-03-01T00:00:00Z"), 5).size(), 1U);
  EXPECT_TRUE(first_nominals(job, utc("2028-03-01T00:00:00Z"), 5).empty());
}

TEST(Upcoming, RefusesWhatHasNoTimesToTellAndWhatIsOpenTooOften) {
  const auto reboot = Upcoming::of(make_job({.schedule = "@reboot"}), utc("2026-03-01T00:00:00Z"));
  ASSERT_FALSE(reboot.has_value());
  EXPECT_NE(reboot.error().message.find("@reboot"), std::string::npos);
  const auto crowded =
      Upcoming::of(make_job({.schedule = "* * * * * *", .window = "5000w"}), utc("2026-03-01T00:00:00Z"));
  ASSERT_FALSE(crowded.has_value());
  EXPECT_EQ(crowded.error().field, "window");
}

TEST(Upcoming, IsEveryPeriodDueFromThenOnInOrder) {
  testing::for_all(100, [] {
    const Job job = make_job({.schedule = *rc::gen::element<std::string>("*/10 * * * *", "0 */2 * * *", "@every 7m"),
                              .window = std::to_string(*rc::gen::inRange(0, 20'000)) + "s",
                              .mode = *rc::gen::element(WindowMode::after, WindowMode::before, WindowMode::around)});
    const Instant from = instant_of(1'772'323'200 + *rc::gen::inRange(0, 90'000));
    constexpr std::size_t kCount = 20;
    std::vector<std::pair<Instant, Instant>> expected;
    for (auto n = job.schedule.next_after(from - Seconds(50'000), job.zone); *n < from + Seconds(200'000);
         n = job.schedule.next_after(*n, job.zone)) {
      const Decision decision = decide(job, *n);
      if (decision.due() >= from) expected.emplace_back(decision.due(), *n);
    }
    std::ranges::sort(expected);
    Result<Upcoming> upcoming = Upcoming::of(job, from);
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto period = upcoming->next();
      RC_ASSERT(std::pair(period->due(), period->nominal) == expected[i]);
    }
  });
}

TEST(Agenda, MergesJobsByTheTimeTheyRun) {
  const Job daily = make_job({.schedule = "0 0 * * *", .identity = "daily"});
  const Job hourly = make_job({.schedule = "30 * * * *", .identity = "hourly"});
  const Instant from = utc("2026-03-01T22:00:00Z");
  Agenda agenda;
  agenda.add(0, *Upcoming::of(daily, from));
  agenda.add(1, *Upcoming::of(hourly, from));
  std::vector<std::size_t> order;
  for (int i = 0; i < 5; ++i) order.push_back(agenda.next()->job);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 1, 0, 1, 1}));
}

}  // namespace
}  // namespace kron
