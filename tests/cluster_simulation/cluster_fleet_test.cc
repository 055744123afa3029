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
    for (const auto& [how, times] : report.answers) all.answers[how] += times;
    if (!report.violation.empty()) break;
  }
  return all;
}

// What the first of some simulations finds that finds anything.
std::string violation_of(ClusterPlan plan, int most = 10) {
  for (plan.seed = 1; plan.seed <= static_cast<std::uint64_t>(most); ++plan.seed) {
    const ClusterReport report = simulate_cluster(plan);
    if (!report.violation.empty()) return report.violation;
  }
  return "";
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

TEST(ClusterSimulation, NoticesThatRevisionsAreNotCompared) {
  EXPECT_NE(violation_of({.mutant = Mutant::no_revision_check}), "");
}

TEST(ClusterSimulation, NoticesGatesThatOpenBeforeTheAnswer) {
  EXPECT_NE(violation_of({.mutant = Mutant::gate_before_answer}), "");
}

TEST(ClusterSimulation, NoticesClaimsThatAreNotEndedWhenTheirAnswerWasLost) {
  EXPECT_NE(violation_of({.lost = 0.05, .repeated = 0, .kills = false, .mutant = Mutant::unknown_without_end}), "");
}

TEST(ClusterSimulation, NoticesOutcomesOfPausedJobs) {
  EXPECT_NE(violation_of({.mutant = Mutant::outcomes_while_paused}), "");
}

}  // namespace
}  // namespace kron::testing
