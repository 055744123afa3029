#include "kron/core/job.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

TEST(Job, SeedStrategiesPrintAndParse) {
  for (const SeedStrategy strategy : {SeedStrategy::stable, SeedStrategy::daily, SeedStrategy::weekly}) {
    EXPECT_EQ(parse_seed_strategy(name_of(strategy)), strategy);
  }
  EXPECT_EQ(parse_seed_strategy("dayly").error().message, "unknown seed strategy 'dayly'; did you mean daily?");
}

TEST(Job, ConcurrenciesPrintAndParse) {
  for (const Concurrency concurrency :
       {Concurrency::allow, Concurrency::forbid, Concurrency::replace, Concurrency::queue}) {
    EXPECT_EQ(parse_concurrency(name_of(concurrency)), concurrency);
  }
  EXPECT_EQ(parse_concurrency("sometimes").error().message,
            "unknown concurrency 'sometimes'; known are allow, forbid, replace, queue");
}

TEST(Job, DefaultsAreThoseOfTheSpec) {
  const Job job;
  EXPECT_EQ(job.zone.name(), "UTC");
  EXPECT_EQ(job.window, (WindowSpec{WindowMode::after, Nanoseconds(0)}));
  EXPECT_EQ(job.distribution.kind, Distribution::Kind::uniform);
  EXPECT_EQ(job.seed_strategy, SeedStrategy::stable);
  EXPECT_EQ(job.policy, (Policy{Concurrency::forbid, false, Seconds(0)}));
}

}  // namespace
}  // namespace kron
