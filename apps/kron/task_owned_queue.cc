#include "task_owned_queue.h"

namespace kron::cli {

Result<std::unique_ptr<OwnedQueue>> OwnedQueue::open(const std::string& path, bool may_make, const Clock& clock,
                                                     Log& log) {
  std::unique_ptr<OwnedQueue> client(new OwnedQueue(clock));
  if (!may_make) {
    // A misspelt directory is told, not made.
    if (const auto there = client->files_.open_directory(path); !there) return fail(there.error());
  }
  auto queue = FileQueue::open(client->files_, clock, log, path);
  if (!queue) return fail(queue.error());
  client->queue_ = *std::move(queue);
  return client;
}

Result<std::vector<Lease>> OwnedQueue::lease(const LeaseRequest& request) {
  // Nobody else sees to what has run out.
  if (const auto expired = queue_->expire(); !expired) return fail(expired.error());
  LeaseRequest own = request;
  own.holder = Holder::in_process;
  own.starts = true;
  return queue_->lease(own);
}

}  // namespace kron::cli
