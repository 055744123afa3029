#pragma once

#include "kron/env/clock.h"
#include "task_client.h"

namespace kron::cli {

// A client that has the queue itself. Which it is, and what a lease needs besides, is its heir's to say.
class DirectTasks : public TaskClient {
 public:
  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override { return queue().submit(tasks); }
  Result<Task> get(std::string_view task_id) override { return queue().get(task_id); }
  Result<std::vector<Task>> list(const TaskFilter& filter) override { return queue().list(filter); }
  Result<RetryOutcome> retry(std::string_view task_id, int attempts) override {
    return queue().retry(task_id, attempts);
  }
  Result<CancelOutcome> cancel(std::string_view task_id) override { return queue().cancel(task_id); }
  Result<std::size_t> prune(const PruneRequest& request) override { return queue().prune(request); }
  Result<LeaseOutcome> renew(const LeaseKey& key) override { return queue().renew(key); }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    return queue().commit(requests);
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    return queue().fail_attempts(requests);
  }
  NextChance next_chance() override;
  Result<bool> has_left(std::span<const std::string> types) override;

 protected:
  explicit DirectTasks(const Clock& clock) : clock_(clock) {}

  virtual TaskQueue& queue() = 0;

  const Clock& clock_;
};

}  // namespace kron::cli
