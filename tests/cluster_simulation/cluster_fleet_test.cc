#include "cluster_fleet.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

std::uint64_t first_seed() {
  const char* seed = std::getenv("KRON_SEED");
  return seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
}

// The sum of some simulations, of which none may have found anything.
ClusterReport expect_no_violation(ClusterPlan plan, int count) {
  ClusterReport all;
  for (plan.seed = first_seed(); plan.seed < first_seed() + static_cast<std::uint64_t>(count); ++plan.seed) {
    const ClusterReport report = simulate_cluster(plan);
    EXPECT_EQ(report.violation, "") << "KRON_SEED=" << plan.seed;
    all.executions += report.executions;
    all.outcomes += report.outcomes;
    all.starts += report.starts;
    all.commands += report.commands;
    all.lost_runs += report.lost_runs;
    all.executed_again += report.executed_again;
    all.losses_reported += report.losses_reported;
    for (const auto& [how, times] : report.answers) all.answers[how] += times;
    if (!report.violation.empty()) break;
  }
  return all;
}

TEST(ClusterSimulation, EachPeriodRunsOnceOnQuietHostsWhoseClocksDiffer) {
  const ClusterReport report =
      expect_no_violation({.lost = 0, .repeated = 0, .kills = false, .stops = false, .pauses = false}, scaled(2));
  EXPECT_GT(report.executions, 1000U);
  EXPECT_GT(report.answers.at(Written::How::newer), 500U);
}

TEST(ClusterSimulation, NoPeriodRunsTwiceThoughMessagesAreLostAndRepeatedAndHostsDie) {
  const ClusterReport report = expect_no_violation({}, scaled(6));
  EXPECT_GT(report.executions, 1000U);
  EXPECT_GT(report.answers.at(Written::How::unknown), 0U);
  EXPECT_GT(report.answers.at(Written::How::held), 10U);
}

TEST(ClusterSimulation, AClaimWhoseAnswerWasLostIsEnded) {
  (void)expect_no_violation({.lost = 0.02, .repeated = 0, .kills = false}, scaled(3));
}

TEST(ClusterSimulation, TheServersClockMayJump) { (void)expect_no_violation({.steps_clock = true}, scaled(3)); }

TEST(ClusterSimulation, NoPeriodRunsTwiceThoughRecordsAreDeleted) {
  (void)expect_no_violation({.deletes_records = true}, scaled(4));
}

TEST(ClusterSimulation, NoPeriodRunsTwiceThoughTheServerForgetsAllWhileHostsKnow) {
  (void)expect_no_violation({.lost = 0, .repeated = 0, .forgets_all = true}, scaled(4));
}

TEST(ClusterSimulation, NoPeriodRunsTwiceThoughHostsHoldDifferentSchedules) {
  (void)expect_no_violation({.lost = 0.005, .repeated = 0.005, .edits = true}, scaled(4));
}

TEST(ClusterSimulation, NoPeriodRunsTwiceThoughWhoKnewOfItsRunDiesWithWhatTheServerKnew) {
  const ClusterReport report =
      expect_no_violation({.lost = 0, .repeated = 0, .kills = false, .empties = true}, scaled(3));
  EXPECT_GT(report.executions, 1000U);
}

TEST(ClusterSimulation, NoPeriodRunsTwiceThoughTheServerStandsStillOrCannotWrite) {
  const ClusterReport report = expect_no_violation({.stalls = true, .is_replica = true}, scaled(3));
  EXPECT_GT(report.executions, 500U);
  EXPECT_GT(report.answers.at(Written::How::refused), 10U);
}

TEST(ClusterSimulation, OnlyWhatTheServerHasForgottenMayRunTwice) {
  const ClusterReport report = expect_no_violation({.kills = false, .loses_writes = true}, scaled(4));
  EXPECT_GT(report.lost_runs, 5U);
  EXPECT_GT(report.losses_reported, 5U);
  EXPECT_LE(report.executed_again, report.lost_runs);
}

}  // namespace
}  // namespace kron::testing
