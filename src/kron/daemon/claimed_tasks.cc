#include "kron/daemon/claimed_tasks.h"

#include <utility>

namespace kron::daemon {

void ClaimedTasks::hold(std::string_view run_id, TaskToSubmit task) {
  held_.insert_or_assign(std::string(run_id), std::move(task.id));
}

void ClaimedTasks::release(std::string_view run_id) {
  const auto held = held_.find(run_id);
  if (held == held_.end()) return;
  end(held->first, held->second);
  held_.erase(held);
}

void ClaimedTasks::abandon(std::string_view run_id) {
  const auto held = held_.find(run_id);
  if (held != held_.end()) held_.erase(held);
}

// A run that an earlier daemon let go was over when its claim was made.
void ClaimedTasks::resume(std::string_view run_id, TaskToSubmit task) { end(run_id, task.id); }

void ClaimedTasks::end(std::string_view run_id, const std::string& task_id) {
  exits_.push_back({std::string(run_id), 0, "submitted as task " + task_id});
  on_exits_();
}

std::vector<RunExit> ClaimedTasks::drain_exits() { return std::exchange(exits_, {}); }

}  // namespace kron::daemon
