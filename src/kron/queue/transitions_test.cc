#include "kron/queue/transitions.h"

#include <gtest/gtest.h>

#include "kron/queue/queue_rig.h"
#include "kron/queue/task_file.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::for_all;
using testing::kQueueStart;
using testing::task_named;

LeaseGrant grant(std::uint64_t token) { return {"w", token, Seconds(60), Holder::outside}; }

TEST(Backoff, DoublesFromTheFirstToTheMostWithTheLastHalfAsJitter) {
  const RetryPolicy policy{10, Seconds(10), Seconds(100)};
  const std::int64_t most[] = {10, 20, 40, 80, 100, 100};
  for (int attempt = 1; attempt <= 6; ++attempt) {
    const auto delay = backoff_after(policy, "task-123", attempt).count();
    EXPECT_LE(delay, most[attempt - 1]) << attempt;
    EXPECT_GE(delay, most[attempt - 1] / 2) << attempt;
  }
}

TEST(Backoff, IsTheSameForEver) {
  const RetryPolicy policy{10, Seconds(1000), Seconds(100000)};
  EXPECT_EQ(backoff_after(policy, "task-123", 1).count(), 809);
  EXPECT_EQ(backoff_after(policy, "task-123", 2).count(), 1338);
  EXPECT_EQ(backoff_after(policy, "task-124", 1).count(), 875);
}

TEST(Backoff, StaysWithinItsBoundsForAllPoliciesAndAttempts) {
  for_all(300, [] {
    const auto first = *rc::gen::inRange(0, 100000);
    const auto most = *rc::gen::inRange(0, 1000000);
    const auto attempt = *rc::gen::inRange(1, kMostAttempts);
    const auto delay = backoff_after({10, Seconds(first), Seconds(most)}, "t", attempt).count();
    RC_ASSERT(delay >= 0);
    RC_ASSERT(delay <= most);
    RC_ASSERT(delay >= std::min(first, most) / 2);
  });
}

TEST(Rank, OrdersByPriorityAndLetsWaitingCatchUp) {
  const Instant t = kQueueStart;
  EXPECT_LT(rank_of(t, 1, Seconds(60)), rank_of(t, 0, Seconds(60)));
  EXPECT_LT(rank_of(t, 0, Seconds(60)), rank_of(t + Seconds(1), 0, Seconds(60)));
  EXPECT_LT(rank_of(t, 0, Seconds(60)), rank_of(t + Seconds(61), 1, Seconds(60)));
  EXPECT_GT(rank_of(t, 0, Seconds(60)), rank_of(t + Seconds(59), 1, Seconds(60)));
}

TEST(Transitions, EachStepIsRefusedWhereTheTableDoesNotAllowIt) {
  const Task waiting = new_task(task_named("a"), 1, kQueueStart);
  EXPECT_EQ(started(waiting, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(committed(waiting, {}, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(finished(waiting, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(aborted(waiting, {}, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(retried(waiting, 1, kQueueStart).error().code, Code::conflict);
  const Task held = leased(waiting, grant(2), kQueueStart).value();
  EXPECT_EQ(leased(held, grant(3), kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(committed(held, {}, kQueueStart).error().code, Code::conflict);
  const Task done =
      finished(committed(started(held, kQueueStart).value(), {}, kQueueStart).value(), kQueueStart).value();
  EXPECT_EQ(aborted(done, {}, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(cancelled(done, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(leased(done, grant(3), kQueueStart).error().code, Code::conflict);
}

TEST(Transitions, ACommittedTaskCannotBeCancelledOrAborted) {
  const Task held = leased(new_task(task_named("a"), 1, kQueueStart), grant(2), kQueueStart).value();
  const Task committed_task = committed(started(held, kQueueStart).value(), {}, kQueueStart).value();
  EXPECT_EQ(cancelled(committed_task, kQueueStart).error().code, Code::conflict);
  EXPECT_EQ(aborted(committed_task, {}, kQueueStart).error().code, Code::conflict);
}

TEST(Transitions, ARetryCannotGoBeyondTheMostAttempts) {
  NewTask spec = task_named("a");
  spec.retry.max_attempts = 1;
  const Task held = leased(new_task(spec, 1, kQueueStart), grant(2), kQueueStart).value();
  const Task failed = aborted(held, {.reason = "x"}, kQueueStart).value();
  EXPECT_EQ(state_of(failed), TaskState::failed);
  EXPECT_EQ(retried(failed, 0, kQueueStart).error().code, Code::invalid);
  EXPECT_EQ(retried(failed, kMostAttempts, kQueueStart).error().code, Code::invalid);
  EXPECT_EQ(state_of(retried(failed, kMostAttempts - 1, kQueueStart).value()), TaskState::pending);
}

// One step drawn at random, or the task as it was when the step is refused.
Task stepped(const Task& task, int draw, std::uint64_t token, Instant now) {
  Result<Task> after = task;
  switch (draw) {
    case 0:
      after = leased(task, grant(token), now);
      break;
    case 1:
      after = started(task, now);
      break;
    case 2:
      after = committed(task, {"r", {}, ""}, now);
      break;
    case 3:
      after = finished(task, now);
      break;
    case 4:
      after = aborted(task, {.reason = "x", .counts = token % 3 != 0}, now);
      break;
    case 5:
      after = cancelled(task, now);
      break;
    default:
      after = retried(task, 1, now);
  }
  return after ? *after : task;
}

bool has_left_terminal_state(const Task& before, const Task& after) {
  return state_of(before) == TaskState::succeeded && !(after == before);
}

TEST(Transitions, NoSequenceOfStepsCommitsTwiceOrLeavesSucceeded) {
  for_all(300, [] {
    NewTask spec = task_named("a");
    spec.retry.max_attempts = *rc::gen::inRange(1, 4);
    Task task = new_task(spec, 1, kQueueStart);
    const auto draws = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 7));
    std::uint64_t token = 1;
    for (const int draw : draws) {
      const Task after = stepped(task, draw, ++token, kQueueStart);
      RC_ASSERT(!has_left_terminal_state(task, after));
      int commits = 0;
      std::uint64_t last_token = 0;
      for (const Execution& e : after.executions) {
        commits += e.status == ExecutionStatus::committed || e.status == ExecutionStatus::done ? 1 : 0;
        if (e.token != 0) RC_ASSERT(e.token > last_token);
        last_token = std::max(last_token, e.token);
        RC_ASSERT(&e == &after.executions.back() || e.status == ExecutionStatus::aborted);
      }
      RC_ASSERT(commits <= 1);
      RC_ASSERT(after.executions.size() >= task.executions.size());
      task = after;
    }
  });
}

// A task that is told "later" more often than any task may be tried.
TEST(Transitions, AskingForAnotherTimeNeverUsesATaskUp) {
  NewTask spec = task_named("a");
  spec.retry.max_attempts = 2;
  Task task = new_task(spec, 1, kQueueStart);
  for (int i = 1; i <= kMostAttempts + 100; ++i) {
    task = leased(task, {"w", static_cast<std::uint64_t>(i), Seconds(60)}, kQueueStart).value();
    EXPECT_EQ(task.executions.back().attempt, i);
    task = aborted(task, {.reason = "later", .counts = false}, kQueueStart).value();
    ASSERT_EQ(state_of(task), TaskState::pending) << i;
  }
  EXPECT_EQ(parse_task(task_text(task), "a"), task);
  EXPECT_LT(task_text(task).size(), 64U << 10);
  // Those that count still do, and whoever had one of those that were forgotten is late.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(state_of(task), TaskState::pending);
    task = leased(task, {"w", static_cast<std::uint64_t>(5000 + i), Seconds(60)}, kQueueStart).value();
    EXPECT_EQ(judge(task, {"a.1", 1}, false), LeaseOutcome::lease_lost);
    EXPECT_EQ(judge(task, {"a.4000", 4000}, false).error().code, Code::not_found);
    task = aborted(task, {.reason = "boom"}, kQueueStart).value();
  }
  EXPECT_EQ(state_of(task), TaskState::failed);
  EXPECT_EQ(parse_task(task_text(task), "a"), task);
}

TEST(Judge, AcceptsOnlyTheHolderOfTheLastUnexpiredLease) {
  const Task waiting = new_task(task_named("a"), 1, kQueueStart);
  const Task first = started(leased(waiting, grant(7), kQueueStart).value(), kQueueStart).value();
  const LeaseKey key{"a.7", 7};
  EXPECT_EQ(judge(first, key, false), LeaseOutcome::accepted);
  EXPECT_EQ(judge(first, key, true), LeaseOutcome::lease_lost);
  EXPECT_EQ(judge(first, {"a.7", 8}, false), LeaseOutcome::lease_lost);
  EXPECT_EQ(judge(first, {"a.8", 8}, false).error().code, Code::not_found);
  const Task again = leased(aborted(first, {}, kQueueStart).value(), grant(9), kQueueStart).value();
  EXPECT_EQ(judge(again, key, false), LeaseOutcome::lease_lost);
  EXPECT_EQ(judge(again, {"a.9", 9}, false), LeaseOutcome::accepted);
  const Task over = committed(started(again, kQueueStart).value(), {}, kQueueStart).value();
  EXPECT_EQ(judge(over, key, false), LeaseOutcome::duplicate);
  EXPECT_EQ(judge(over, {"a.9", 9}, false), LeaseOutcome::duplicate);
}

}  // namespace
}  // namespace kron
