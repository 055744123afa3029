#include "kron/queue/queue_thread.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <thread>

#include "kron/queue/queue_rig.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

// With real threads and the real clock; the disk is in memory, and only the queue's thread touches it.
class QueueThreadTest : public ::testing::Test {
 protected:
  template <class T, class Ask>
  T answer_to(Ask ask) {
    std::promise<T> answer;
    auto answered = answer.get_future();
    ask([&](T value) { answer.set_value(std::move(value)); });
    return answered.get();
  }
  SubmitOutcome submit(NewTask task) {
    const auto answers = answer_to<std::vector<Result<SubmitAnswer>>>(
        [&](auto answer) { queue->submit({std::move(task)}, std::move(answer)); });
    return answers.at(0).value().outcome;
  }
  std::future<Result<std::vector<Lease>>> lease(LeaseRequest request, Seconds wait) {
    if (request.worker.empty()) request.worker = "w";
    auto answer = std::make_shared<std::promise<Result<std::vector<Lease>>>>();
    last_ticket = queue->lease(std::move(request), wait, [answer](Result<std::vector<Lease>> leases) {
      answer->set_value(std::move(leases));
      return true;
    });
    return answer->get_future();
  }

  RealClock clock;
  PowerCutFileSystem disk;
  CapturingLog log;
  QueueThread::Ticket last_ticket = 0;
  std::unique_ptr<QueueThread> queue =
      std::make_unique<QueueThread>(file_queue_opener(disk, clock, log, std::string(kQueuePath)), clock, log,
                                    QueueThread::Options{std::string(kQueuePath), {}, {}});
};

TEST_F(QueueThreadTest, ALongPollIsWokenByASubmitOfAnotherThread) {
  auto leases = lease({}, Seconds(60));
  std::jthread([&] { submit(task_named("a")); }).join();
  EXPECT_EQ(leases.get().value().at(0).task_id, "a");
}

TEST_F(QueueThreadTest, ALongPollIsWokenByTheTimeOfATask) {
  NewTask task = task_named("a");
  task.run_at = now(clock) + Seconds(1);
  submit(task);
  EXPECT_EQ(lease({}, Seconds(60)).get().value().at(0).task_id, "a");
  EXPECT_GE(now(clock), *task.run_at);
}

TEST_F(QueueThreadTest, ManyThreadsLoseNothingAndDoNothingTwice) {
  constexpr int kThreads = 6;
  const int each = scaled(30);
  std::atomic<int> committed = 0;
  std::atomic<int> lost = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) submit(task_named("t" + std::to_string(t) + "-" + std::to_string(i)));
      });
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) {
          const auto leases = answer_to<Result<std::vector<Lease>>>([&](auto answer) {
            queue->lease({.worker = "w", .starts = true}, Seconds(60), [answer](Result<std::vector<Lease>> got) {
              answer(std::move(got));
              return true;
            });
          });
          const auto done = answer_to<Result<CommitAnswer>>(
              [&](auto answer) { queue->commit({.key = leases.value().at(0).key, .result = ""}, answer); });
          ++(done.value().outcome == LeaseOutcome::accepted ? committed : lost);
        }
      });
    }
  }
  EXPECT_EQ(committed, kThreads * each);
  EXPECT_EQ(lost, 0);
  const auto summary = answer_to<Result<TaskSummary>>([&](auto answer) { queue->summary(answer); });
  EXPECT_EQ(summary.value().counts, TaskCounts());
}

TEST_F(QueueThreadTest, EveryVerbIsAnswered) {
  ASSERT_TRUE(answer_to<Status>([&](auto answer) { queue->open(answer); }));
  submit(task_named("a"));
  const LeaseKey key = lease({}, Seconds(0)).get().value().at(0).key;
  const auto started = answer_to<Result<LeaseOutcome>>([&](auto answer) { queue->start(key, answer); });
  EXPECT_EQ(started, LeaseOutcome::accepted);
  const auto renewed = answer_to<Result<LeaseOutcome>>([&](auto answer) { queue->renew(key, answer); });
  EXPECT_EQ(renewed, LeaseOutcome::accepted);
  const auto failed = answer_to<Result<FailAnswer>>([&](auto answer) { queue->fail_attempt({key, "boom"}, answer); });
  EXPECT_EQ(failed.value().state, TaskState::pending);
  const auto cancelled = answer_to<Result<CancelOutcome>>([&](auto answer) { queue->cancel("a", answer); });
  EXPECT_EQ(cancelled, CancelOutcome::cancelled);
  const auto retried = answer_to<Result<RetryOutcome>>([&](auto answer) { queue->retry("a", 1, answer); });
  EXPECT_EQ(retried, RetryOutcome::retried);
  const auto listed = answer_to<Result<std::vector<Task>>>([&](auto answer) { queue->list({}, answer); });
  EXPECT_EQ(listed.value().size(), 1U);
  const auto found = answer_to<Result<Task>>([&](auto answer) { queue->get("a", answer); });
  EXPECT_EQ(found.value().spec.id, "a");
  const auto pruned = answer_to<Result<std::size_t>>([&](auto answer) { queue->prune({now(clock)}, answer); });
  EXPECT_EQ(pruned, 0U);
}

TEST_F(QueueThreadTest, AnAnswerMayAskAgain) {
  const auto outcome = answer_to<LeaseOutcome>([&](auto told) {
    queue->submit({task_named("a")}, [&, told](const auto&) {
      queue->lease({.worker = "w", .starts = true}, Seconds(0), [&, told](Result<std::vector<Lease>> leases) {
        queue->commit({.key = leases.value().at(0).key, .result = ""},
                      [told](const Result<CommitAnswer>& answer) { told(answer.value().outcome); });
        return true;
      });
    });
  });
  EXPECT_EQ(outcome, LeaseOutcome::accepted);
}

TEST_F(QueueThreadTest, AWithdrawnLongPollIsForgotten) {
  auto withdrawn = lease({}, Seconds(60));
  queue->withdraw(last_ticket);
  submit(task_named("a"));
  EXPECT_EQ(lease({}, Seconds(0)).get().value().size(), 1U);
  EXPECT_THROW(withdrawn.get(), std::future_error);
}

TEST_F(QueueThreadTest, TheEndAnswersThoseWhoWait) {
  auto waiting = lease({}, Seconds(60));
  queue.reset();
  EXPECT_EQ(waiting.get().error().code, Code::unreachable);
}

}  // namespace
}  // namespace kron::testing
