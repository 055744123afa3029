#include "kron/queue/transitions.h"

#include <algorithm>
#include <array>

#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::array kDirectoryNames{Word{TaskDirectory::pending, "pending"}, Word{TaskDirectory::running, "running"},
                                     Word{TaskDirectory::completed, "completed"}};
constexpr std::array kStateWords{Word{TaskDirectory::pending, "PENDING"}, Word{TaskDirectory::running, "RUNNING"},
                                 Word{TaskDirectory::completed, "COMPLETED"}};
constexpr std::array kLeaseOutcomes{Word{LeaseOutcome::accepted, "accepted"},
                                    Word{LeaseOutcome::lease_lost, "lease_lost"},
                                    Word{LeaseOutcome::duplicate, "duplicate"}};

tl::unexpected<Error> not_allowed(const Task& task, std::string_view what) {
  std::string status = "has no execution";
  if (!task.executions.empty()) {
    const Execution& last = task.executions.back();
    status = "has its execution " + last.exec_id + " " + std::string(name_of(last.status));
  }
  return fail(Code::conflict, "task " + task.spec.id + " cannot " + std::string(what) + ": it " + status);
}

// Moves the last execution.
Status step(Task& task, ExecutionEvent event, std::string_view what, Instant now) {
  if (task.executions.empty()) return not_allowed(task, what);
  const auto next = advance(task.executions.back().status, event);
  if (!next) return not_allowed(task, what);
  task.executions.back().status = *next;
  task.updated_at = now;
  return {};
}

// A task may be told "later" for ever; its file may not grow for ever.
void forget_uncounted(Task& task) {
  auto uncounted = std::ranges::count(task.executions, false, &Execution::counts);
  for (; uncounted > kMostUncounted; --uncounted) {
    task.executions.erase(std::ranges::find(task.executions, false, &Execution::counts));
    --task.spec.retry.max_attempts;
  }
}

// Whether the execution may be one of those that forget_uncounted took away.
bool is_forgotten(const Task& task, const LeaseKey& key) {
  if (task.executions.empty() || key.exec_id != exec_id_of(task.spec.id, key.token)) return false;
  const bool has_forgotten = task.executions.back().attempt > static_cast<int>(task.executions.size());
  return has_forgotten && key.token < task.executions.front().token;
}

void end_lease(Execution& execution) {
  execution.boot_id.clear();
  execution.boot_deadline = Nanoseconds(0);
}

bool has_committed(const Task& task) {
  return std::ranges::any_of(task.executions, [](const Execution& e) {
    return e.status == ExecutionStatus::committed || e.status == ExecutionStatus::done;
  });
}

}  // namespace

TaskState state_of(const Task& task) {
  std::vector<ExecutionView> views;
  views.reserve(task.executions.size());
  for (const Execution& e : task.executions) views.push_back({e.status, e.final});
  return derive_state(views, task.spec.retry.max_attempts);
}

bool is_cancelled(const Task& task) { return !task.executions.empty() && task.executions.back().final; }

int attempts_of(const Task& task) {
  // No lease has the token 0.
  const auto never_leased = std::ranges::count_if(
      task.executions, [](const Execution& e) { return e.token == 0 && e.status == ExecutionStatus::aborted; });
  return static_cast<int>(task.executions.size()) - static_cast<int>(never_leased);
}

TaskDirectory directory_of(TaskState state) {
  switch (state) {
    case TaskState::pending:
      return TaskDirectory::pending;
    case TaskState::running:
      return TaskDirectory::running;
    case TaskState::succeeded:
    case TaskState::failed:
      break;
  }
  return TaskDirectory::completed;
}

std::string_view name_of(TaskDirectory place) { return word_of(place, kDirectoryNames); }
std::string_view state_word_of(TaskDirectory place) { return word_of(place, kStateWords); }
std::string_view name_of(LeaseOutcome outcome) { return word_of(outcome, kLeaseOutcomes); }

Task new_task(NewTask spec, std::uint64_t sequence, Instant now) {
  return Task{.spec = std::move(spec), .sequence = sequence, .created_at = now, .updated_at = now};
}

Instant ready_at(const Task& task, Instant now) {
  const Instant created = std::min(task.created_at, now);
  const Instant asked = std::max(created, task.spec.run_at.value_or(created));
  if (task.executions.empty()) return asked;
  return task.executions.back().finished_at.value_or(now) > now ? now : asked;
}

Result<LeaseOutcome> judge(const Task& task, const LeaseKey& key, bool has_expired) {
  const auto found = std::ranges::find(task.executions, key.exec_id, &Execution::exec_id);
  if (found == task.executions.end()) {
    if (is_forgotten(task, key)) return LeaseOutcome::lease_lost;
    return fail(Code::not_found, "task " + task.spec.id + " has no execution " + quoted(key.exec_id, 150));
  }
  if (has_committed(task)) return LeaseOutcome::duplicate;
  const bool is_last = &*found == &task.executions.back();
  const bool is_held = found->status == ExecutionStatus::leased || found->status == ExecutionStatus::in_progress;
  if (is_last && is_held && found->token == key.token && !has_expired) return LeaseOutcome::accepted;
  return LeaseOutcome::lease_lost;
}

Result<Task> leased(Task task, const LeaseGrant& grant, Instant now) {
  if (state_of(task) != TaskState::pending) return not_allowed(task, "be leased");
  task.executions.push_back({.exec_id = exec_id_of(task.spec.id, grant.token),
                             .attempt = task.executions.empty() ? 1 : task.executions.back().attempt + 1,
                             .lease_owner = grant.owner,
                             .token = grant.token,
                             .status = ExecutionStatus::leased,
                             .holder = grant.holder,
                             .lease_term = grant.term,
                             .lease_expires_at = now + grant.term,
                             .leased_at = now,
                             .boot_id = grant.boot_id,
                             .boot_deadline = grant.deadline});
  task.updated_at = now;
  return task;
}

Result<Task> started(Task task, Instant now) {
  if (Status moved = step(task, ExecutionEvent::start, "start", now); !moved) return fail(moved.error());
  task.executions.back().started_at = now;
  return task;
}

Result<Task> committed(Task task, CommitParts parts, Instant now) {
  if (has_committed(task)) return not_allowed(task, "commit");
  if (Status moved = step(task, ExecutionEvent::commit, "commit", now); !moved) return fail(moved.error());
  task.executions.back().committed_at = now;
  end_lease(task.executions.back());
  task.result = std::move(parts.result);
  task.follow_ups = std::move(parts.follow_ups);
  task.staging = std::move(parts.staging);
  return task;
}

Result<Task> finished(Task task, Instant now) {
  if (Status moved = step(task, ExecutionEvent::finish, "finish", now); !moved) return fail(moved.error());
  task.executions.back().finished_at = now;
  return task;
}

Result<Task> aborted(Task task, const Abort& abort, Instant now) {
  if (Status moved = step(task, ExecutionEvent::abort, "be aborted", now); !moved) return fail(moved.error());
  Execution& last = task.executions.back();
  last.finished_at = now;
  last.final = abort.final;
  last.reason = abort.reason;
  last.counts = abort.counts;
  end_lease(last);
  if (abort.backs_off) task.spec.run_at = now + backoff_after(task.spec.retry, task.spec.id, last.attempt);
  if (!abort.counts) {
    ++task.spec.retry.max_attempts;
    forget_uncounted(task);
  }
  return task;
}

Result<Task> cancelled(Task task, Instant now) {
  const Abort abort{.reason = "cancelled", .final = true, .backs_off = false};
  const TaskState state = state_of(task);
  if (state == TaskState::running) return aborted(std::move(task), abort, now);
  if (state != TaskState::pending) return not_allowed(task, "be cancelled");
  // Nobody's lease: token 0 is never handed out.
  auto with_execution = leased(std::move(task), {.owner = "", .token = 0, .term = Seconds(0)}, now);
  return with_execution ? aborted(*std::move(with_execution), abort, now) : with_execution;
}

Result<Task> retried(Task task, int attempts, Instant now) {
  if (state_of(task) != TaskState::failed) return not_allowed(task, "be retried");
  const int so_far = static_cast<int>(task.executions.size());
  if (attempts < 1 || so_far + attempts > kMostAttempts) {
    return fail(Code::invalid, "task " + task.spec.id + " has had " + std::to_string(so_far) +
                                   " attempts; between 1 and " + std::to_string(std::max(kMostAttempts - so_far, 0)) +
                                   " more can be given");
  }
  // The reason still tells that it was cancelled; the mark would forbid what is now asked for.
  if (!task.executions.empty()) task.executions.back().final = false;
  task.spec.retry.max_attempts = so_far + attempts;
  task.spec.run_at = now;
  task.updated_at = now;
  return task;
}

Seconds backoff_after(const RetryPolicy& policy, std::string_view task_id, int attempt) {
  std::int64_t delay = std::min(policy.backoff, policy.most_backoff).count();
  for (int i = 1; i < attempt && delay > 0 && delay < policy.most_backoff.count(); ++i) delay *= 2;
  delay = std::min<std::int64_t>(delay, policy.most_backoff.count());
  if (delay <= 0) return Seconds(0);
  const std::int64_t jitter = delay / 2;
  const auto draw = leading_u64(sha256({task_id, "\n", std::to_string(attempt)}));
  return Seconds(delay - jitter + static_cast<std::int64_t>(draw % (static_cast<std::uint64_t>(jitter) + 1)));
}

std::int64_t rank_of(Instant ready, int priority, Seconds ageing) {
  return epoch_seconds(ready) - priority * ageing.count();
}

}  // namespace kron
