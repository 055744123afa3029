#pragma once

#include <memory>
#include <string>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/real_file_system.h"
#include "kron/queue/file_queue.h"
#include "task_client.h"

namespace kron::cli {

// The tasks of a data directory that no other process has: this one owns it for as long as the client lives.
class OwnedQueue : public TaskClient {
 public:
  // Code conflict, naming its PID, when another process has the directory. What is missing of it is made, if
  // `may_make`; else code not_found. `clock` and `log` outlive the client.
  static Result<std::unique_ptr<OwnedQueue>> open(const std::string& path, bool may_make, const Clock& clock, Log& log);

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override { return queue_->submit(tasks); }
  Result<Task> get(std::string_view task_id) override { return queue_->get(task_id); }
  Result<std::vector<Task>> list(const TaskFilter& filter) override { return queue_->list(filter); }
  Result<RetryOutcome> retry(std::string_view task_id, int attempts) override {
    return queue_->retry(task_id, attempts);
  }
  Result<CancelOutcome> cancel(std::string_view task_id) override { return queue_->cancel(task_id); }
  Result<std::size_t> prune(const PruneRequest& request) override { return queue_->prune(request); }
  Result<std::vector<Lease>> lease(const LeaseRequest& request) override;
  Result<LeaseOutcome> renew(const LeaseKey& key) override { return queue_->renew(key); }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    return queue_->commit(requests);
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    return queue_->fail_attempts(requests);
  }
  NextChance next_chance() override;
  Result<bool> has_left(std::span<const std::string> types) override;

 private:
  explicit OwnedQueue(const Clock& clock) : clock_(clock) {}

  const Clock& clock_;
  RealFileSystem files_;
  std::unique_ptr<FileQueue> queue_;
};

}  // namespace kron::cli
