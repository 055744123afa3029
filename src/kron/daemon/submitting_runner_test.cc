#include "kron/daemon/submitting_runner.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/queue/memory_queue.h"

namespace kron::daemon {
namespace {

class SubmittingRunnerTest : public ::testing::Test {
 protected:
  SubmittingRunnerTest() { runner_.use(submit_to_queue()); }

  SubmittingRunner::Submit submit_to_queue() {
    return [this](const std::vector<NewTask>& tasks, const SubmittingRunner::Answered& answered) {
      answered(queue_.submit(tasks));
    };
  }

  static RunSpec task_run(std::string run_id, std::string data = "null") {
    return {.run_id = run_id, .command = {}, .task = TaskToSubmit{"task-" + run_id, "MAIL", std::move(data)}};
  }
  bool is_in_queue(std::string_view task_id) { return queue_.get(task_id).has_value(); }

  testing::FakeClock clock_{*parse_rfc3339("2026-03-01T00:00:00Z")};
  testing::CapturingLog log_;
  testing::FakeProcessRunner processes_;
  MemoryQueue queue_{clock_};
  SubmittingRunner runner_{processes_, clock_, log_};
};

TEST_F(SubmittingRunnerTest, ATaskIsSubmittedWhenItsGateOpensAndNotBefore) {
  const auto process = runner_.start(task_run("a"));
  ASSERT_TRUE(process);
  EXPECT_TRUE(runner_.drain_exits().empty());
  EXPECT_FALSE(is_in_queue("task-a"));
  ASSERT_TRUE(runner_.open_gate("a"));
  const auto exits = runner_.drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0], (RunExit{"a", 0, "submitted as task task-a"}));
  EXPECT_TRUE(is_in_queue("task-a"));
}

TEST_F(SubmittingRunnerTest, AnAbandonedRunSubmitsNothing) {
  ASSERT_TRUE(runner_.start(task_run("a")));
  runner_.abandon("a");
  EXPECT_TRUE(runner_.drain_exits().empty());
  EXPECT_FALSE(is_in_queue("task-a"));
  EXPECT_FALSE(runner_.open_gate("a"));
}

TEST_F(SubmittingRunnerTest, ARunWhoseDaemonDiedIsSubmittedAgainAndIsStillOneTask) {
  const ProcessIdentity process = runner_.start(task_run("a")).value();
  ASSERT_TRUE(runner_.open_gate("a"));
  EXPECT_EQ(runner_.drain_exits().size(), 1U);
  SubmittingRunner next(processes_, clock_, log_);
  next.use(submit_to_queue());
  EXPECT_EQ(next.resume(task_run("a"), process), std::nullopt);
  EXPECT_EQ(next.drain_exits().size(), 1U);
  EXPECT_EQ(queue_.counts(), (TaskCounts{1, 0}));
}

TEST_F(SubmittingRunnerTest, AJobThatWasEditedInBetweenKeepsTheTaskItHasSubmitted) {
  const ProcessIdentity process = runner_.start(task_run("a", "1")).value();
  ASSERT_TRUE(runner_.open_gate("a"));
  EXPECT_EQ(runner_.drain_exits().size(), 1U);
  EXPECT_EQ(runner_.resume(task_run("a", "2"), process), std::nullopt);
  EXPECT_EQ(runner_.drain_exits().at(0).code, 0);
  EXPECT_EQ(queue_.get("task-a").value().spec.data, "1");
}

TEST_F(SubmittingRunnerTest, ATaskThatTheQueueRefusesIsAFailedRun) {
  ASSERT_TRUE(runner_.start(task_run("a", "{not JSON")));
  ASSERT_TRUE(runner_.open_gate("a"));
  const auto exits = runner_.drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].code, 65);
  EXPECT_EQ(runner_.broken(), std::nullopt);
}

TEST_F(SubmittingRunnerTest, ATaskThatTheQueueCannotTakeNowIsSubmittedWhenItCan) {
  std::optional<Error> problem = Error{Code::io, "no space left"};
  int asked = 0;
  runner_.use([&](const std::vector<NewTask>& tasks, const SubmittingRunner::Answered& answered) {
    ++asked;
    if (!problem) return answered(queue_.submit(tasks));
    answered(std::vector<Result<SubmitAnswer>>(tasks.size(), fail(*problem)));
  });
  for (const char* run : {"a", "b"}) {
    ASSERT_TRUE(runner_.start(task_run(run)));
    ASSERT_TRUE(runner_.open_gate(run));
  }
  EXPECT_TRUE(runner_.drain_exits().empty());
  EXPECT_EQ(runner_.waiting(), 2U);
  EXPECT_EQ(runner_.broken(), std::nullopt);
  EXPECT_TRUE(runner_.drain_exits().empty());
  EXPECT_EQ(asked, 1) << "not before a second has passed";
  for (const Code code : {Code::io, Code::conflict, Code::refused, Code::not_found, Code::unreachable}) {
    problem->code = code;
    clock_.advance(Seconds(1));
    EXPECT_TRUE(runner_.drain_exits().empty());
    EXPECT_EQ(runner_.broken(), std::nullopt);
  }
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(log_.lines_of("task_waits").size(), 1U) << "said once";
  problem.reset();
  clock_.advance(Seconds(1));
  const auto exits = runner_.drain_exits();
  ASSERT_EQ(exits.size(), 2U);
  EXPECT_EQ(exits[0], (RunExit{"a", 0, "submitted as task task-a"}));
  EXPECT_EQ(runner_.waiting(), 0U);
  EXPECT_TRUE(is_in_queue("task-b"));
}

TEST_F(SubmittingRunnerTest, WakesTheLoopWhenItIsTimeToTryAgain) {
  runner_.use([](const std::vector<NewTask>& tasks, const SubmittingRunner::Answered& answered) {
    answered(std::vector<Result<SubmitAnswer>>(tasks.size(), fail(Code::io, "no space left")));
  });
  ASSERT_TRUE(runner_.start(task_run("a")));
  ASSERT_TRUE(runner_.open_gate("a"));
  EXPECT_TRUE(runner_.drain_exits().empty());
  pollfd wakes{runner_.descriptor(), POLLIN, 0};
  // The answer itself, and then the timer.
  EXPECT_TRUE(runner_.drain_exits().empty());
  EXPECT_EQ(::poll(&wakes, 1, 60'000), 1);
}

TEST_F(SubmittingRunnerTest, WithoutAQueueNoTaskStarts) {
  SubmittingRunner alone(processes_, clock_, log_);
  EXPECT_FALSE(alone.start(task_run("a")));
  EXPECT_TRUE(alone.resume(task_run("a"), ProcessIdentity{0, 0, clock_.boot_id()}));
}

TEST_F(SubmittingRunnerTest, CommandsAreProcessesAsBefore) {
  ASSERT_TRUE(runner_.start({.run_id = "p", .command = {"true"}}));
  ASSERT_TRUE(runner_.open_gate("p"));
  EXPECT_EQ(processes_.executed(), std::vector<std::string>{"p"});
  processes_.advance(Seconds(1));
  EXPECT_EQ(runner_.drain_exits().at(0).run_id, "p");
}

}  // namespace
}  // namespace kron::daemon
