#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kron/scheduler/task_submitter.h"

namespace kron::daemon {

// Tasks of a cluster's jobs. The claim that starts such a run has submitted its task too, in one step with the record,
// so there is nothing left to do when it is let go: the run has ended.
class ClaimedTasks : public TaskSubmitter {
 public:
  // `exits` is called when drain_exits has something.
  explicit ClaimedTasks(std::function<void()> exits) : on_exits_(std::move(exits)) {}

  void hold(std::string_view run_id, TaskToSubmit task) override;
  void release(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  void resume(std::string_view run_id, TaskToSubmit task) override;
  std::vector<RunExit> drain_exits() override;

 private:
  void end(std::string_view run_id, const std::string& task_id);

  std::function<void()> on_exits_;
  std::map<std::string, std::string, std::less<>> held_;  // run id -> task id
  std::vector<RunExit> exits_;
};

}  // namespace kron::daemon
