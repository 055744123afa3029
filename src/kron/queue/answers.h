#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kron/env/clock.h"
#include "kron/queue/admission.h"
#include "kron/queue/held_lease.h"
#include "kron/queue/task_queue.h"

// What every queue answers alike, whatever it keeps its tasks in.
namespace kron {

Error no_such_task(std::string_view task_id);
Error no_such_execution(std::string_view exec_id);
Error unique_key_is_taken(const Task& task, std::string_view holder);

// Of a task whose last execution has just been leased.
Lease lease_of(const Task& task);

// The parts of a request that need no task to be judged by.
Status check_commit(const CommitRequest& request);

struct FollowUpPlan {
  std::vector<SubmitAnswer> answers;  // one for each follow-up
  std::vector<NewTask> created;       // those that were accepted
};
// Code conflict when one has the id of another task.
Result<FollowUpPlan> plan_follow_ups(std::vector<NewTask> follow_ups, Admission& admission);

Abort abort_of(const FailRequest& request);

// The state of a task, or that in which the next expire() will leave it when its lease or its time has run out: what a
// worker is told who comes too late to say that its attempt failed.
TaskState state_after_expiry(const Task& task, const std::optional<HeldLease>& held, const Clock& clock);

// Why a task is not to be cancelled; nothing when it may be.
std::optional<CancelOutcome> refusal_to_cancel(const Task& task);

bool matches(const TaskFilter& filter, const Task& task);

// Whether a task that is over goes.
bool is_pruned_by(const PruneRequest& request, const Task& task);

}  // namespace kron
