#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kron/env/process_runner.h"
#include "kron/scheduler/task_submitter.h"
#include "kron/state/record.h"

namespace kron {

// What a run does: it executes a process, or submits a task.
using RunWork = std::variant<RunSpec, TaskToSubmit>;

// Starts runs of either kind: first held, then, when its record is durable, released. On the scheduler's thread.
class Launcher {
 public:
  // Both outlive it. Without `tasks` no task can be started.
  Launcher(ProcessRunner& processes, TaskSubmitter* tasks) : processes_(processes), tasks_(tasks) {}

  // Held when this returns; notes in `run`, whose run id is set, which process or task it is. A failure leaves nothing
  // behind.
  Status hold(const RunWork& work, ActiveExecution& run);

  // Lets a held run go. A failure means that it never ran and never will; its exit still comes by drain_exits.
  Status release(std::string_view run_id);

  // Ends a held run, which then has done nothing; no exit is reported for it.
  void abandon(std::string_view run_id);

  // After a restart: takes up a run that an earlier daemon let go. Nothing when its end will come by drain_exits, else
  // how it ended, as far as is known. `work` is what a run of the job would do today.
  std::optional<RunExit> adopt(const RunWork& work, const ActiveExecution& run);

  // Everything that ended since the last call; each end once.
  std::vector<RunExit> drain_exits();

 private:
  ProcessRunner& processes_;
  TaskSubmitter* tasks_;
  std::set<std::string, std::less<>> held_tasks_;
};

}  // namespace kron
