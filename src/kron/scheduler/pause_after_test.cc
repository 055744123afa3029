// policy.pauseAfter: a job that fails again and again is paused, in the same write as the end of its last run.
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"
#include "kron/scheduler/run_cause.h"

namespace kron {
namespace {

using jobs::JobDefinition;
using testing::Behaviour;
using testing::Host;
using testing::job;
using testing::kMidnight;
using testing::utc;

JobDefinition pausing_after(std::uint32_t failures, Concurrency concurrency = Concurrency::forbid) {
  JobDefinition definition = job({.schedule = "*/10 * * * *", .deadline = "5m", .concurrency = concurrency});
  definition.job.policy.pause_after = failures;
  return definition;
}

// A job whose runs take half a minute and end as `exits` says, one after the other, and the last for ever.
struct FailingHost : Host {
  explicit FailingHost(JobDefinition definition, std::vector<int> exits) : Host(kMidnight), exits_(std::move(exits)) {
    runner.behave([this](const RunSpec&) {
      const int exit = exits_[std::min(runs_++, exits_.size() - 1)];
      return Behaviour{.runs_for = Seconds(30), .exit_code = exit, .vanishes = exit < 0};
    });
    set_jobs({std::move(definition)});
    EXPECT_TRUE(start_daemon());
  }
  [[nodiscard]] std::size_t runs() const { return log.lines_of("run_started").size(); }
  [[nodiscard]] StateRecord record() { return ledger->read("job").value(); }

 private:
  std::vector<int> exits_;
  std::size_t runs_ = 0;
};

TEST(PauseAfter, TheEndOfTheLastFailureSaysThatTheJobIsPaused) {
  FailingHost host(pausing_after(3), {7});
  host.run_until(utc("2026-03-01T00:20:29Z"));
  EXPECT_FALSE(host.record().periods.suspended);
  EXPECT_EQ(host.record().periods.failures_in_a_row, 2U);

  // From here on the disk counts its changes: the end and the pause are one.
  host.run_until(utc("2026-03-01T02:00:00Z"));
  EXPECT_EQ(host.runs(), 3U);
  const StateRecord record = host.record();
  ASSERT_TRUE(record.periods.suspended);
  EXPECT_EQ(record.periods.suspended->since, utc("2026-03-01T00:20:30Z"));
  EXPECT_EQ(record.periods.suspended->by, "kron");
  EXPECT_EQ(record.periods.suspended->note, "3 runs in a row failed, the last with exit 7");
  EXPECT_EQ(record.periods.failures_in_a_row, 0U);
  EXPECT_EQ(record.periods.last_handled, utc("2026-03-01T00:20:00Z")) << "nothing is handled while it is paused";
  EXPECT_TRUE(record.active.empty());
  ASSERT_EQ(host.log.lines_of("job_paused").size(), 1U);
  EXPECT_EQ(host.log.lines_of("job_paused")[0].field("by"), "kron");
}

TEST(PauseAfter, NoRecordTellsOfTheLastFailureWithoutThePause) {
  FailingHost host(pausing_after(2), {1});
  std::size_t told = 0;
  host.outside.observer = [&](const Event& event) {
    if (!std::holds_alternative<RunEnded>(event)) return;
    ++told;
    EXPECT_EQ(host.record().periods.suspended.has_value(), told == 2);
  };
  host.run_until(utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(told, 2U);
}

TEST(PauseAfter, ASuccessBeginsTheCountAnewAndWhatNobodySawDoesNotCount) {
  FailingHost host(pausing_after(3), {1, 1, 0, 1, -1, 1, 0});
  host.run_until(utc("2026-03-01T03:00:00Z"));
  EXPECT_FALSE(host.record().periods.suspended);
  EXPECT_EQ(host.runs(), 18U);

  FailingHost unlucky(pausing_after(3), {1, 1, 0, 1, -1, 1, 1});
  unlucky.run_until(utc("2026-03-01T03:00:00Z"));
  EXPECT_TRUE(unlucky.record().periods.suspended);
  EXPECT_EQ(unlucky.runs(), 7U);
}

TEST(PauseAfter, RunsByHandDoNotCount) {
  FailingHost host(pausing_after(2), {1});
  host.run_until(utc("2026-03-01T00:05:00Z"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(host.scheduler->trigger("job"));
    host.run_for(Seconds(60));
  }
  EXPECT_FALSE(host.record().periods.suspended);
  EXPECT_EQ(host.record().periods.failures_in_a_row, 1U);
  host.run_until(utc("2026-03-01T00:11:00Z"));
  EXPECT_TRUE(host.record().periods.suspended);
}

TEST(PauseAfter, ARestartDoesNotLoseTheCountEvenWithoutAHistory) {
  JobDefinition definition = pausing_after(3);
  auto options = std::make_shared<jobs::RunOptions>(*definition.options);
  options->history = 0;
  definition.options = options;
  FailingHost host(definition, {1});
  for (const char* time : {"2026-03-01T00:05:00Z", "2026-03-01T00:15:00Z", "2026-03-01T00:20:10Z"}) {
    host.run_until(utc(time));
    ASSERT_TRUE(host.restart_daemon());
  }
  // The third was still running, and its end is seen by another krond.
  host.run_until(utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(host.runs(), 3U);
  EXPECT_TRUE(host.record().periods.suspended);
  EXPECT_TRUE(host.record().history.empty());
}

TEST(PauseAfter, AFailureThatIsFoundAtTheStartPausesBeforeAnythingIsStarted) {
  FailingHost host(pausing_after(1), {1});
  host.run_until(utc("2026-03-01T00:00:10Z"));
  host.kill_daemon();
  host.pass(std::chrono::minutes(10) - Seconds(10));  // it has failed, and the next period is due
  ASSERT_TRUE(host.start_daemon());
  host.run_for(std::chrono::minutes(30));
  EXPECT_EQ(host.runs(), 1U);
  EXPECT_TRUE(host.record().periods.suspended);
}

TEST(PauseAfter, OnceResumedItTakesAsManyFailuresAgain) {
  FailingHost host(pausing_after(2), {1});
  host.run_until(utc("2026-03-01T00:30:00Z"));
  ASSERT_TRUE(host.scheduler->resume("job"));
  host.run_until(utc("2026-03-01T00:31:00Z"));
  EXPECT_EQ(host.runs(), 3U);
  EXPECT_FALSE(host.record().periods.suspended);
  host.run_until(utc("2026-03-01T02:00:00Z"));
  EXPECT_EQ(host.runs(), 4U);
  EXPECT_TRUE(host.record().periods.suspended);
}

TEST(PauseAfter, ARunThatReplaceEndsHasNotFailed) {
  FailingHost host(pausing_after(1, Concurrency::replace), {0});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2)}; });
  host.run_until(utc("2026-03-01T01:05:00Z"));
  EXPECT_EQ(host.runs(), 7U);
  EXPECT_FALSE(host.record().periods.suspended);
}

TEST(PauseAfter, AnEndThatCannotBeRecordedIsNoFailureYet) {
  FailingHost host(pausing_after(1), {1});
  host.run_until(utc("2026-03-01T00:00:20Z"));
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(utc("2026-03-01T00:00:40Z"));
  EXPECT_FALSE(host.record().periods.suspended);
  EXPECT_FALSE(host.scheduler->view("job")->known.periods.suspended);
  host.file_system->fail_when(nullptr);
  host.run_until(utc("2026-03-01T01:00:00Z"));
  EXPECT_TRUE(host.record().periods.suspended);
  EXPECT_EQ(host.runs(), 1U);
}

TEST(PauseAfter, ARunWhoseRecordIsGoneCountsWhenItIsToldOfAgain) {
  Host host(kMidnight);
  host.set_jobs({pausing_after(1)});
  host.runner.plant_earlier_run({run_id_of("job", kMidnight), 9, {}});
  ASSERT_TRUE(host.start_daemon());
  host.run_for(std::chrono::minutes(30));
  EXPECT_TRUE(host.log.lines_of("run_started").empty());
  EXPECT_TRUE(host.ledger->read("job")->periods.suspended);
}

TEST(PauseAfter, CostsNothingWhereItIsNotUsed) {
  FailingHost host(pausing_after(0), {1});
  host.run_until(utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(state::print(host.record()).find("FailuresInARow"), std::string::npos);
}

}  // namespace
}  // namespace kron
