#include "kron/scheduler/scheduler.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "kron/core/sample_jobs.h"
#include "kron/json/decide_request.h"
#include "kron/scheduler/fake/host.h"
#include "kron/state/names.h"

namespace kron {
namespace {

using jobs::JobDefinition;
using testing::Behaviour;
using testing::Host;
using testing::job;
using testing::JobSpec;
using testing::utc;

// Starts by period: what ran when.
std::map<std::string, int> starts(const Host& host) {
  std::map<std::string, int> counts;
  for (const auto& line : host.log.lines_of("run_started")) ++counts[line.field("periodId")];
  return counts;
}

std::map<std::string, std::string> outcomes(const Host& host) {
  std::map<std::string, std::string> found;
  for (const auto& line : host.log.lines_of("period_ended")) {
    found[line.field("periodId")] = line.field("outcome") + " " + line.field("reason");
  }
  return found;
}

StateRecord record_of(Host& host, const std::string& identity = "job") { return host.ledger->read(identity).value(); }

struct OneJobHost : Host {
  explicit OneJobHost(JobDefinition definition, const std::string& start = "2026-03-01T00:00:00Z") : Host(utc(start)) {
    set_jobs({std::move(definition)});
    EXPECT_TRUE(start_daemon());
  }
};

TEST(Scheduler, RunsEachPeriodOnceAndRecordsItsEnd) {
  OneJobHost host(job({.schedule = "*/10 * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::seconds(30), .exit_code = 3}; });
  host.run_until(utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(starts(host).size(), 6U);
  const StateRecord record = record_of(host);
  EXPECT_EQ(record.periods.last_handled, utc("2026-03-01T00:50:00Z"));
  EXPECT_EQ(record.last_outcome, Outcome::executed);
  EXPECT_TRUE(record.active.empty());
  ASSERT_EQ(record.history.size(), 6U);
  EXPECT_EQ(record.history.back().exit_code, 3);
  EXPECT_EQ(record.history.back().completed_at, utc("2026-03-01T00:50:30Z"));
}

TEST(Scheduler, TheGateOpensOnlyAfterTheRecordIsDurable) {
  OneJobHost host(job({.schedule = "0 * * * *"}));
  // From the first start record on, the disk is full.
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(utc("2026-03-01T00:00:03Z"));
  EXPECT_TRUE(host.runner.executed().empty());
  EXPECT_EQ(host.runner.alive(), 0U);
  EXPECT_FALSE(host.log.lines_of("record_failed").empty());
  EXPECT_TRUE(host.log.lines_of("run_started").empty());
}

TEST(Scheduler, AFailedSyncIsFinal) {
  OneJobHost host(job({.schedule = "* * * * *"}));
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::sync_file ? testing::Fault::io_error : testing::Fault::none;
  });
  host.run_until(utc("2026-03-01T00:05:00Z"));
  ASSERT_TRUE(host.scheduler->broken());
  EXPECT_TRUE(host.runner.executed().empty());
}

TEST(Scheduler, ForbidSkipsWhileARunIsActiveAndStaysSkippedAfterARestart) {
  OneJobHost host(job({.schedule = "*/10 * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(15)}; });
  host.run_until(utc("2026-03-01T00:12:00Z"));
  EXPECT_EQ(outcomes(host)["2026-03-01T00:10:00Z"], "skipped concurrency_forbid");
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(utc("2026-03-01T00:19:00Z"));
  EXPECT_EQ(starts(host).size(), 1U);
  EXPECT_EQ(record_of(host).last_outcome, Outcome::skipped);
}

TEST(Scheduler, AllowRunsSideBySide) {
  OneJobHost host(job({.schedule = "*/10 * * * *", .concurrency = Concurrency::allow}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(25)}; });
  host.run_until(utc("2026-03-01T00:21:00Z"));
  EXPECT_EQ(record_of(host).active.size(), 3U);
  host.run_until(utc("2026-03-01T00:26:00Z"));
  EXPECT_EQ(record_of(host).active.size(), 2U);
}

TEST(Scheduler, ReplaceEndsTheActiveRunFirst) {
  OneJobHost host(job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2)}; });
  host.run_until(utc("2026-03-01T00:11:00Z"));
  EXPECT_EQ(starts(host).size(), 2U);
  const StateRecord record = record_of(host);
  EXPECT_EQ(record.active.size(), 1U);
  ASSERT_EQ(record.history.size(), 1U);
  EXPECT_EQ(record.history[0].exit_code, 128 + 15);
}

TEST(Scheduler, ReplaceGivesUpWhenTheRunCannotBeStopped) {
  OneJobHost host(job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .unkillable = true}; });
  host.run_until(utc("2026-03-01T00:10:05Z"));
  ASSERT_TRUE(host.scheduler->view("job")->held_up);
  EXPECT_EQ(host.scheduler->view("job")->held_up->nominal, utc("2026-03-01T00:10:00Z"));
  host.run_until(utc("2026-03-01T00:19:00Z"));
  EXPECT_EQ(starts(host).size(), 1U);
  EXPECT_EQ(outcomes(host)["2026-03-01T00:10:00Z"], "skipped could not stop");
  EXPECT_FALSE(host.scheduler->view("job")->held_up);
}

TEST(Scheduler, APeriodDueWhileAnotherWaitsToReplaceTakesItsPlace) {
  OneJobHost host(job({.schedule = "*/5 * * * * *", .concurrency = Concurrency::replace}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .ignores_term = true}; });
  host.run_until(utc("2026-03-01T00:00:14Z"));
  EXPECT_EQ(outcomes(host)["2026-03-01T00:00:05Z"], "skipped replaced before start");
}

TEST(Scheduler, AnEditWhileARunWaitsToReplaceAnotherDoesNotJudgeItAgain) {
  OneJobHost host(job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .ignores_term = true}; });
  host.run_until(utc("2026-03-01T00:10:04Z"));
  JobDefinition edited = job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace});
  edited.action = jobs::Command{"other"};
  ASSERT_TRUE(host.reload({edited}));
  host.run_until(utc("2026-03-01T00:11:00Z"));
  EXPECT_EQ(starts(host).count("2026-03-01T00:10:00Z"), 1U);
  EXPECT_TRUE(outcomes(host).empty()) << outcomes(host).begin()->second;
}

TEST(Scheduler, AnEditThatNoLongerHasThePeriodThatWaitsDropsIt) {
  OneJobHost host(job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .ignores_term = true}; });
  host.run_until(utc("2026-03-01T00:10:04Z"));
  ASSERT_TRUE(host.reload({job({.schedule = "*/15 * * * *", .concurrency = Concurrency::replace})}));
  host.run_until(utc("2026-03-01T00:14:00Z"));
  EXPECT_EQ(starts(host).size(), 1U);
  ASSERT_EQ(host.log.lines_of("open_period_dropped").size(), 1U);
  EXPECT_EQ(host.log.lines_of("open_period_dropped")[0].field("periodId"), "2026-03-01T00:10:00Z");
}

TEST(Scheduler, AGraceOfCenturiesIsLong) {
  JobDefinition patient = job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace});
  auto options = std::make_shared<jobs::RunOptions>(*patient.options);
  options->grace = std::chrono::duration_cast<Seconds>(Nanoseconds::max());
  patient.options = options;
  OneJobHost host(patient);
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .unkillable = true}; });
  host.run_until(utc("2026-03-01T00:19:00Z"));
  EXPECT_TRUE(outcomes(host).empty()) << "it waits, and does not give up at once";
}

TEST(Scheduler, ADayOfDowntimeOfAMinutelyJobRunsAtMostOnePeriod) {
  OneJobHost host(job({.schedule = "* * * * *", .deadline = "10m"}));
  host.run_until(utc("2026-03-01T00:05:30Z"));
  host.kill_daemon();
  host.pass(std::chrono::hours(24));
  const auto before = starts(host).size();
  ASSERT_TRUE(host.start_daemon());
  host.run_for(std::chrono::seconds(10));
  EXPECT_EQ(starts(host).size(), before + 1);
  ASSERT_EQ(host.log.lines_of("passed_over").size(), 1U);
  EXPECT_EQ(host.log.lines_of("passed_over")[0].field("count"), "1439");
}

TEST(Scheduler, ResumeAfterSuspendRunsAtMostOne) {
  OneJobHost host(job({.schedule = "* * * * *", .deadline = "5m"}));
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  host.run_for(std::chrono::hours(2));
  EXPECT_TRUE(starts(host).empty());
  ASSERT_TRUE(host.restart_daemon());
  host.run_for(std::chrono::seconds(30));
  EXPECT_TRUE(starts(host).empty()) << "a suspension survives a restart";
  ASSERT_TRUE(host.scheduler->resume("job"));
  host.run_for(std::chrono::seconds(1));
  EXPECT_EQ(starts(host).size(), 1U);
}

TEST(Scheduler, RunsSurviveARestartAndTheirRealExitCodeIsRecorded) {
  OneJobHost host(job({.schedule = "0 * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(5), .exit_code = 7}; });
  host.run_until(utc("2026-03-01T00:01:00Z"));
  ASSERT_TRUE(host.restart_daemon());
  EXPECT_EQ(host.scheduler->active_runs(), 1U);
  host.run_until(utc("2026-03-01T00:06:00Z"));
  EXPECT_EQ(record_of(host).history.at(0).exit_code, 7);
  EXPECT_EQ(starts(host).size(), 1U);
}

TEST(Scheduler, AnExitWhileTheDaemonWasDownIsLearntFromTheHelper) {
  OneJobHost host(job({.schedule = "0 * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(5), .exit_code = 9}; });
  host.run_until(utc("2026-03-01T00:01:00Z"));
  host.kill_daemon();
  host.pass(std::chrono::minutes(20));
  ASSERT_TRUE(host.start_daemon());
  EXPECT_EQ(record_of(host).history.at(0).exit_code, 9);
}

TEST(Scheduler, PidReuseDoesNotBlockForbid) {
  OneJobHost host(job({.schedule = "0 * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(9)}; });
  host.run_until(utc("2026-03-01T00:30:00Z"));
  const pid_t pid = static_cast<pid_t>(record_of(host).active.at(0).pid);
  host.kill_daemon();
  host.runner.machine_dies();
  host.clock.reboot(std::chrono::minutes(5));
  host.runner.reuse_pid(pid);
  ASSERT_TRUE(host.runner.start({.run_id = "other", .command = {"x"}}));
  ASSERT_TRUE(host.start_daemon());
  EXPECT_EQ(record_of(host).active.size(), 0U);
  EXPECT_EQ(record_of(host).history.at(0).exit_code, std::nullopt);
  host.run_until(utc("2026-03-01T01:00:01Z"));
  EXPECT_EQ(starts(host).size(), 2U);
}

TEST(Scheduler, NewYorkFallBackRunsAWallClockJobOnceAndAnIntervalJobInBothPasses) {
  OneJobHost daily(job({.schedule = "30 1 * * *", .zone = "America/New_York"}), "2026-10-31T12:00:00Z");
  daily.run_until(utc("2026-11-01T12:00:00Z"));
  EXPECT_EQ(starts(daily).size(), 1U);
  OneJobHost interval(job({.schedule = "*/20 * * * *", .zone = "America/New_York"}), "2026-11-01T04:59:59Z");
  interval.run_until(utc("2026-11-01T07:00:00Z") - Seconds(1));
  EXPECT_EQ(starts(interval).size(), 6U);
}

TEST(Scheduler, HourlyWithASixHourWindowRunsEveryPeriodAtItsOwnTime) {
  OneJobHost host(job({.schedule = "0 * * * *", .window = "6h"}));
  host.run_until(utc("2026-03-04T00:00:00Z"));
  const auto lines = host.log.lines_of("run_started");
  EXPECT_GT(lines.size(), 60U);
  for (const auto& [period, count] : starts(host)) EXPECT_EQ(count, 1) << period;
  EXPECT_TRUE(host.log.lines_of("passed_over").empty());
}

TEST(Scheduler, RebootJobsRunOncePerBootAndNotWhenFirstSeenByReload) {
  OneJobHost host(job({.schedule = "@reboot"}, "boot"));
  host.run_for(std::chrono::minutes(1));
  EXPECT_EQ(host.runner.executed().size(), 1U);
  ASSERT_TRUE(host.restart_daemon());
  host.run_for(std::chrono::minutes(1));
  EXPECT_EQ(host.runner.executed().size(), 1U) << "a restart of the daemon is no boot";
  ASSERT_TRUE(host.reload({job({.schedule = "@reboot"}, "boot"), job({.schedule = "@reboot"}, "late")}));
  ASSERT_TRUE(host.restart_daemon());
  EXPECT_EQ(host.runner.executed().size(), 1U) << "first seen by a reload: waits for the next boot";
  host.kill_daemon();
  host.runner.machine_dies();
  host.clock.reboot(std::chrono::minutes(1));
  ASSERT_TRUE(host.start_daemon());
  EXPECT_EQ(host.runner.executed().size(), 3U);
}

void remove_record(Host& host, const std::string& identity) {
  const auto directory = host.file_system->open_directory(testing::Daemon::kStateDirectory).value();
  ASSERT_TRUE(directory->remove(state_file_name(sha256({identity}))));
}

TEST(Scheduler, ARecordThatIsGoneMakesNoHandledPeriodRunAgain) {
  OneJobHost host(job({.schedule = "0 8 * * *", .deadline = "1h"}), "2026-03-01T07:00:00Z");
  host.run_until(utc("2026-03-01T08:01:00Z"));
  ASSERT_EQ(host.runner.executed().size(), 1U);
  host.kill_daemon();
  remove_record(host, "job");
  ASSERT_TRUE(host.start_daemon());
  host.run_until(utc("2026-03-01T09:30:00Z"));
  EXPECT_EQ(host.runner.executed().size(), 1U);
  host.run_until(utc("2026-03-02T09:00:00Z"));
  EXPECT_EQ(host.runner.executed().size(), 2U) << "the next day's period is another one";
}

TEST(Scheduler, APeriodThatWasLetGoBeforeIsRecordedAndNotRunAgain) {
  OneJobHost host(job({.schedule = "0 * * * *"}), "2026-03-01T00:30:00Z");
  const std::string run_id = run_id_of("job", utc("2026-03-01T01:00:00Z"));
  host.runner.plant_earlier_run({.run_id = run_id, .code = 7, .reason = {}, .ended = utc("2026-03-01T01:00:09Z")});
  host.run_until(utc("2026-03-01T01:30:00Z"));
  EXPECT_TRUE(host.runner.executed().empty());
  const StateRecord record = record_of(host);
  EXPECT_EQ(record.periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(record.last_outcome, Outcome::executed);
  ASSERT_EQ(record.history.size(), 1U);
  EXPECT_EQ(record.history[0].exit_code, 7);
  EXPECT_EQ(record.history[0].run_id, run_id);
  EXPECT_EQ(record.history[0].completed_at, utc("2026-03-01T01:00:09Z"));
  EXPECT_EQ(host.log.lines_of("already_run").size(), 1U);
  host.run_until(utc("2026-03-01T02:30:00Z"));
  EXPECT_EQ(host.runner.executed().size(), 1U);
}

TEST(Scheduler, ARebootJobWhoseRecordIsGoneDoesNotRunTwiceInOneBoot) {
  OneJobHost host(job({.schedule = "@reboot"}, "boot"));
  host.run_for(std::chrono::minutes(1));
  ASSERT_EQ(host.runner.executed().size(), 1U);
  host.runner.plant_earlier_run({.run_id = host.runner.executed()[0], .code = 0, .reason = {}});
  host.kill_daemon();
  remove_record(host, "boot");
  ASSERT_TRUE(host.start_daemon());
  host.run_for(std::chrono::minutes(1));
  EXPECT_EQ(host.runner.executed().size(), 1U);
  EXPECT_EQ(record_of(host, "boot").last_boot_id, host.clock.boot_id());
}

TEST(Scheduler, AJobWhoseRecordIsTooLargeIsNotScheduledUntilItIsReset) {
  Host host(utc("2026-03-01T00:00:30Z"));
  const std::string path = std::string(testing::Daemon::kStateDirectory);
  host.set_jobs({job({.schedule = "* * * * *"}, "large"), job({.schedule = "* * * * *"}, "small")});
  ASSERT_TRUE(host.start_daemon());
  host.kill_daemon();
  host.file_system->plant_file(path + "/" + state_file_name(sha256({"large"})), std::string(kMostRecordBytes + 1, ' '));
  ASSERT_TRUE(host.start_daemon());
  host.run_until(utc("2026-03-01T00:05:30Z"));
  EXPECT_EQ(host.runner.executed().size(), 5U) << "those of the other job";
  EXPECT_EQ(host.scheduler->job_count(), 1U);
  ASSERT_TRUE(host.scheduler->unscheduled().contains("large"));
  EXPECT_EQ(host.log.lines_of("job_not_scheduled").size(), 1U);
  EXPECT_EQ(host.scheduler->trigger("large").error().code, Code::conflict);
  ASSERT_TRUE(host.reload({job({.schedule = "* * * * *"}, "large"), job({.schedule = "* * * * *"}, "small")}));
  EXPECT_TRUE(host.scheduler->unscheduled().contains("large"));

  ASSERT_TRUE(host.scheduler->reset("large"));
  EXPECT_TRUE(host.scheduler->unscheduled().empty());
  EXPECT_EQ(record_of(host, "large").periods.first_seen, utc("2026-03-01T00:05:31Z"));
  host.run_until(utc("2026-03-01T00:06:30Z"));
  EXPECT_EQ(host.runner.executed().size(), 7U);
}

TEST(Scheduler, AResetGivesAJobBackThatAWrongClockHadSilenced) {
  OneJobHost host(job({.schedule = "* * * * *"}), "2036-03-01T00:00:30Z");
  host.run_until(utc("2036-03-01T00:01:30Z"));
  ASSERT_EQ(host.runner.executed().size(), 1U);
  host.kill_daemon();
  host.clock.jump_to(utc("2026-03-01T00:00:30Z"));
  ASSERT_TRUE(host.start_daemon());
  ASSERT_TRUE(host.scheduler->reset("job"));
  EXPECT_EQ(record_of(host).periods.first_seen, utc("2026-03-01T00:00:31Z"));
  host.run_until(utc("2026-03-01T00:02:30Z"));
  EXPECT_EQ(host.runner.executed().size(), 3U);
  EXPECT_EQ(host.scheduler->reset("nobody").error().code, Code::not_found);
}

TEST(Scheduler, AResetWaitsForTheEndOfARun) {
  OneJobHost host(job({.schedule = "* * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(5)}; });
  host.run_until(utc("2026-03-01T00:01:30Z"));
  EXPECT_EQ(host.scheduler->reset("job").error().code, Code::conflict);
  EXPECT_EQ(record_of(host).active.size(), 1U);
}

TEST(Scheduler, ManualRunsAreNotPeriods) {
  OneJobHost host(job({.schedule = "0 * * * *"}), "2026-03-01T00:30:00Z");
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(5)}; });
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  ASSERT_TRUE(host.scheduler->trigger("job")) << "allowed while suspended";
  EXPECT_EQ(host.scheduler->trigger("job").error().code, Code::conflict) << "obeys concurrency";
  EXPECT_EQ(host.scheduler->trigger("nobody").error().code, Code::not_found);
  host.run_for(std::chrono::minutes(6));
  const StateRecord record = record_of(host);
  EXPECT_EQ(record.periods.last_handled, std::nullopt);
  ASSERT_EQ(record.history.size(), 1U);
  EXPECT_EQ(record.history[0].trigger, Trigger::manual);
  EXPECT_EQ(record.history[0].period, std::nullopt);
}

TEST(Scheduler, AReloadTouchesOnlyWhatChangedAndLetsRunsOfRemovedJobsEnd) {
  Host host(utc("2026-03-01T00:00:30Z"));
  host.set_jobs({job({.schedule = "*/5 * * * *"}, "a"), job({.schedule = "*/5 * * * *"}, "b")});
  ASSERT_TRUE(host.start_daemon());
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(3)}; });
  host.run_until(utc("2026-03-01T00:06:00Z"));
  ASSERT_TRUE(host.reload({job({.schedule = "*/7 * * * *"}, "a"), job({.schedule = "*/5 * * * *"}, "c")}));
  EXPECT_EQ(host.scheduler->job_count(), 2U);
  host.run_until(utc("2026-03-01T00:09:00Z"));
  EXPECT_EQ(host.ledger->read("b").value().history.size(), 1U);
  host.run_until(utc("2026-03-01T00:10:01Z"));
  EXPECT_EQ(host.log.lines_of("run_started").back().field("identity"), "c");
}

TEST(Scheduler, TwoJobsOfOneIdentityAreRefused) {
  Host host(utc("2026-03-01T00:00:30Z"));
  host.set_jobs({job({}, "a"), job({.schedule = "0 * * * *"}, "a")});
  EXPECT_EQ(host.start_daemon().error().code, Code::invalid) << "each period would run twice";
  host.set_jobs({job({}, "a")});
  ASSERT_TRUE(host.start_daemon());
  EXPECT_FALSE(host.reload({job({}, "a"), job({}, "a")}));
  EXPECT_EQ(host.scheduler->job_count(), 1U);
}

TEST(Scheduler, ARemovedJobThatComesBackFindsItsRun) {
  Host host(utc("2026-03-01T00:00:30Z"));
  host.set_jobs({job({.schedule = "*/5 * * * *"}, "a"), job({.schedule = "0 0 1 1 *"}, "other")});
  ASSERT_TRUE(host.start_daemon());
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(8), .exit_code = 5}; });
  host.run_until(utc("2026-03-01T00:06:00Z"));
  ASSERT_TRUE(host.reload({job({.schedule = "0 0 1 1 *"}, "other")}));
  EXPECT_EQ(host.scheduler->active_runs(), 1U);
  host.run_until(utc("2026-03-01T00:07:00Z"));
  ASSERT_TRUE(host.reload({job({.schedule = "*/5 * * * *"}, "a")}));
  host.run_until(utc("2026-03-01T00:11:00Z"));
  EXPECT_EQ(outcomes(host)["2026-03-01T00:10:00Z"], "skipped concurrency_forbid") << "its run is still active";
  host.run_until(utc("2026-03-01T00:16:00Z"));
  EXPECT_EQ(starts(host).size(), 2U);
  EXPECT_EQ(record_of(host, "a").history.at(1).exit_code, 5);
}

TEST(Scheduler, AJobThatComesByAReloadTakesUpTheRunsOfAnEarlierDaemon) {
  Host host(utc("2026-03-01T00:00:30Z"));
  host.set_jobs({job({.schedule = "*/5 * * * *"}, "a")});
  ASSERT_TRUE(host.start_daemon());
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::minutes(3), .exit_code = 6}; });
  host.run_until(utc("2026-03-01T00:06:00Z"));
  host.set_jobs({});
  ASSERT_TRUE(host.restart_daemon());
  ASSERT_TRUE(host.reload({job({.schedule = "*/5 * * * *"}, "a")}));
  EXPECT_EQ(host.scheduler->active_runs(), 1U);
  host.run_until(utc("2026-03-01T00:11:00Z"));
  EXPECT_EQ(record_of(host, "a").history.at(0).exit_code, 6);
  EXPECT_EQ(starts(host).count("2026-03-01T00:10:00Z"), 1U);
}

TEST(Scheduler, OfSeveralPeriodsDueTogetherReplaceRunsTheLast) {
  OneJobHost host(job({.schedule = "* * * * * *", .concurrency = Concurrency::replace}), "2026-03-01T00:00:00Z");
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(1)}; });
  host.clock.advance(std::chrono::seconds(3));  // busy starting: all of these are on time
  host.run_for(std::chrono::milliseconds(500));
  EXPECT_EQ(host.runner.alive(), 1U);
  EXPECT_EQ(starts(host).count("2026-03-01T00:00:03Z"), 1U);
  EXPECT_EQ(outcomes(host)["2026-03-01T00:00:02Z"], "skipped replaced before start");
  for (const auto& [period, count] : starts(host)) EXPECT_EQ(count, 1) << period;
}

TEST(Scheduler, SuspendTakesBackARunThatWaitsToReplaceAnother) {
  OneJobHost host(job({.schedule = "*/10 * * * *", .concurrency = Concurrency::replace}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .ignores_term = true}; });
  host.run_until(utc("2026-03-01T00:10:02Z"));
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  host.run_until(utc("2026-03-01T00:30:00Z"));
  EXPECT_EQ(starts(host).size(), 1U);
  EXPECT_EQ(record_of(host).periods.last_handled, utc("2026-03-01T00:00:00Z")) << "nothing is handled";
}

TEST(Scheduler, ARebootJobThatIsSuspendedOrCannotStartDoesNotRun) {
  Host host(utc("2026-03-01T00:00:00Z"));
  host.set_jobs({job({.schedule = "@reboot"}, "boot")});
  host.runner.fail_next_start({Code::io, "no more processes"});
  ASSERT_TRUE(host.start_daemon());
  EXPECT_EQ(record_of(host, "boot").history.at(0).reason, Reason::start_failed);
  ASSERT_TRUE(host.scheduler->suspend("boot", std::nullopt));
  host.kill_daemon();
  host.outside.lose_power(std::chrono::minutes(1));
  ASSERT_TRUE(host.start_daemon());
  EXPECT_TRUE(host.runner.executed().empty());
}

TEST(Scheduler, AnEndThatCannotBeRecordedIsTriedAgain) {
  OneJobHost host(job({.schedule = "0 * * * *"}));
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::seconds(30), .exit_code = 4}; });
  host.run_until(utc("2026-03-01T00:00:10Z"));
  host.scheduler->stop_starting();
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(utc("2026-03-01T00:00:40Z"));
  EXPECT_EQ(record_of(host).active.size(), 1U);
  host.file_system->fail_when(nullptr);
  host.run_until(utc("2026-03-01T00:00:50Z"));
  EXPECT_TRUE(record_of(host).active.empty());
  EXPECT_EQ(record_of(host).history.at(0).exit_code, 4);
  EXPECT_EQ(host.scheduler->trigger("job").error().code, Code::conflict) << "stopping";
}

TEST(Scheduler, APeriodDueWhileTheDaemonWasBusyStartingIsOnTime) {
  Host host(utc("2026-03-01T00:59:58Z"));
  host.set_jobs({job({.schedule = "0 * * * *"})});
  ASSERT_TRUE(host.start_daemon());
  host.clock.advance(std::chrono::seconds(5));  // a million other jobs were being planned
  host.run_for(std::chrono::seconds(1));
  EXPECT_EQ(starts(host).count("2026-03-01T01:00:00Z"), 1U);
}

TEST(Scheduler, TheSameJobStoppedForAMinuteIsDowntime) {
  OneJobHost host(job({.schedule = "* * * * *"}));
  host.run_until(utc("2026-03-01T00:02:30Z"));
  host.pass(std::chrono::seconds(200));  // SIGSTOP, or the machine was suspended
  host.run_for(std::chrono::seconds(1));
  EXPECT_EQ(outcomes(host)["2026-03-01T00:05:00Z"], "missed deadline");
  EXPECT_EQ(host.log.lines_of("passed_over").size(), 1U);
}

TEST(Scheduler, AClockThatReads2036ForAMinuteDoesNotSilenceAJob) {
  OneJobHost host(job({.schedule = "0 * * * *"}));
  host.run_until(utc("2026-03-01T03:30:00Z"));
  host.clock.jump_to(utc("2036-03-01T03:30:00Z"));
  host.run_for(std::chrono::minutes(1));
  host.clock.jump_to(utc("2026-03-01T03:31:00Z"));
  host.run_until(utc("2026-03-01T08:30:00Z"));
  for (const char* period : {"2026-03-01T04:00:00Z", "2026-03-01T05:00:00Z", "2026-03-01T08:00:00Z"}) {
    EXPECT_EQ(starts(host).count(period), 1U) << period;
  }
}

TEST(Scheduler, EveryStartIsLoggedWithARequestThatReproducesItsDecision) {
  OneJobHost host(job({.schedule = "0 0 * * *", .window = "3h", .salt = "backup"}));
  host.run_until(utc("2026-03-01T03:00:01Z"));
  const auto lines = host.log.lines_of("run_started");
  ASSERT_EQ(lines.size(), 1U);
  ZoneDatabase zones;
  const DecideRequest request = parse_decide_request(lines[0].field("decision"), zones).value();
  EXPECT_EQ(rfc3339(*decide(request.job, request.nominal).chosen), lines[0].field("chosenTime"));
}

}  // namespace
}  // namespace kron
