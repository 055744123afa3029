#include "kron/scheduler/fake/simulation.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>

#include "kron/scheduler/fake/fleet.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

constexpr Seconds kDay{86'400};

void expect_no_violation(const SimulationPlan& plan, const char* test) {
  const SimulationReport report = simulate(plan);
  EXPECT_EQ(report.violation, "") << "replay: KRON_SIMULATION_SEED=" << plan.seed
                                  << " kron_scheduler_test --gtest_filter=Simulation." << test;
}

// The seed to replay, or the first of many.
std::uint64_t given_seed(std::uint64_t otherwise) {
  const char* given = std::getenv("KRON_SIMULATION_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

int given_count(int otherwise) { return std::getenv("KRON_SIMULATION_SEED") != nullptr ? 1 : otherwise; }

TEST(Simulation, ShortLivesOfManySeedsBreakNoRule) {
  const std::uint64_t first = given_seed(1);
  const int count = given_count(scaled(1) > 1 ? scaled(50) : 10);
  for (int i = 0; i < count && !HasFailure(); ++i) {
    expect_no_violation(
        {.seed = first + static_cast<std::uint64_t>(i), .jobs = 8, .length = 20 * kDay, .between_events = Seconds(6h)},
        "ShortLivesOfManySeedsBreakNoRule");
  }
}

// Five hundred jobs over three years at scale 20; a twentieth of both in a quick run.
int full_host() { return std::min(500, scaled(25)); }
Seconds years() { return std::min(3 * 365, scaled(60)) * kDay; }

TEST(Simulation, YearsOfAFullHostBreakNoRule) {
  SimulationPlan plan{.seed = given_seed(100), .jobs = full_host(), .length = years(), .between_events = Seconds(18h)};
  plan.max_running = static_cast<std::size_t>(plan.jobs) / 8;
  const SimulationReport report = simulate(plan);
  std::cout << plan.jobs << " jobs, " << plan.length / kDay << " days: " << report.executions << " executions, "
            << report.outcomes << " outcomes, " << report.events << " events, " << report.restarts << " restarts, "
            << report.power_cuts << " power cuts, " << report.clock_jumps << " clock jumps, " << report.broken
            << " broken ledgers, " << report.answers << " requests answered, " << report.unanswered << " not, "
            << report.paused << " paused by failures, " << report.waits << " seen waiting, " << report.slot_waits
            << " of them for a slot, " << report.superseded << " superseded while waiting, " << report.without_slot
            << " without a slot, " << report.spread << " spread, " << report.retried << " retried, " << report.ruled
            << " judged by rules, " << report.opened << " alarms opened, " << report.repeated << " repeated, "
            << report.closed << " closed, " << report.late << " of late runs\n";
  EXPECT_EQ(report.violation, "") << "replay: KRON_SIMULATION_SEED=" << plan.seed << " KRON_TEST_SCALE=" << scaled(1)
                                  << " kron_scheduler_test --gtest_filter=Simulation.Years*";
  EXPECT_GT(report.executions, 300U);
  EXPECT_GT(report.answers, 10U);
  EXPECT_GT(report.paused, 0U);
  EXPECT_GT(report.superseded, 0U);
  EXPECT_GT(report.waits, report.slot_waits);
  EXPECT_GT(report.slot_waits, 0U);
  EXPECT_GT(report.without_slot, 0U);
  EXPECT_GT(report.spread, 0U);
  EXPECT_GT(report.retried, 0U);
  EXPECT_GT(report.ruled, 0U);
  EXPECT_GT(report.opened, report.closed);
  EXPECT_GT(report.closed, 0U);
  EXPECT_GT(report.repeated, 0U);
  EXPECT_GT(report.late, 0U);
  EXPECT_GT(report.unanswered, 0U) << "some daemon must have died with a request on its way";
}

TEST(Simulation, FewSlotsForManyJobsBreakNoRule) {
  const std::uint64_t first = given_seed(500);
  for (int i = 0; i < given_count(scaled(3)) && !HasFailure(); ++i) {
    SimulationPlan plan{
        .seed = first + static_cast<std::uint64_t>(i), .jobs = 30, .length = 15 * kDay, .between_events = Seconds(6h)};
    plan.max_running = 1 + static_cast<std::size_t>(i) % 3;
    expect_no_violation(plan, "FewSlotsForManyJobsBreakNoRule");
  }
}

TEST(Simulation, InAQuietYearEveryPeriodHasItsOutcome) {
  const SimulationPlan plan{.seed = given_seed(7),
                            .jobs = full_host(),
                            .length = std::min(years(), 366 * kDay),
                            .between_events = 10 * kDay,
                            .quiet = true};
  expect_no_violation(plan, "InAQuietYearEveryPeriodHasItsOutcome");
}

TEST(Simulation, ABrokenDaemonIsNoticed) {
  const std::pair<Mutation, const char*> broken[] = {
      {Mutation::gate_opens_at_start, "was executed before its record"},
      {Mutation::last_handled_moves_back, "the last handled period went back"},
      {Mutation::max_running_is_ignored, "runs, of 4 at most"},
      {Mutation::queued_runs_overlap, "a run starts beside another"},
      {Mutation::pauses_are_forgotten, "a pause ends that nobody has ended"},
      {Mutation::spread_is_ignored, "was found late, and is not spread"},
  };
  for (const auto& [mutation, accusation] : broken) {
    SimulationPlan plan{.seed = 1, .jobs = 20, .length = 60 * kDay, .between_events = Seconds(6h)};
    plan.max_running = mutation == Mutation::queued_runs_overlap ? 0 : 4;
    plan.mutation = mutation;
    // What is rare need not happen in the first of all lives.
    std::string violation = simulate(plan).violation;
    while (violation.empty() && plan.seed++ < 8) violation = simulate(plan).violation;
    EXPECT_NE(violation.find(accusation), std::string::npos) << accusation << ", and not " << violation;
  }
}

TEST(Simulation, TheSameSeedIsTheSameLife) {
  const SimulationPlan plan{.seed = 99, .jobs = 5, .length = 10 * kDay};
  const SimulationReport first = simulate(plan);
  const SimulationReport second = simulate(plan);
  EXPECT_EQ(first.executions, second.executions);
  EXPECT_EQ(first.outcomes, second.outcomes);
  EXPECT_EQ(first.events, second.events);
}

// Over `count` seeds, or the one to replay.
FleetReport expect_no_violation(FleetPlan plan, int count, const char* test) {
  const std::uint64_t first = given_seed(plan.seed);
  FleetReport all;
  for (int i = 0; i < given_count(count); ++i) {
    plan.seed = first + static_cast<std::uint64_t>(i);
    const FleetReport report = simulate_fleet(plan);
    EXPECT_EQ(report.violation, "") << "replay: KRON_SIMULATION_SEED=" << plan.seed
                                    << " kron_scheduler_test --gtest_filter=FleetSimulation." << test;
    if (!report.violation.empty()) break;
    all.executions += report.executions;
    all.requests_answered += report.requests_answered;
    for (const auto& [how, times] : report.answers) all.answers[how] += times;
  }
  return all;
}

TEST(FleetSimulation, NoPeriodIsExecutedTwiceAndEachEndsAccountedFor) {
  FleetReport report = expect_no_violation({}, scaled(5), "NoPeriodIsExecutedTwiceAndEachEndsAccountedFor");
  EXPECT_GT(report.executions, 500U);
  using How = Written::How;
  for (const How how : {How::done, How::newer, How::held, How::refused, How::unknown}) {
    EXPECT_GT(report.answers[how], 0U) << static_cast<int>(how);
  }
  EXPECT_GT(report.requests_answered, 10U);
}

TEST(FleetSimulation, NoPeriodIsExecutedTwiceThoughRecordsLoseTheirLastWrites) {
  FleetPlan plan;
  plan.loses_writes = true;
  FleetReport report = expect_no_violation(plan, scaled(5), "NoPeriodIsExecutedTwiceThoughRecordsLoseTheirLastWrites");
  EXPECT_GT(report.answers[Written::How::ran], 0U);
}

TEST(FleetSimulation, AManyHostedQuietFleetRunsEachPeriodOnce) {
  FleetPlan plan{.seed = 5, .hosts = 8, .jobs = 20, .length = Seconds(20min), .fault_in = 0};
  expect_no_violation(plan, scaled(1), "AManyHostedQuietFleetRunsEachPeriodOnce");
}

TEST(FleetSimulation, AServerThatTakesEveryStepIsNoticed) {
  FleetPlan plan;
  plan.takes_all = true;
  EXPECT_NE(simulate_fleet(plan).violation, "");
}

}  // namespace
}  // namespace kron::testing
