// concurrency=queue: what is due while a run is active waits for its end.
#include <gtest/gtest.h>
#include <map>

#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"

namespace kron {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::Behaviour;
using testing::Host;
using testing::job;
using testing::kMidnight;
using testing::utc;

jobs::JobDefinition queued(const std::string& deadline, const std::string& schedule = "*/10 * * * *") {
  return job({.schedule = schedule, .deadline = deadline, .concurrency = Concurrency::queue});
}

// A job whose runs take as long as `lengths` says, one after the other, and the last for ever.
struct QueueHost : Host {
  QueueHost(jobs::JobDefinition definition, std::vector<Seconds> lengths)
      : Host(kMidnight), lengths_(std::move(lengths)) {
    runner.behave(
        [this](const RunSpec&) { return Behaviour{.runs_for = lengths_[std::min(runs_++, lengths_.size() - 1)]}; });
    outside.observer = [this](const Event& event) { note(event); };
    set_jobs({std::move(definition)});
    EXPECT_TRUE(start_daemon());
  }

  // What became of each period: when it started, or its outcome and reason.
  std::map<std::string, std::string> fates = {};
  std::vector<ManualRunDropped> dropped = {};
  std::vector<Instant> manual_starts = {};

 private:
  static std::string minute(Instant t) { return rfc3339(t).substr(11, 8); }
  void note(const Event& event) {
    if (const auto* start = std::get_if<RunStarted>(&event)) {
      if (start->period) fates[minute(start->period->nominal)] += "started " + minute(start->run.started_at);
      if (!start->period) manual_starts.push_back(start->run.started_at);
    } else if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      fates[minute(ended->period.nominal)] +=
          std::string(name_of(ended->outcome)) + " " + std::string(name_of(ended->reason));
    } else if (const auto* gone = std::get_if<ManualRunDropped>(&event)) {
      dropped.push_back(*gone);
    }
  }
  std::vector<Seconds> lengths_;
  std::size_t runs_ = 0;
};

using Fates = std::map<std::string, std::string>;

TEST(QueuePolicy, APeriodThatIsDueDuringARunStartsAtItsEnd) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(13));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}}));
  ASSERT_EQ(host.log.lines_of("period_waits").size(), 1U);
  EXPECT_EQ(host.log.lines_of("period_waits")[0].field("until"), "2026-03-01T01:10:00Z");
  EXPECT_EQ(host.ledger->read("job")->periods.last_handled, kMidnight) << "nothing is on record while it waits";
  EXPECT_EQ(host.scheduler->view("job")->queued->nominal, kMidnight + minutes(10));
  EXPECT_EQ(host.scheduler->view("job")->held_up->nominal, kMidnight + minutes(10));
  host.run_until(kMidnight + minutes(21));
  EXPECT_EQ(
      host.fates,
      (Fates{{"00:00:00", "started 00:00:00"}, {"00:10:00", "started 00:14:00"}, {"00:20:00", "started 00:20:00"}}));
}

TEST(QueuePolicy, ALaterPeriodTakesThePlaceOfTheOneThatWaits) {
  QueueHost host(queued("2h"), {minutes(34), minutes(1)});
  host.run_until(kMidnight + minutes(39));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"},
                               {"00:10:00", "skipped superseded while waiting"},
                               {"00:20:00", "skipped superseded while waiting"},
                               {"00:30:00", "started 00:34:00"}}));
}

TEST(QueuePolicy, ThePeriodThatWaitsIsMissedWhenItsDeadlineIsOver) {
  QueueHost host(queued("5m"), {hours(2)});
  host.run_until(kMidnight + minutes(15));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}}));
  host.run_until(kMidnight + minutes(15) + Seconds(2));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}, {"00:10:00", "missed deadline"}}))
      << "by a timer: nothing else happens then";
}

TEST(QueuePolicy, TheLastSecondOfTheDeadlineIsEnough) {
  QueueHost host(queued("5m"), {minutes(15), minutes(1)});
  host.run_until(kMidnight + minutes(16));
  EXPECT_EQ(host.fates["00:10:00"], "started 00:15:00");
}

TEST(QueuePolicy, ARestartJudgesAnewAndThePeriodGoesOnWaiting) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(11));
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(kMidnight + minutes(12));
  EXPECT_EQ(host.log.lines_of("period_waits").size(), 2U);
  host.kill_daemon();
  host.pass(minutes(4));
  ASSERT_TRUE(host.start_daemon());
  host.run_until(kMidnight + minutes(17));
  EXPECT_EQ(host.fates["00:10:00"], "started 00:16:00") << "its run ended while krond was down";
}

TEST(QueuePolicy, NothingThatWaitsStartsWhilePaused) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(11));
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  host.run_until(kMidnight + minutes(18));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}}));
  ASSERT_TRUE(host.scheduler->resume("job"));
  host.run_until(kMidnight + minutes(19));
  EXPECT_EQ(host.fates["00:10:00"], "started 00:18:00") << "the late rule";
}

TEST(QueuePolicy, AFailureThatPausesKeepsWhatWaitsFromStarting) {
  jobs::JobDefinition definition = queued("1h");
  definition.job.policy.pause_after = 1;
  QueueHost host(definition, {minutes(14)});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(14), .exit_code = 1}; });
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(kMidnight + hours(1));
  EXPECT_EQ(host.log.lines_of("run_started").size(), 1U);
  EXPECT_TRUE(host.ledger->read("job")->periods.suspended);
}

TEST(QueuePolicy, AResumedJobWhoseRunIsActiveWaitsForItsEnd) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(5));
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  host.run_until(kMidnight + minutes(12));
  ASSERT_TRUE(host.scheduler->resume("job"));
  host.run_until(kMidnight + minutes(15));
  EXPECT_EQ(host.fates["00:10:00"], "started 00:14:00");
}

TEST(QueuePolicy, AnEditJudgesWhatWaitsByTheNewPolicy) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(11));
  ASSERT_TRUE(host.reload({job({.schedule = "*/10 * * * *", .deadline = "1h"})}));
  host.run_until(kMidnight + minutes(12));
  EXPECT_EQ(host.fates["00:10:00"], "skipped concurrency_forbid");

  QueueHost other(queued("1h"), {minutes(14), minutes(1)});
  other.run_until(kMidnight + minutes(11));
  ASSERT_TRUE(other.reload({queued("30m")}));
  other.run_until(kMidnight + minutes(15));
  EXPECT_EQ(other.fates["00:10:00"], "started 00:14:00");
}

TEST(QueuePolicy, AJobThatIsRemovedLeavesNothingWaiting) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(11));
  ASSERT_TRUE(host.reload({}));
  host.run_until(kMidnight + minutes(20));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}}));
}

TEST(QueuePolicy, ADiskThatIsFullDelaysTheEndAndWhatWaitsForIt) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(13));
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(kMidnight + minutes(15));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}}));
  host.file_system->fail_when(nullptr);
  host.run_until(kMidnight + minutes(16));
  EXPECT_EQ(host.fates["00:10:00"].substr(0, 13), "started 00:15");
}

TEST(QueuePolicy, WhatWaitsIsLeftToTheNextDaemonWhenThisOneStops) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(11));
  host.scheduler->stop_starting();
  host.run_until(kMidnight + minutes(15));
  EXPECT_EQ(host.fates, (Fates{{"00:00:00", "started 00:00:00"}}));
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(kMidnight + minutes(16));
  EXPECT_EQ(host.fates["00:10:00"], "started 00:15:00");
}

TEST(QueuePolicy, AClockThatGoesBackStartsThePeriodAtItsTime) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(11));
  host.clock.jump(-minutes(6));  // 00:05
  host.run_for(minutes(4));      // the run has ended
  EXPECT_EQ(host.fates.size(), 1U);
  host.run_for(minutes(3));
  EXPECT_EQ(host.fates["00:10:00"], "started 00:10:00");
}

TEST(QueuePolicy, AfterASleepTheLatestThatIsLateWaitsInItsPlace) {
  QueueHost host(queued("1h", "*/20 * * * *"), {hours(3), minutes(1)});
  host.run_until(kMidnight + minutes(25));
  EXPECT_EQ(host.scheduler->view("job")->queued->nominal, kMidnight + minutes(20));
  host.clock.sleep(minutes(50));  // 01:15
  host.run_for(minutes(1));
  EXPECT_EQ(host.scheduler->view("job")->queued->nominal, kMidnight + minutes(60));
  host.run_until(kMidnight + minutes(85));
  EXPECT_EQ(host.scheduler->view("job")->queued->nominal, kMidnight + minutes(80));
  EXPECT_EQ(host.fates["01:00:00"], "skipped superseded while waiting");
  EXPECT_EQ(host.fates.count("00:20:00"), 0U) << "passed over, as all that is late but the latest";
  EXPECT_EQ(host.log.lines_of("passed_over").size(), 1U);
}

TEST(QueuePolicy, ARunByHandWaitsToo) {
  QueueHost host(queued("1h"), {minutes(4), minutes(1)});
  host.run_until(kMidnight + minutes(1));
  const auto promised = host.scheduler->trigger("job", "key");
  EXPECT_EQ(promised->how, Triggered::How::waiting);
  EXPECT_EQ(host.scheduler->trigger("job", "key")->how, Triggered::How::already_known);
  EXPECT_EQ(host.scheduler->trigger("job").error().code, Code::conflict) << "at most one waits";
  host.run_until(kMidnight + minutes(6));
  EXPECT_EQ(host.manual_starts, std::vector{kMidnight + minutes(4)});
  EXPECT_TRUE(host.dropped.empty());
}

TEST(QueuePolicy, ARunByHandWaitsNoLongerThanTheDeadline) {
  QueueHost host(queued("3m"), {minutes(9)});
  host.run_until(kMidnight + minutes(1));
  const auto promised = host.scheduler->trigger("job");
  host.run_until(kMidnight + minutes(5));
  ASSERT_EQ(host.dropped.size(), 1U);
  EXPECT_EQ(host.dropped[0].run_id, promised->run_id);
  EXPECT_EQ(host.dropped[0].reason, Reason::deadline);
  EXPECT_EQ(host.dropped[0].at, kMidnight + minutes(4));
}

TEST(QueuePolicy, APeriodThatIsDueTakesThePlaceOfARunByHand) {
  QueueHost host(queued("1h"), {minutes(14), minutes(1)});
  host.run_until(kMidnight + minutes(1));
  ASSERT_EQ(host.scheduler->trigger("job")->how, Triggered::How::waiting);
  host.run_until(kMidnight + minutes(16));
  ASSERT_EQ(host.dropped.size(), 1U);
  EXPECT_EQ(host.dropped[0].reason, Reason::superseded_while_waiting);
  EXPECT_EQ(host.fates["00:10:00"], "started 00:14:00");
  EXPECT_TRUE(host.manual_starts.empty());
}

}  // namespace
}  // namespace kron
