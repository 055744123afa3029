#include "kron/scheduler/launcher.h"

#include <algorithm>
#include <iterator>

namespace kron {

Status Launcher::hold(const RunWork& work, ActiveExecution& run) {
  if (const auto* task = std::get_if<TaskToSubmit>(&work)) {
    if (tasks_ == nullptr) return fail(Code::conflict, "there is no queue to submit the task " + task->id + " to");
    tasks_->hold(run.run_id, *task);
    held_tasks_.insert(run.run_id);
    run.task_id = task->id;
    return {};
  }
  const Result<ProcessIdentity> process = processes_.start(std::get<RunSpec>(work));
  if (!process) return fail(process.error());
  run.pid = process->pid;
  run.process_start = process->start_time;
  run.boot_id = process->boot_id;
  return {};
}

Status Launcher::release(std::string_view run_id) {
  const auto task = held_tasks_.find(run_id);
  if (task == held_tasks_.end()) return processes_.open_gate(run_id);
  held_tasks_.erase(task);
  tasks_->release(run_id);
  return {};
}

void Launcher::abandon(std::string_view run_id) {
  const auto task = held_tasks_.find(run_id);
  if (task == held_tasks_.end()) return processes_.abandon(run_id);
  held_tasks_.erase(task);
  tasks_->abandon(run_id);
}

std::optional<RunExit> Launcher::adopt(const RunWork& work, const ActiveExecution& run) {
  if (!run.is_task()) {
    return processes_.adopt(run.run_id, {static_cast<pid_t>(run.pid), run.process_start, run.boot_id});
  }
  const auto* task = std::get_if<TaskToSubmit>(&work);
  if (task == nullptr || tasks_ == nullptr) {
    const std::string which = run.task_id.empty() ? "it" : "task " + run.task_id;
    return RunExit{run.run_id, std::nullopt, "the job submits no task any more; look for " + which + " in the queue"};
  }
  tasks_->resume(run.run_id, *task);
  return std::nullopt;
}

std::vector<RunExit> Launcher::drain_exits() {
  std::vector<RunExit> exits = processes_.drain_exits();
  if (tasks_ != nullptr) std::ranges::move(tasks_->drain_exits(), std::back_inserter(exits));
  return exits;
}

}  // namespace kron
