#include "kron/scheduler/launcher.h"

#include <gtest/gtest.h>

#include "kron/env/fake/fake_process_runner.h"
#include "kron/scheduler/fake/fake_task_submitter.h"

namespace kron::launcher_test {
namespace {

class LauncherTest : public ::testing::Test {
 protected:
  static ActiveExecution run_named(std::string run_id) {
    ActiveExecution run;
    run.run_id = std::move(run_id);
    return run;
  }
  static RunWork task(const std::string& id) { return TaskToSubmit{id, "MAIL", "null"}; }
  static RunWork process(const std::string& run_id) { return RunSpec{.run_id = run_id, .command = {"true"}}; }

  testing::FakeProcessRunner processes_;
  testing::FakeTaskSubmitter tasks_;
  Launcher launcher_{processes_, &tasks_};
};

TEST_F(LauncherTest, ACommandIsAProcessAndItsRecordNamesIt) {
  ActiveExecution run = run_named("p");
  ASSERT_TRUE(launcher_.hold(process("p"), run));
  EXPECT_NE(run.pid, 0);
  EXPECT_FALSE(run.is_task());
  EXPECT_TRUE(processes_.executed().empty());
  ASSERT_TRUE(launcher_.release("p"));
  EXPECT_EQ(processes_.executed(), std::vector<std::string>{"p"});
  processes_.advance(Seconds(1));
  EXPECT_EQ(launcher_.drain_exits().at(0).run_id, "p");
}

TEST_F(LauncherTest, ATaskIsNoProcessAndItsRecordNamesIt) {
  ActiveExecution run = run_named("t");
  ASSERT_TRUE(launcher_.hold(task("task-1"), run));
  EXPECT_EQ(run.task_id, "task-1");
  EXPECT_EQ(run.pid, 0);
  EXPECT_TRUE(run.boot_id.empty());
  EXPECT_TRUE(launcher_.drain_exits().empty());
  ASSERT_TRUE(launcher_.release("t"));
  EXPECT_EQ(launcher_.drain_exits().at(0), (RunExit{"t", 0, "submitted as task task-1"}));
  EXPECT_TRUE(processes_.executed().empty());
  EXPECT_EQ(tasks_.queue.size(), 1U);
}

TEST_F(LauncherTest, WhatIsAbandonedDoesNothingOfEitherKind) {
  ActiveExecution one = run_named("t");
  ActiveExecution other = run_named("p");
  ASSERT_TRUE(launcher_.hold(task("task-1"), one));
  ASSERT_TRUE(launcher_.hold(process("p"), other));
  launcher_.abandon("t");
  launcher_.abandon("p");
  EXPECT_FALSE(tasks_.holds("t"));
  processes_.advance(Seconds(1));
  EXPECT_TRUE(launcher_.drain_exits().empty());
  EXPECT_EQ(processes_.alive(), 0U);
  EXPECT_FALSE(launcher_.release("t")) << "it is no process either";
}

TEST_F(LauncherTest, AFailedStartLeavesNothingInTheRecord) {
  processes_.fail_next_start({Code::io, "no more processes"});
  ActiveExecution run = run_named("p");
  const Status held = launcher_.hold(process("p"), run);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().message, "no more processes");
  EXPECT_EQ(run, run_named("p"));
}

TEST_F(LauncherTest, ATaskOfAnEarlierDaemonIsSubmittedAgain) {
  ActiveExecution run = run_named("t");
  run.task_id = "task-1";
  EXPECT_EQ(launcher_.adopt(task("task-1"), run), std::nullopt);
  EXPECT_EQ(launcher_.drain_exits().size(), 1U);
  EXPECT_TRUE(tasks_.queue.contains("task-1"));
}

TEST_F(LauncherTest, ATaskInTheRecordOfAnEarlierProgramIsSubmittedAgain) {
  ActiveExecution run = run_named("t");
  run.boot_id = "b";  // and PID 0
  EXPECT_EQ(launcher_.adopt(task("task-1"), run), std::nullopt);
  EXPECT_EQ(launcher_.drain_exits().size(), 1U);
}

TEST_F(LauncherTest, ATaskWhoseJobRunsACommandNowIsOverAndNotExecuted) {
  ActiveExecution run = run_named("t");
  run.task_id = "task-1";
  const auto exit = launcher_.adopt(process("t"), run);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, std::nullopt);
  EXPECT_NE(exit->reason.find("look for task task-1 in the queue"), std::string::npos) << exit->reason;
  EXPECT_TRUE(processes_.executed().empty());
}

TEST_F(LauncherTest, AProcessWhoseJobSubmitsATaskNowIsStillAProcess) {
  processes_.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = Seconds(60)}; });
  ActiveExecution run = run_named("p");
  ASSERT_TRUE(launcher_.hold(process("p"), run));
  ASSERT_TRUE(launcher_.release("p"));
  EXPECT_EQ(launcher_.adopt(task("task-1"), run), std::nullopt);
  EXPECT_TRUE(launcher_.drain_exits().empty());
  EXPECT_TRUE(tasks_.queue.empty());
}

TEST_F(LauncherTest, WithoutAQueueNoTaskStarts) {
  Launcher alone(processes_, nullptr);
  ActiveExecution run = run_named("t");
  const Status held = alone.hold(task("task-1"), run);
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Code::conflict);
  run.task_id = "task-1";
  EXPECT_TRUE(alone.adopt(task("task-1"), run));
  EXPECT_TRUE(alone.drain_exits().empty());
}

}  // namespace
}  // namespace kron::launcher_test
