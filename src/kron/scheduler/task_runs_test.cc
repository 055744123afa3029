// Jobs whose runs are tasks, on the real scheduler and the real file ledger.
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/ledger/file_ledger.h"
#include "kron/scheduler/fake/fake_task_submitter.h"
#include "kron/scheduler/log_events.h"
#include "kron/scheduler/scheduler.h"
#include "kron/state/names.h"

namespace kron::task_runs_test {
namespace {

using jobs::JobDefinition;
using testing::utc;

RunWork work_of(const JobDefinition& definition, const RunCause& cause) {
  if (const auto* task = std::get_if<jobs::SubmitTask>(&definition.action)) {
    return TaskToSubmit{"task-of-" + cause.run_id, task->type, "null"};
  }
  return RunSpec{.run_id = cause.run_id, .command = {command_of(definition)}};
}

class TaskRunsTest : public ::testing::Test {
 protected:
  TaskRunsTest() { job_.action = jobs::SubmitTask{"MAIL"}; }

  // A daemon that begins on what the disk holds; the one before is gone, and what it held with it.
  void start_daemon() {
    scheduler_.reset();
    ledger_.reset();
    tasks_.daemon_dies();
    ledger_ = FileLedger::open(files_, "/state", log_).value();
    scheduler_ = std::make_unique<Scheduler>(Scheduler::World{.clock = clock_,
                                                              .ledger = *ledger_,
                                                              .runner = processes_,
                                                              .log = log_,
                                                              .observers = {logging_to(log_)},
                                                              .tasks = &tasks_},
                                             work_of);
    ASSERT_TRUE(scheduler_->start({job_}));
  }
  void tick_at(std::string_view time) {
    clock_.advance(utc(std::string(time)) - clock_.wall());
    static_cast<void>(scheduler_->tick());
  }
  StateRecord record() { return ledger_->read("job").value(); }

  testing::FakeClock clock_{utc("2026-03-01T00:00:30Z")};
  testing::CapturingLog log_;
  testing::PowerCutFileSystem files_;
  testing::FakeProcessRunner processes_;
  testing::FakeTaskSubmitter tasks_;
  JobDefinition job_ = [] {
    JobDefinition definition;
    definition.job = testing::make_job({.schedule = "* * * * *", .identity = "job"});
    return definition;
  }();
  std::unique_ptr<FileLedger> ledger_;
  std::unique_ptr<Scheduler> scheduler_;
};

TEST_F(TaskRunsTest, APeriodIsATaskThatTheRecordNamesUntilTheQueueHasIt) {
  start_daemon();
  tasks_.is_full = true;
  tick_at("2026-03-01T00:01:00Z");
  ASSERT_EQ(record().active.size(), 1U);
  const ActiveExecution run = record().active[0];
  EXPECT_EQ(run.task_id, "task-of-" + run.run_id);
  EXPECT_EQ(run.pid, 0);
  EXPECT_TRUE(tasks_.queue.empty());
  tasks_.is_full = false;
  tick_at("2026-03-01T00:01:01Z");
  EXPECT_TRUE(record().active.empty());
  EXPECT_EQ(record().history.at(0).exit_code, 0);
  EXPECT_TRUE(tasks_.queue.contains(run.task_id));
  EXPECT_TRUE(processes_.executed().empty());
}

TEST_F(TaskRunsTest, NothingIsSubmittedWhoseRecordCannotBeWritten) {
  start_daemon();
  files_.fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::create ? testing::Fault::no_space : testing::Fault::none;
  });
  tick_at("2026-03-01T00:01:00Z");
  tick_at("2026-03-01T00:01:01Z");
  EXPECT_TRUE(tasks_.queue.empty());
}

TEST_F(TaskRunsTest, ATaskThatTheQueueDidNotHaveYetIsSubmittedByTheNextDaemon) {
  start_daemon();
  tasks_.is_full = true;
  tick_at("2026-03-01T00:01:00Z");
  ASSERT_EQ(record().active.size(), 1U);
  tasks_.is_full = false;
  start_daemon();
  tick_at("2026-03-01T00:01:02Z");
  EXPECT_EQ(tasks_.queue.size(), 1U);
  EXPECT_TRUE(record().active.empty());
}

// As written before a record named its task.
TEST_F(TaskRunsTest, ARecordThatSaysPid0IsTakenUpAsATask) {
  StateRecord earlier;
  earlier.identity = "job";
  earlier.periods.first_seen = utc("2026-03-01T00:00:00Z");
  earlier.periods.last_handled = utc("2026-03-01T00:00:00Z");
  ActiveExecution& run = earlier.active.emplace_back();
  run.period = run.chosen = earlier.periods.last_handled;
  run.started_at = utc("2026-03-01T00:00:00Z");
  run.run_id = "r1";
  run.boot_id = "b";
  files_.plant_directory("/state");
  files_.plant_file("/state/" + state_file_name(sha256({"job"})), state::print(earlier));
  start_daemon();
  tick_at("2026-03-01T00:00:40Z");
  EXPECT_TRUE(tasks_.queue.contains("task-of-r1"));
  EXPECT_TRUE(record().active.empty());
  EXPECT_EQ(record().history.at(0).exit_code, 0);
}

TEST_F(TaskRunsTest, TheLogNamesTheTaskInsteadOfAProcess) {
  start_daemon();
  tick_at("2026-03-01T00:01:00Z");
  const auto lines = log_.lines_of("run_started");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].field("task"), "task-of-" + lines[0].field("runId"));
  EXPECT_EQ(lines[0].field("pid"), "");
}

}  // namespace
}  // namespace kron::task_runs_test
