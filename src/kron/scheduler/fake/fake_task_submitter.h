#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/scheduler/task_submitter.h"

namespace kron::testing {

// A queue that takes what is submitted when a test lets it. Like a real one it takes each id once.
class FakeTaskSubmitter : public TaskSubmitter {
 public:
  void hold(std::string_view run_id, TaskToSubmit task) override { held_[std::string(run_id)] = std::move(task); }
  void release(std::string_view run_id) override {
    const auto held = held_.find(run_id);
    if (held == held_.end()) return;
    due_.emplace_back(held->first, std::move(held->second));
    held_.erase(held);
  }
  void abandon(std::string_view run_id) override { held_.erase(std::string(run_id)); }
  void resume(std::string_view run_id, TaskToSubmit task) override { due_.emplace_back(run_id, std::move(task)); }
  std::vector<RunExit> drain_exits() override {
    std::vector<RunExit> exits;
    if (is_full) return exits;
    for (auto& [run_id, task] : std::exchange(due_, {})) {
      exits.push_back({run_id, 0, "submitted as task " + task.id});
      queue.try_emplace(task.id, task);
    }
    return exits;
  }

  void daemon_dies() {
    held_.clear();
    due_.clear();
  }
  [[nodiscard]] bool holds(std::string_view run_id) const { return held_.find(run_id) != held_.end(); }

  bool is_full = false;  // what is released waits
  std::map<std::string, TaskToSubmit> queue;

 private:
  std::map<std::string, TaskToSubmit, std::less<>> held_;
  std::vector<std::pair<std::string, TaskToSubmit>> due_;
};

}  // namespace kron::testing
