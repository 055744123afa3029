#include "kron/queue/memory_queue.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "kron/base/text.h"
#include "kron/queue/answers.h"

namespace kron {
namespace {

template <class Answer, class Request>
std::vector<Result<Answer>> one_by_one(std::span<const Request> requests, auto&& verb) {
  std::vector<Result<Answer>> answers;
  for (const Request& request : requests) answers.push_back(verb(request));
  return answers;
}

// Everything at once, when it is first asked.
class WholePage : public ListScan {
 public:
  explicit WholePage(std::function<TaskPage()> read) : read_(std::move(read)) {}
  Result<std::optional<TaskPage>> next_part() override { return read_(); }

 private:
  std::function<TaskPage()> read_;
};

class WholeRemoval : public RemovalScan {
 public:
  explicit WholeRemoval(std::function<std::size_t()> remove) : remove_(std::move(remove)) {}
  Result<bool> next_part() override {
    removed_ += remove_();
    return true;
  }
  std::size_t removed() const override { return removed_; }

 private:
  std::function<std::size_t()> remove_;
  std::size_t removed_ = 0;
};

}  // namespace

MemoryQueue::MemoryQueue(const Clock& clock, QueueOptions options) : clock_(clock), options_(std::move(options)) {}

Result<Task*> MemoryQueue::find(std::string_view task_id) {
  const auto found = tasks_.find(task_id);
  if (found == tasks_.end()) return fail(no_such_task(task_id));
  return &found->second;
}

Result<Task*> MemoryQueue::find_by_exec_id(std::string_view exec_id) {
  const auto task_id = task_of_exec_id(exec_id);
  if (!task_id) return fail(no_such_execution(exec_id));
  const auto found = tasks_.find(*task_id);
  if (found == tasks_.end()) return fail(no_such_execution(exec_id));
  return &found->second;
}

// A transition that was refused leaves the task alone; one that ended the attempt gives the lease back.
Result<Task*> MemoryQueue::put(Task& target, Result<Task> after) {
  if (!after) return fail(after.error());
  target = *std::move(after);
  seen_ready_.erase(target.spec.id);
  if (state_of(target) != TaskState::running) held_.erase(target.spec.id);
  if (directory_of(target) == TaskDirectory::completed) {
    ++(is_cancelled(target) ? cancelled_[target.spec.type] : ended_[{target.spec.type, state_of(target)}]);
  }
  return &target;
}

Result<LeaseOutcome> MemoryQueue::judge_now(const Task& task, const LeaseKey& key) const {
  const auto held = held_.find(task.spec.id);
  return judge(task, key, held == held_.end() || held->second.has_ended(clock_.boot_time()));
}

std::vector<Result<SubmitAnswer>> MemoryQueue::submit(std::span<const NewTask> tasks) {
  return one_by_one<SubmitAnswer>(tasks, [&](const NewTask& task) { return submit_one(task); });
}

std::optional<std::string> MemoryQueue::holder_of(std::string_view unique_key, std::string_view leaving_out) const {
  for (const auto& [id, task] : tasks_) {
    if (task.spec.unique_key == unique_key && id != leaving_out && directory_of(task) != TaskDirectory::completed)
      return id;
  }
  return std::nullopt;
}

Result<SubmitAnswer> MemoryQueue::submit_one(const NewTask& task) {
  auto good = checked(task);
  if (!good) return fail(good.error());
  Admission admission(
      [&](std::string_view id) -> Result<std::optional<NewTask>> {
        const auto found = tasks_.find(id);
        return found == tasks_.end() ? std::nullopt : std::optional(found->second.spec);
      },
      [&](std::string_view key) { return holder_of(key, ""); });
  auto answer = admission.admit(*good);
  if (answer && answer->outcome == SubmitOutcome::accepted) {
    tasks_.emplace(task.id, new_task(*std::move(good), ++last_number_, now(clock_)));
  }
  return answer;
}

bool MemoryQueue::has_room_for(std::string_view type) const {
  const auto limit = std::ranges::find(options_.concurrency_limits, type, &std::pair<std::string, int>::first);
  if (limit == options_.concurrency_limits.end()) return true;
  const auto running = std::ranges::count_if(tasks_, [&](const auto& entry) {
    return entry.second.spec.type == type && state_of(entry.second) == TaskState::running;
  });
  return running < limit->second;
}

void MemoryQueue::note_ready() {
  for (const auto& [id, task] : tasks_) {
    if (state_of(task) == TaskState::pending && ready_at(task, now(clock_)) <= now(clock_)) seen_ready_.insert(id);
  }
}

Task* MemoryQueue::most_urgent(const LeaseRequest& request) {
  const auto key = [&](const Task& task) {
    const Instant ready = ready_at(task, now(clock_));
    return std::tuple(rank_of(ready, task.spec.priority, options_.ageing), ready, task.sequence, task.spec.id);
  };
  Task* best = nullptr;
  for (auto& [id, task] : tasks_) {
    const auto& types = request.types;
    const bool is_wanted = types.empty() || std::ranges::find(types, task.spec.type) != types.end();
    if (!is_wanted || state_of(task) != TaskState::pending || ready_at(task, now(clock_)) > now(clock_)) continue;
    if (has_room_for(task.spec.type) && (best == nullptr || key(task) < key(*best))) best = &task;
  }
  return best;
}

std::vector<Result<std::vector<Lease>>> MemoryQueue::lease(std::span<const LeaseRequest> requests) {
  return one_by_one<std::vector<Lease>>(requests, [&](const LeaseRequest& request) { return lease_for(request); });
}

Result<std::vector<Lease>> MemoryQueue::lease_for(const LeaseRequest& request) {
  if (Status good = check_lease_request(request); !good) return fail(good.error());
  note_ready();
  std::vector<Lease> leases;
  while (leases.size() < request.count) {
    Task* task = most_urgent(request);
    if (task == nullptr) break;
    auto after = leased(*task, {request.worker, ++last_number_, request.term, request.holder}, now(clock_));
    if (after && request.starts) after = started(*std::move(after), now(clock_));
    if (const auto done = put(*task, std::move(after)); !done) return fail(done.error());
    HeldLease held = HeldLease::from(clock_.boot_time(), request.term);
    if (request.starts) held.start(clock_.boot_time(), task->spec.timeout);
    held_.insert_or_assign(task->spec.id, held);
    leases.push_back(lease_of(*task));
  }
  return leases;
}

std::vector<Result<LeaseOutcome>> MemoryQueue::start(std::span<const LeaseKey> keys) {
  return one_by_one<LeaseOutcome>(keys, [&](const LeaseKey& key) { return start_one(key); });
}

Result<LeaseOutcome> MemoryQueue::start_one(const LeaseKey& key) {
  const auto task = find_by_exec_id(key.exec_id);
  if (!task) return fail(task.error());
  auto outcome = judge_now(**task, key);
  if (!outcome || *outcome != LeaseOutcome::accepted) return outcome;
  if ((*task)->executions.back().status == ExecutionStatus::in_progress) return outcome;
  if (const auto done = put(**task, started(**task, now(clock_))); !done) return fail(done.error());
  held_.find((*task)->spec.id)->second.start(clock_.boot_time(), (*task)->spec.timeout);
  return outcome;
}

Result<LeaseOutcome> MemoryQueue::renew(const LeaseKey& key) {
  const auto task = find_by_exec_id(key.exec_id);
  if (!task) return fail(task.error());
  auto outcome = judge_now(**task, key);
  if (outcome && *outcome == LeaseOutcome::accepted) {
    held_.find((*task)->spec.id)->second.renew(clock_.boot_time());
  }
  return outcome;
}

std::vector<Result<CommitAnswer>> MemoryQueue::commit(std::span<const CommitRequest> requests) {
  return one_by_one<CommitAnswer>(requests, [&](const CommitRequest& request) { return commit_one(request); });
}

Result<CommitAnswer> MemoryQueue::commit_one(const CommitRequest& request) {
  if (Status good = check_commit(request); !good) return fail(good.error());
  const auto task = find_by_exec_id(request.key.exec_id);
  if (!task) return fail(task.error());
  if (!has_boundary_) {
    effects_[(*task)->spec.id].push_back(request.files);
    return CommitAnswer{};
  }
  const auto outcome = judge_now(**task, request.key);
  if (!outcome) return fail(outcome.error());
  if (*outcome != LeaseOutcome::accepted) return CommitAnswer{*outcome, {}};
  return apply_commit(**task, request);
}

Result<CommitAnswer> MemoryQueue::apply_commit(Task& task, const CommitRequest& request) {
  auto follow_ups = checked_follow_ups(request.follow_ups);
  if (!follow_ups) return fail(follow_ups.error());
  Admission admission(
      [&](std::string_view id) -> Result<std::optional<NewTask>> {
        const auto found = tasks_.find(id);
        return found == tasks_.end() ? std::nullopt : std::optional(found->second.spec);
      },
      [&](std::string_view key) { return holder_of(key, task.spec.id); });
  auto plan = plan_follow_ups(*std::move(follow_ups), admission);
  if (!plan) return fail(plan.error());
  auto after = committed(task, {request.result, plan->created, ""}, now(clock_));
  if (after) after = finished(*std::move(after), now(clock_));
  if (const auto done = put(task, std::move(after)); !done) return fail(done.error());
  effects_[task.spec.id].push_back(request.files);
  for (NewTask& spec : plan->created) {
    const std::string id = spec.id;
    tasks_.emplace(id, new_task(std::move(spec), ++last_number_, now(clock_)));
  }
  return CommitAnswer{LeaseOutcome::accepted, std::move(plan->answers)};
}

std::vector<Result<FailAnswer>> MemoryQueue::fail_attempts(std::span<const FailRequest> requests) {
  return one_by_one<FailAnswer>(requests, [&](const FailRequest& request) { return fail_one(request); });
}

Result<FailAnswer> MemoryQueue::fail_one(const FailRequest& request) {
  const auto task = find_by_exec_id(request.key.exec_id);
  if (!task) return fail(task.error());
  const auto outcome = judge_now(**task, request.key);
  if (!outcome) return fail(outcome.error());
  if (*outcome == LeaseOutcome::accepted) {
    const auto done = put(**task, aborted(**task, abort_of(request), now(clock_)));
    if (!done) return fail(done.error());
  }
  const auto held = held_.find((*task)->spec.id);
  const auto lease = held != held_.end() ? std::optional(held->second) : std::nullopt;
  return FailAnswer{*outcome, state_after_expiry(**task, lease, clock_)};
}

Result<CancelOutcome> MemoryQueue::cancel(std::string_view task_id) {
  const auto task = find(task_id);
  if (!task) return fail(task.error());
  if (const auto refusal = refusal_to_cancel(**task)) return *refusal;
  if (const auto done = put(**task, cancelled(**task, now(clock_))); !done) return fail(done.error());
  return CancelOutcome::cancelled;
}

Result<RetryOutcome> MemoryQueue::retry(std::string_view task_id, int attempts) {
  const auto task = find(task_id);
  if (!task) return fail(task.error());
  if (state_of(**task) != TaskState::failed) return RetryOutcome::not_failed;
  if (const auto holder = holder_of((*task)->spec.unique_key, task_id); holder && !(*task)->spec.unique_key.empty()) {
    return fail(unique_key_is_taken(**task, *holder));
  }
  if (const auto done = put(**task, retried(**task, attempts, now(clock_))); !done) return fail(done.error());
  return RetryOutcome::retried;
}

Result<std::vector<Expired>> MemoryQueue::expire() {
  std::vector<Expired> expired;
  for (auto& [id, task] : tasks_) {
    const auto held = held_.find(id);
    if (held == held_.end() || !held->second.has_ended(clock_.boot_time())) continue;
    const auto done = put(task, aborted(task, held->second.abort(), now(clock_)));
    if (!done) return fail(done.error());
    expired.push_back({id, task.executions.back().exec_id, task.executions.back().reason, state_of(task)});
  }
  return expired;
}

Result<Task> MemoryQueue::get(std::string_view task_id) {
  const auto task = find(task_id);
  if (!task) return fail(task.error());
  return **task;
}

TaskPage MemoryQueue::page_of(const TaskFilter& filter) const {
  TaskPage page;
  for (auto at = tasks_.upper_bound(filter.after); at != tasks_.end(); ++at) {
    if (!matches(filter, at->second)) continue;
    if (page.size() == filter.limit) {
      page.next = page.back().spec.id;
      break;
    }
    page.push_back(at->second);
  }
  return page;
}

std::unique_ptr<ListScan> MemoryQueue::begin_list(const TaskFilter& filter) {
  return std::make_unique<WholePage>([this, filter] { return page_of(filter); });
}

std::size_t MemoryQueue::remove_old(const PruneRequest& request) {
  std::size_t removed = 0;
  for (auto at = tasks_.begin(); at != tasks_.end() && removed < request.limit;) {
    const bool goes = directory_of(at->second) == TaskDirectory::completed && is_pruned_by(request, at->second);
    at = goes ? tasks_.erase(at) : std::next(at);
    removed += goes ? 1 : 0;
  }
  return removed;
}

std::size_t MemoryQueue::remove_beyond(std::size_t most) {
  std::vector<std::pair<Instant, std::string>> over;
  for (const auto& [id, task] : tasks_) {
    if (directory_of(task) == TaskDirectory::completed) over.emplace_back(task.updated_at, id);
  }
  std::ranges::sort(over);
  over.resize(over.size() - std::min(over.size(), most));
  for (const auto& [time, id] : over) tasks_.erase(id);
  return over.size();
}

std::unique_ptr<RemovalScan> MemoryQueue::begin_prune(const PruneRequest& request) {
  return std::make_unique<WholeRemoval>([this, request] { return remove_old(request); });
}

std::unique_ptr<RemovalScan> MemoryQueue::begin_retention(const TaskRetention& keeps, Instant now) {
  return std::make_unique<WholeRemoval>([this, keeps, now] {
    const Instant before = now - std::min(keeps.age, Seconds(now.time_since_epoch()));
    const std::size_t removed = remove_old({.over_before = before, .limit = tasks_.size()});
    return removed + remove_beyond(keeps.most);
  });
}

Result<TaskCounts> MemoryQueue::counts() {
  TaskCounts counts;
  for (const auto& [id, task] : tasks_) {
    counts.pending += state_of(task) == TaskState::pending ? 1 : 0;
    counts.running += state_of(task) == TaskState::running ? 1 : 0;
  }
  return counts;
}

Result<TaskSummary> MemoryQueue::summary() {
  TaskSummary summary{*counts()};
  std::map<std::pair<TaskState, std::string>, std::size_t> waiting_or_running;
  for (const auto& [id, task] : tasks_) {
    const TaskState state = state_of(task);
    if (directory_of(state) != TaskDirectory::completed) ++waiting_or_running[{state, task.spec.type}];
    const Seconds waited = now(clock_) - ready_at(task, now(clock_));
    if (state == TaskState::pending && waited >= Seconds(0)) {
      summary.oldest_pending = std::max(summary.oldest_pending.value_or(waited), waited);
    }
  }
  for (const auto& [of, count] : waiting_or_running) summary.types.push_back({of.first, of.second, count});
  for (const auto& [of, count] : ended_) summary.ended.push_back({of.second, of.first, count});
  for (const auto& [type, count] : cancelled_) summary.cancelled.push_back({TaskState::failed, type, count});
  return summary;
}

std::optional<Instant> MemoryQueue::next_ready() const {
  std::optional<Instant> earliest;
  for (const auto& [id, task] : tasks_) {
    if (state_of(task) != TaskState::pending || seen_ready_.contains(id)) continue;
    const Instant ready = ready_at(task, now(clock_));
    earliest = std::min(earliest.value_or(ready), ready);
  }
  return earliest;
}

std::optional<Nanoseconds> MemoryQueue::next_expiry() const {
  std::optional<Nanoseconds> earliest;
  for (const auto& [id, held] : held_) earliest = std::min(earliest.value_or(held.ends()), held.ends());
  return earliest;
}

const std::vector<std::vector<StagedFile>>& MemoryQueue::effects_of(std::string_view task_id) {
  return effects_[std::string(task_id)];
}

}  // namespace kron
