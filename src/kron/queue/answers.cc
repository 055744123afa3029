#include "kron/queue/answers.h"

#include "kron/base/text.h"

namespace kron {

Error no_such_task(std::string_view task_id) {
  return {Code::not_found, "there is no task " + quoted(task_id, 150) + "; `kron task list` shows which there are"};
}

Error no_such_execution(std::string_view exec_id) {
  return {Code::not_found, "there is no execution " + quoted(exec_id, 170) + "; lease a task to get one"};
}

Error unique_key_is_taken(const Task& task, std::string_view holder) {
  return {Code::conflict, "task " + task.spec.id + " cannot be retried: task " + std::string(holder) +
                              ", which is not over, has its unique key " + quoted(task.spec.unique_key)};
}

Lease lease_of(const Task& task) {
  const Execution& execution = task.executions.back();
  return {.key = {execution.exec_id, execution.token},
          .task_id = task.spec.id,
          .type = task.spec.type,
          .data = task.spec.data,
          .attempt = execution.attempt,
          .timeout = task.spec.timeout,
          .lease_expires_at = execution.lease_expires_at};
}

Status check_commit(const CommitRequest& request) {
  if (Status good = check_result(request.result); !good) return good;
  if (Status good = check_staged_files(request.files); !good) return good;
  return check_published_names(request.files);
}

Result<FollowUpPlan> plan_follow_ups(std::vector<NewTask> follow_ups, Admission& admission) {
  FollowUpPlan plan;
  for (const NewTask& task : follow_ups) {
    auto answer = admission.admit(task);
    if (!answer) return fail(answer.error());
    if (answer->outcome == SubmitOutcome::conflict) {
      return fail(Code::conflict,
                  "nothing was committed: another task with another payload has the follow-up's id " + task.id,
                  "followUps");
    }
    if (answer->outcome == SubmitOutcome::accepted) plan.created.push_back(task);
    plan.answers.push_back(*std::move(answer));
  }
  return plan;
}

Abort abort_of(const FailRequest& request) {
  std::string reason = request.reason.empty() ? "failed" : request.reason.substr(0, kMostKeyBytes);
  if (!is_valid_utf8(reason)) reason = quoted(reason, kMostKeyBytes);
  return {.reason = std::move(reason), .counts = request.counts, .backs_off = request.backs_off};
}

TaskState state_after_expiry(const Task& task, const std::optional<HeldLease>& held, const Clock& clock) {
  if (!held || !held->has_ended(clock.boot_time())) return state_of(task);
  const auto after = aborted(task, held->abort(), now(clock));
  return state_of(after ? *after : task);
}

std::optional<CancelOutcome> refusal_to_cancel(const Task& task) {
  const TaskState state = state_of(task);
  if (state == TaskState::pending) return std::nullopt;
  if (state != TaskState::running) return CancelOutcome::already_over;
  if (task.executions.back().status == ExecutionStatus::committed) return CancelOutcome::committed;
  return std::nullopt;
}

bool matches(const TaskFilter& filter, const Task& task) {
  return (!filter.state || state_of(task) == *filter.state) && (filter.type.empty() || task.spec.type == filter.type);
}

bool is_pruned_by(const PruneRequest& request, const Task& task) {
  return task.updated_at < request.over_before && (!request.state || state_of(task) == *request.state);
}

}  // namespace kron
