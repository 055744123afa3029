#include "kron/daemon/queue_submitter.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/queue/memory_queue.h"

namespace kron::daemon {
namespace {

class QueueSubmitterTest : public ::testing::Test {
 protected:
  static TaskToSubmit task_of(const std::string& run_id, std::string data = "null") {
    return {"task-" + run_id, "MAIL", std::move(data)};
  }
  void let_go(const std::string& run_id, std::string data = "null") {
    submitter_.hold(run_id, task_of(run_id, std::move(data)));
    submitter_.release(run_id);
  }
  bool is_in_queue(std::string_view task_id) { return queue_.get(task_id).has_value(); }

  testing::FakeClock clock_{*parse_rfc3339("2026-03-01T00:00:00Z")};
  testing::CapturingLog log_;
  MemoryQueue queue_{clock_};
  // What the queue says to tasks; a test puts another in its place.
  QueueSubmitter::Submit submit_ = [this](const std::vector<NewTask>& tasks, const QueueSubmitter::Answered& answered) {
    answered(queue_.submit(tasks));
  };
  const QueueSubmitter::Submit submit_as_now_ = [this](std::vector<NewTask> tasks, QueueSubmitter::Answered answered) {
    submit_(std::move(tasks), std::move(answered));
  };
  QueueSubmitter submitter_{submit_as_now_, clock_, log_};
};

TEST_F(QueueSubmitterTest, ATaskIsSubmittedWhenItIsReleasedAndNotBefore) {
  submitter_.hold("a", task_of("a"));
  EXPECT_TRUE(submitter_.drain_exits().empty());
  EXPECT_FALSE(is_in_queue("task-a"));
  submitter_.release("a");
  const auto exits = submitter_.drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0], (RunExit{"a", 0, "submitted as task task-a"}));
  EXPECT_TRUE(is_in_queue("task-a"));
}

TEST_F(QueueSubmitterTest, AnAbandonedRunSubmitsNothing) {
  submitter_.hold("a", task_of("a"));
  submitter_.abandon("a");
  EXPECT_TRUE(submitter_.drain_exits().empty());
  submitter_.release("a");
  EXPECT_TRUE(submitter_.drain_exits().empty());
  EXPECT_FALSE(is_in_queue("task-a"));
}

TEST_F(QueueSubmitterTest, ARunWhoseDaemonDiedIsSubmittedAgainAndIsStillOneTask) {
  let_go("a");
  EXPECT_EQ(submitter_.drain_exits().size(), 1U);
  QueueSubmitter next(submit_as_now_, clock_, log_);
  next.resume("a", task_of("a"));
  EXPECT_EQ(next.drain_exits().size(), 1U);
  EXPECT_EQ(queue_.counts(), (TaskCounts{1, 0}));
}

TEST_F(QueueSubmitterTest, AJobThatWasEditedInBetweenKeepsTheTaskItHasSubmitted) {
  let_go("a", "1");
  EXPECT_EQ(submitter_.drain_exits().size(), 1U);
  submitter_.resume("a", task_of("a", "2"));
  EXPECT_EQ(submitter_.drain_exits().at(0).code, 0);
  EXPECT_EQ(queue_.get("task-a").value().spec.data, "1");
}

TEST_F(QueueSubmitterTest, ATaskThatTheQueueRefusesIsAFailedRun) {
  let_go("a", "{not JSON");
  const auto exits = submitter_.drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].code, 65);
  EXPECT_EQ(submitter_.broken(), std::nullopt);
}

TEST_F(QueueSubmitterTest, ATaskThatTheQueueCannotTakeNowIsSubmittedWhenItCan) {
  std::optional<Error> problem = Error{Code::io, "no space left"};
  int asked = 0;
  submit_ = [&](const std::vector<NewTask>& tasks, const QueueSubmitter::Answered& answered) {
    ++asked;
    if (!problem) return answered(queue_.submit(tasks));
    answered(std::vector<Result<SubmitAnswer>>(tasks.size(), fail(*problem)));
  };
  for (const char* run : {"a", "b"}) let_go(run);
  EXPECT_TRUE(submitter_.drain_exits().empty());
  EXPECT_EQ(submitter_.waiting(), 2U);
  EXPECT_EQ(submitter_.broken(), std::nullopt);
  EXPECT_TRUE(submitter_.drain_exits().empty());
  EXPECT_EQ(asked, 1) << "not before a second has passed";
  for (const Code code : {Code::io, Code::conflict, Code::refused, Code::not_found, Code::unreachable}) {
    problem->code = code;
    clock_.advance(Seconds(1));
    EXPECT_TRUE(submitter_.drain_exits().empty());
    EXPECT_EQ(submitter_.broken(), std::nullopt);
  }
  EXPECT_EQ(asked, 6);
  EXPECT_EQ(log_.lines_of("task_waits").size(), 1U) << "said once";
  problem.reset();
  clock_.advance(Seconds(1));
  const auto exits = submitter_.drain_exits();
  ASSERT_EQ(exits.size(), 2U);
  EXPECT_EQ(exits[0], (RunExit{"a", 0, "submitted as task task-a"}));
  EXPECT_EQ(submitter_.waiting(), 0U);
  EXPECT_TRUE(is_in_queue("task-b"));
}

TEST_F(QueueSubmitterTest, WakesTheLoopWhenItIsTimeToTryAgain) {
  submit_ = [](const std::vector<NewTask>& tasks, const QueueSubmitter::Answered& answered) {
    answered(std::vector<Result<SubmitAnswer>>(tasks.size(), fail(Code::io, "no space left")));
  };
  let_go("a");
  EXPECT_TRUE(submitter_.drain_exits().empty());
  pollfd wakes{submitter_.descriptor(), POLLIN, 0};
  // The answer itself, and then the timer.
  EXPECT_TRUE(submitter_.drain_exits().empty());
  EXPECT_EQ(::poll(&wakes, 1, 60'000), 1);
}

}  // namespace
}  // namespace kron::daemon
