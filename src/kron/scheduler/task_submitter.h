#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/env/process_runner.h"
#include "kron/ledger/task_to_submit.h"

namespace kron {

// Runs that are tasks, known by their run id. All on the scheduler's thread. Like a process at its gate, a task is held
// until its start is durable; the death of this process forgets what is held.
class TaskSubmitter {
 public:
  virtual ~TaskSubmitter() = default;

  // Nothing is submitted before release.
  virtual void hold(std::string_view run_id, TaskToSubmit task) = 0;

  // Submits what is held. The run has ended when the task is durably in the queue, or was refused: drain_exits tells. A
  // daemon that dies in between leaves a record of an active run, and the next one resumes it.
  virtual void release(std::string_view run_id) = 0;

  // Forgets what is held; no exit is reported for it.
  virtual void abandon(std::string_view run_id) = 0;

  // After a restart: submits the task of a run that an earlier daemon let go, whether or not the queue has it already.
  virtual void resume(std::string_view run_id, TaskToSubmit task) = 0;

  // Everything that ended since the last call, in the order it ended; each end once.
  virtual std::vector<RunExit> drain_exits() = 0;
};

}  // namespace kron
