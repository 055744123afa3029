#include "kron/core/catch_up.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>

#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

using namespace std::chrono_literals;
using testing::make_job;
using testing::utc;

const Instant kPeriodStart = utc("2026-03-01T00:00:00Z");

Decision period_of(const std::string& identity) {
  return decide(make_job({.schedule = "0 0 * * *", .identity = identity}), kPeriodStart);
}

TEST(CatchUp, WhatIsFoundWithinTenSecondsStartsAtOnce) {
  const Decision period = period_of("a");
  for (const Seconds late : {0s, 1s, 10s}) {
    EXPECT_EQ(catch_up_start(period, 1h, 10min, kPeriodStart + late), kPeriodStart + late) << late.count();
  }
  EXPECT_NE(catch_up_start(period, 1h, 10min, kPeriodStart + 11s), kPeriodStart + 11s);
}

// Golden: sha256("a\n2026-03-01T00:00:00Z\n") by any other program.
TEST(CatchUp, TheBytesEightToFifteenOfTheSeedSayWhen) {
  const Decision period = period_of("a");
  const std::string hash = hex(period.seed_hash);
  const std::uint64_t number = std::stoull(hash.substr(16, 16), nullptr, 16);
  const Instant now = kPeriodStart + 30min;
  EXPECT_EQ(catch_up_start(period, 2h, 10min, now), now + Seconds(static_cast<std::int64_t>(number % 600)));
  EXPECT_EQ(catch_up_start(period, 35min, 10min, now), now + Seconds(static_cast<std::int64_t>(number % 300)))
      << "the deadline leaves five minutes";
}

TEST(CatchUp, WithoutASpreadOrWithNoTimeLeftItStartsAtOnce) {
  const Decision period = period_of("a");
  EXPECT_EQ(catch_up_start(period, 2h, 0s, kPeriodStart + 1h), kPeriodStart + 1h);
  EXPECT_EQ(catch_up_start(period, 1h, 10min, kPeriodStart + 1h), kPeriodStart + 1h);
  EXPECT_EQ(catch_up_start(period, 1h + 1s, 10min, kPeriodStart + 1h), kPeriodStart + 1h) << "a second is no choice";
}

TEST(CatchUp, JobsThatWereLateTogetherAreSpread) {
  std::set<Instant> starts;
  for (int i = 0; i < 200; ++i) {
    starts.insert(catch_up_start(period_of("job/" + std::to_string(i)), 2h, 10min, kPeriodStart + 1h));
  }
  EXPECT_GT(starts.size(), 150U);
}

RC_GTEST_PROP(CatchUp, NeverStartsBeforeNowNorAfterSpreadAndDeadline, ()) {
  const Decision period = period_of(*rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
  const auto seconds = [] { return Seconds(*rc::gen::inRange<std::int64_t>(0, 100'000)); };
  const Seconds deadline = seconds();
  const Seconds spread = seconds();
  const Instant now = kPeriodStart + std::min(seconds(), deadline);
  const Instant start = catch_up_start(period, deadline, spread, now);
  RC_ASSERT(start >= now);
  RC_ASSERT(start <= now + spread);
  RC_ASSERT(start <= kPeriodStart + deadline);
}

}  // namespace
}  // namespace kron
