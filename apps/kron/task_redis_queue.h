#pragma once

#include <atomic>
#include <memory>

#include "cluster_session.h"
#include "kron/cluster/subscriber.h"
#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/env/log.h"
#include "kron/queue/redis_queue.h"
#include "task_client.h"

namespace kron::cli {

// The queue of that cluster. Nothing is connected yet. Unreadable: no URL, or one that is none. `clock` and `log`
// outlive it.
Result<std::unique_ptr<RedisQueue>> open_redis_queue(const ClusterOptions& options, const Clock& clock, Log& log);

// The tasks of a cluster, straight from its Redis: no krond is needed, and all that there are share the same tasks.
class RedisTasks : public TaskClient {
 public:
  // `hears`: for a worker that waits for tasks: a thread of its own hears of them. While Redis is away every answer is
  // code unreachable. Unreadable: no URL, or one that is none. `clock` and `log` outlive it.
  static Result<std::unique_ptr<RedisTasks>> open(const ClusterOptions& options, bool hears, const Clock& clock,
                                                  Log& log);
  explicit RedisTasks(std::unique_ptr<TaskQueue> queue, const Clock& clock);
  ~RedisTasks() override;

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
  int descriptor() const override { return wakeup_.get(); }
  void stop_leasing() override;

  // A task may be ready: descriptor() is readable, if the last lease() got less than it asked for. From any thread.
  void wake();

 private:
  Status hear(std::unique_ptr<RedisSubscription> subscription, std::string channel, Log& log);
  void forget_wakes();

  const Clock& clock_;
  std::unique_ptr<TaskQueue> queue_;
  std::atomic<bool> is_waiting_ = false;
  Descriptor wakeup_;                                // an eventfd
  std::unique_ptr<cluster::Subscriber> subscriber_;  // last: its thread uses the above
};

}  // namespace kron::cli
