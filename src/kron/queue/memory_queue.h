#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kron/env/clock.h"
#include "kron/queue/held_lease.h"
#include "kron/queue/task_queue.h"

namespace kron {

// A queue that keeps nothing when it ends, written to be obviously right: it looks at every task for every answer. For
// tests, and as the model other queues are compared with.
class MemoryQueue : public TaskQueue {
 public:
  explicit MemoryQueue(const Clock& clock, QueueOptions options = {});

  using TaskQueue::commit;
  using TaskQueue::lease;
  using TaskQueue::start;
  using TaskQueue::submit;
  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override;
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override;
  std::vector<Result<LeaseOutcome>> start(std::span<const LeaseKey> keys) override;
  Result<LeaseOutcome> renew(const LeaseKey& key) override;
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override;
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override;
  Result<CancelOutcome> cancel(std::string_view task_id) override;
  Result<RetryOutcome> retry(std::string_view task_id, int attempts) override;
  Result<std::vector<Expired>> expire() override;
  Result<Task> get(std::string_view task_id) override;
  std::unique_ptr<ListScan> begin_list(const TaskFilter& filter) override;
  std::unique_ptr<RemovalScan> begin_prune(const PruneRequest& request) override;
  std::unique_ptr<RemovalScan> begin_retention(const TaskRetention& keeps, Instant now) override;
  Result<TaskCounts> counts() override;
  Result<TaskSummary> summary() override;
  std::optional<Nanoseconds> next_expiry() const override;
  std::optional<Instant> next_ready() const override;
  bool has_unfinished() const override { return false; }
  const std::optional<Error>& stopped() const override { return stopped_; }

  // The staged files of every commit that was accepted for the task; more than one is FM_001.
  const std::vector<std::vector<StagedFile>>& effects_of(std::string_view task_id);

 private:
  friend class CommitBoundary;  // only a test defines it, to see what happens without

  Result<Task*> find(std::string_view task_id);
  Result<Task*> find_by_exec_id(std::string_view exec_id);
  Result<LeaseOutcome> judge_now(const Task& task, const LeaseKey& key) const;
  void note_ready();
  Task* most_urgent(const LeaseRequest& request);
  bool has_room_for(std::string_view type) const;
  Result<SubmitAnswer> submit_one(const NewTask& task);
  Result<std::vector<Lease>> lease_for(const LeaseRequest& request);
  Result<LeaseOutcome> start_one(const LeaseKey& key);
  Result<CommitAnswer> commit_one(const CommitRequest& request);
  Result<CommitAnswer> apply_commit(Task& task, const CommitRequest& request);
  Result<FailAnswer> fail_one(const FailRequest& request);
  Result<Task*> put(Task& target, Result<Task> after);
  std::optional<std::string> holder_of(std::string_view unique_key, std::string_view leaving_out) const;
  TaskPage page_of(const TaskFilter& filter) const;
  std::size_t remove_old(const PruneRequest& request);
  std::size_t remove_beyond(std::size_t most);

  const Clock& clock_;
  QueueOptions options_;
  bool has_boundary_ = true;
  std::uint64_t last_number_ = 0;  // of tokens and of the sequence
  std::map<std::string, Task, std::less<>> tasks_;
  std::map<std::string, HeldLease, std::less<>> held_;  // by task
  std::set<std::string, std::less<>> seen_ready_;       // tasks that wait and were ready when a lease was asked for
  // Since it was made: type and state of what ended, and type of what was cancelled.
  std::map<std::pair<std::string, TaskState>, std::size_t> ended_;
  std::map<std::string, std::size_t> cancelled_;
  std::optional<Error> stopped_;  // never: nothing that it needs can fail
  std::map<std::string, std::vector<std::vector<StagedFile>>, std::less<>> effects_;
};

}  // namespace kron
