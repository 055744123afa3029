#include "kron/core/decision.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/testing/allocations.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

const char* const kDistributions[] = {"uniform", "skewEarly", "skewLate", "normal", "exponential"};
const char* const kZones[] = {"UTC", "Europe/Paris", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia"};

Job random_job() {
  Job job = make_job({.zone = kZones[*rc::gen::inRange(0, 5)]});
  job.identity = *rc::gen::nonEmpty(rc::gen::string<std::string>());
  job.salt = *rc::gen::arbitrary<std::string>();
  const auto longest = *rc::gen::element<std::int64_t>(3, 5'000, 10'000'000, 100'000'000'000'000);
  job.window = {*rc::gen::element(WindowMode::after, WindowMode::before, WindowMode::around),
                Nanoseconds(*rc::gen::inRange<std::int64_t>(0, longest) * 1000)};
  job.distribution = make_distribution(kDistributions[*rc::gen::inRange(0, 5)], {}).value();
  job.seed_strategy = *rc::gen::element(SeedStrategy::stable, SeedStrategy::daily, SeedStrategy::weekly);
  job.constraints.only.hours = *rc::gen::element(0U, 0x3FU, 0xFFFF00U);
  job.constraints.avoid.weekdays = *rc::gen::element<std::uint8_t>(0, 1, 0x3E);
  return job;
}

Instant random_nominal() { return instant_of(*rc::gen::inRange<std::int64_t>(0, 7'258'118'399)); }

TEST(Decision, IsInsideTheWindowAndAllowed) {
  testing::for_all(1000, [] {
    const Job job = random_job();
    const Instant nominal = random_nominal();
    const Decision decision = decide(job, nominal);
    RC_ASSERT(decision.window == window_of(job.window, nominal));
    RC_ASSERT(decision.attempts >= 0 && decision.attempts <= kSamplingBudget);
    RC_ASSERT((decision.attempts == 0) == (decision.window.start == decision.window.end));
    if (decision.chosen) {
      RC_ASSERT(decision.window.start <= *decision.chosen && *decision.chosen <= decision.window.end);
      RC_ASSERT(job.constraints.allow(job.zone.to_civil(*decision.chosen)));
      RC_ASSERT(decision.due() == *decision.chosen);
    } else {
      RC_ASSERT(decision.attempts == 0 || decision.attempts == kSamplingBudget);
      RC_ASSERT(decision.due() == decision.window.start);
    }
  });
}

TEST(Decision, IsTheSameForTheSameInput) {
  testing::for_all(500, [] {
    const Job job = random_job();
    const Instant nominal = random_nominal();
    const Job copy = job;
    RC_ASSERT(decide(job, nominal) == decide(copy, nominal));
  });
}

TEST(Decision, ShowingItsDrawsChangesNothing) {
  testing::for_all(300, [] {
    const Job job = random_job();
    const Instant nominal = random_nominal();
    std::vector<Draw> draws;
    const Decision decision = decide_showing(job, nominal, [&](const Draw& draw) { draws.push_back(draw); });
    RC_ASSERT(decision == decide(job, nominal));
    RC_ASSERT(static_cast<int>(draws.size()) == decision.attempts);
    for (std::size_t i = 0; i < draws.size(); ++i) {
      RC_ASSERT(draws[i].u >= 0 && draws[i].u < 1);
      RC_ASSERT(draws[i].allowed == (decision.chosen.has_value() && i + 1 == draws.size()));
    }
    if (!draws.empty() && decision.chosen) RC_ASSERT(draws.back().candidate == *decision.chosen);
  });
}

TEST(Decision, AllocatesNothing) {
  for (const char* name : kDistributions) {
    for (const char* zone : kZones) {
      for (const SeedStrategy strategy : {SeedStrategy::stable, SeedStrategy::daily, SeedStrategy::weekly}) {
        Job job = make_job({.window = "24h", .zone = zone});
        job.distribution = make_distribution(name, {}).value();
        job.seed_strategy = strategy;
        ASSERT_TRUE(add_clause(job.constraints.only, "hours", "9-17"));
        ASSERT_TRUE(add_clause(job.constraints.avoid, "date", "2026-01-01"));
        ASSERT_TRUE(add_clause(job.constraints.avoid, "between", "12:00-12:30"));
        const Instant nominal = utc("2026-03-02T00:00:00Z");
        decide(job, nominal);  // the thread's hash context is made once
        const std::size_t before = testing::allocations();
        decide(job, nominal + Seconds(86400));
        EXPECT_EQ(testing::allocations(), before) << name << ' ' << zone;
      }
    }
  }
}

TEST(Decision, TheCounterOfAllocationsCounts) {
  const std::size_t before = testing::allocations();
  const std::string text(100, 'x');
  EXPECT_EQ(testing::allocations(), before + 1);
}

TEST(Decision, DiffersByIdentitySaltAndPeriod) {
  const Instant nominal = utc("2026-03-01T00:00:00Z");
  const Job job = make_job({.window = "3h", .identity = "a", .salt = "b"});
  const Decision decision = decide(job, nominal);
  EXPECT_NE(decision.seed_hash, decide(make_job({.window = "3h", .identity = "c", .salt = "b"}), nominal).seed_hash);
  EXPECT_NE(decision.seed_hash, decide(make_job({.window = "3h", .identity = "a", .salt = ""}), nominal).seed_hash);
  EXPECT_NE(decision.seed_hash, decide(job, nominal + Seconds(1)).seed_hash);
}

TEST(Decision, AWindowOfOneSecondIsCheckedWithoutADraw) {
  Job job = make_job({.window = "999ms"});
  ASSERT_TRUE(add_clause(job.constraints.only, "hours", "11"));
  const Decision allowed = decide(job, utc("2026-03-01T11:00:00Z"));
  EXPECT_EQ(allowed.chosen, utc("2026-03-01T11:00:00Z"));
  EXPECT_EQ(allowed.attempts, 0);
  const Decision refused = decide(job, utc("2026-03-01T12:00:00Z"));
  EXPECT_FALSE(refused.chosen);
  EXPECT_EQ(refused.attempts, 0);
}

struct Key {
  SeedStrategy strategy;
  const char* zone;
  const char* nominal;
  const char* key;
};

TEST(Decision, PeriodKeysFollowTheStrategy) {
  const Key cases[] = {
      {SeedStrategy::stable, "Asia/Tokyo", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"},
      {SeedStrategy::daily, "UTC", "2026-03-01T00:00:00Z", "2026-03-01"},
      {SeedStrategy::daily, "America/Los_Angeles", "2026-03-01T00:30:00Z", "2026-02-28"},
      {SeedStrategy::daily, "Asia/Tokyo", "2026-02-28T15:00:00Z", "2026-03-01"},
      {SeedStrategy::weekly, "UTC", "2026-03-01T00:00:00Z", "2026-W09"},
      {SeedStrategy::weekly, "Asia/Tokyo", "2026-12-31T23:30:00Z", "2026-W53"},
      {SeedStrategy::weekly, "UTC", "2024-12-30T00:00:00Z", "2025-W01"},
      {SeedStrategy::weekly, "UTC", "2023-01-01T23:59:59Z", "2022-W52"},
  };
  for (const Key& c : cases) {
    EXPECT_EQ(period_key_of(c.strategy, testing::zone(c.zone), utc(c.nominal)).view(), c.key) << c.zone << c.nominal;
  }
}

}  // namespace
}  // namespace kron
