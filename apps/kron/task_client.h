#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/queue/task_queue.h"

namespace kron::cli {

// When it may be worth asking for leases again though nothing else happens.
struct NextChance {
  std::optional<Instant> ready = {};        // on the wall clock: a delayed task becomes ready
  std::optional<Nanoseconds> expires = {};  // on the monotonic clock: a lease that someone holds may run out
};

struct CommitsAndLeases {
  std::vector<Result<CommitAnswer>> commits;
  std::optional<Result<std::vector<Lease>>> leases = {};  // none: they were not asked for, lease() does
};

// What `kron task` and `kron worker` ask of the tasks, wherever they are kept. Answers and errors are those of
// TaskQueue; code unreachable: it may or may not have happened, and may be asked again.
class TaskClient {
 public:
  virtual ~TaskClient() = default;

  virtual std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) = 0;
  virtual Result<Task> get(std::string_view task_id) = 0;
  virtual Result<std::vector<Task>> list(const TaskFilter& filter) = 0;
  virtual Result<RetryOutcome> retry(std::string_view task_id, int attempts) = 0;
  virtual Result<CancelOutcome> cancel(std::string_view task_id) = 0;
  virtual Result<std::size_t> prune(const PruneRequest& request) = 0;

  // Leases that have started. Whether their holder lives inside or outside the queue's process is not the worker's to
  // say: `holder` is ignored.
  virtual Result<std::vector<Lease>> lease(const LeaseRequest& request) = 0;
  virtual Result<LeaseOutcome> renew(const LeaseKey& key) = 0;
  virtual std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) = 0;
  // Commits, and behind them a request for leases. Where both are one trip, so that a worker that goes on with the next
  // task waits once for it and not twice, the leases are answered too; an answer to them means that all commits have
  // theirs.
  virtual CommitsAndLeases commit_and_lease(std::span<const CommitRequest> requests, const LeaseRequest& /*then*/) {
    return {commit(requests)};
  }
  virtual std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) = 0;
  virtual NextChance next_chance() = 0;

  // Whether a task of these types (empty: any) waits or runs.
  virtual Result<bool> has_left(std::span<const std::string> types) = 0;

  // Readable when lease() may have something though it gave nothing before; -1: it never has, by itself.
  virtual int descriptor() const { return -1; }
  // No lease is wanted any more: what was leased and not yet fetched is given back.
  virtual void stop_leasing() {}
};

}  // namespace kron::cli
