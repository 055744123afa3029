#pragma once

#include <atomic>
#include <memory>

#include "cluster_session.h"
#include "kron/cluster/subscriber.h"
#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/env/log.h"
#include "kron/queue/redis_queue.h"
#include "task_direct.h"

namespace kron::cli {

// The queue of that cluster. Nothing is connected yet. Unreadable: no URL, or one that is none. `clock` and `log`
// outlive it.
Result<std::unique_ptr<RedisQueue>> open_redis_queue(const ClusterOptions& options, const Clock& clock, Log& log);

// The tasks of a cluster, straight from its Redis: no krond is needed, and all that there are share the same tasks.
class RedisTasks : public DirectTasks {
 public:
  // `hears`: for a worker that waits for tasks: a thread of its own hears of them. While Redis is away every answer is
  // code unreachable. Unreadable: no URL, or one that is none. `clock` and `log` outlive it.
  static Result<std::unique_ptr<RedisTasks>> open(const ClusterOptions& options, bool hears, const Clock& clock,
                                                  Log& log);
  explicit RedisTasks(std::unique_ptr<TaskQueue> queue, const Clock& clock);
  ~RedisTasks() override;

  Result<std::vector<Lease>> lease(const LeaseRequest& request) override;
  CommitsAndLeases commit_and_lease(std::span<const CommitRequest> requests, const LeaseRequest& then) override;
  int descriptor() const override { return wakeup_.get(); }
  void stop_leasing() override;

  // A task may be ready: descriptor() is readable, if the last lease() got less than it asked for. From any thread.
  void wake();

 private:
  Status hear(std::unique_ptr<RedisSubscription> subscription, std::string channel, Log& log);
  bool may_have_expired() const;
  void forget_wakes();

  TaskQueue& queue() override { return *queue_; }

  std::unique_ptr<TaskQueue> queue_;
  std::atomic<bool> is_waiting_ = false;
  Descriptor wakeup_;                                // an eventfd
  std::unique_ptr<cluster::Subscriber> subscriber_;  // last: its thread uses the above
};

}  // namespace kron::cli
