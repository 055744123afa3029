#include "kron/cluster/active_runs.h"

#include <algorithm>
#include <utility>

#include "kron/cluster/rundata.h"

namespace kron::cluster {
namespace {

ActiveExecution execution_of(const Claim& claim) {
  ActiveExecution run;
  run.period = claim.grant.period;
  run.chosen = claim.grant.chosen;
  run.trigger = claim.grant.trigger;
  run.run_id = claim.grant.run_id;
  if (const auto start = time_of(claim.grant.start_time)) run.started_at = std::chrono::floor<Seconds>(*start);
  // PID 0 would be a task.
  run.pid = claim.process.pid == 0 ? -1 : claim.process.pid;
  run.process_start = claim.process.start_time;
  run.boot_id = claim.process.boot_id;
  return run;
}

}  // namespace

void ActiveRuns::add(ActiveRun run) {
  const std::string run_id = run.claim.grant.run_id;
  const Change change{false, run.is_locked() ? run.claim.grant.ttl : Nanoseconds(0)};
  {
    const std::lock_guard lock(mutex_);
    runs_.insert_or_assign(run_id, std::move(run));
    changes_.added.push_back(run_id);
  }
  if (changed_) changed_(change);
}

bool ActiveRuns::end(RunExit exit, bool is_told) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(exit.run_id);
    if (found == runs_.end()) return false;
    found->second.is_told = found->second.is_told || is_told;
    if (found->second.exit) return true;
    changes_.ended.push_back(exit.run_id);
    found->second.exit = std::move(exit);
    ++ended_;
  }
  if (changed_) changed_({.is_end = true});
  return true;
}

void ActiveRuns::told(std::string_view run_id) {
  with(run_id, [](ActiveRun& run) { run.is_told = true; });
}

// The file goes first: if we die here, the next daemon must not find a run that is over and told.
void ActiveRuns::remove(std::string_view run_id) {
  claims_.remove(run_id);
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(run_id);
  if (found == runs_.end()) return;
  if (found->second.exit && --ended_ == 0) all_confirmed_.notify_all();
  runs_.erase(found);
}

bool ActiveRuns::with(std::string_view run_id, const std::function<void(ActiveRun&)>& look) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(run_id);
  if (found == runs_.end()) return false;
  look(found->second);
  return true;
}

void ActiveRuns::for_each(const std::function<void(ActiveRun&)>& look) {
  const std::lock_guard lock(mutex_);
  for (auto& [run_id, run] : runs_) look(run);
}

ActiveRuns::Changes ActiveRuns::take_changes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(changes_, {});
}

std::vector<ActiveExecution> ActiveRuns::of(std::string_view job) const {
  std::vector<ActiveExecution> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [run_id, run] : runs_) {
    if (!run.is_told && run.claim.grant.job == job) all.push_back(execution_of(run.claim));
  }
  std::ranges::stable_sort(all, {}, &ActiveExecution::started_at);
  return all;
}

bool ActiveRuns::has(std::string_view run_id) const {
  const std::lock_guard lock(mutex_);
  return runs_.contains(run_id);
}

std::size_t ActiveRuns::size() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

bool ActiveRuns::wait_for_ends(Nanoseconds patience) {
  std::unique_lock lock(mutex_);
  return all_confirmed_.wait_for(lock, patience, [this] { return ended_ == 0; });
}

std::size_t ActiveRuns::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace kron::cluster
