#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kron/queue/task.h"

// What may happen to a task, as pure functions from the task before to the task after. The table of core/execution.h
// decides what may follow what; here is what goes with each step. INV_003.
namespace kron {

TaskState state_of(const Task& task);

// FAILED because somebody cancelled it: shown and counted apart from what failed by itself.
bool is_cancelled(const Task& task);

// How many times it was leased: a cancel of a task that waits is on record as an attempt, and is none.
int attempts_of(const Task& task);

// The directory of seed 002 a task in this state lives in; the order is that of progress.
enum class TaskDirectory : std::uint8_t { pending, running, completed };
TaskDirectory directory_of(TaskState state);
inline TaskDirectory directory_of(const Task& task) { return directory_of(state_of(task)); }
std::string_view name_of(TaskDirectory place);        // "pending" …
std::string_view state_word_of(TaskDirectory place);  // "PENDING", "RUNNING", "COMPLETED"

// A new task, as submitted at `now`.
Task new_task(NewTask spec, std::uint64_t sequence, Instant now);

// The earliest time the next attempt may begin. A back-off, or a submission, of a time that is yet to come was counted
// on a clock that has been set back since: it holds nothing up.
Instant ready_at(const Task& task, Instant now);

// What a worker shows for its lease.
struct LeaseKey {
  std::string exec_id;
  std::uint64_t token = 0;
};

enum class LeaseOutcome : std::uint8_t {
  accepted,
  lease_lost,  // expired, aborted, or another's: what it did does not count
  duplicate,   // an execution of this task has committed: there is nothing left to do
};
std::string_view name_of(LeaseOutcome outcome);  // "accepted", "lease_lost", "duplicate"

// INV_001: whether the execution of `key` may still be moved. `has_expired` is what the clock says of the last one.
// Code not_found when the task has no such execution.
Result<LeaseOutcome> judge(const Task& task, const LeaseKey& key, bool has_expired);

struct LeaseGrant {
  std::string owner;
  std::uint64_t token = 0;
  Seconds term{60};
  Holder holder = Holder::outside;
  std::string boot_id = {};  // the present boot …
  Nanoseconds deadline{0};   // … and when in it the term ends, on Clock::boot_time
};

struct CommitParts {
  std::string result;
  std::vector<NewTask> follow_ups;
  std::string staging;
};

struct Abort {
  std::string reason;
  bool final = false;     // no attempt follows
  bool counts = true;     // against max_attempts
  bool backs_off = true;  // else the next attempt may begin at once
};

// Each fails with code conflict when the table does not allow it, and then nothing has changed.
Result<Task> leased(Task task, const LeaseGrant& grant, Instant now);
Result<Task> started(Task task, Instant now);
Result<Task> committed(Task task, CommitParts parts, Instant now);
Result<Task> finished(Task task, Instant now);
Result<Task> aborted(Task task, const Abort& abort, Instant now);

// A task that waits or runs becomes FAILED; one that waits gets an execution that says so.
Result<Task> cancelled(Task task, Instant now);

// A FAILED task gets `attempts` more.
Result<Task> retried(Task task, int attempts, Instant now);

// How long to wait after attempt number `attempt` (from 1) failed: backoff·2^(attempt-1), at most most_backoff, of
// which the last half is jitter drawn from the id and the attempt: the same on every machine, another for every task.
Seconds backoff_after(const RetryPolicy& policy, std::string_view task_id, int attempt);

// Priority with ageing: each `ageing` of waiting is worth one step of priority. Because all age alike, the order of two
// tasks never changes, and one number tells it: lower goes first.
std::int64_t rank_of(Instant ready_at, int priority, Seconds ageing);

}  // namespace kron
