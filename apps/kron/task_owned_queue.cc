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

NextChance OwnedQueue::next_chance() {
  NextChance chance{.ready = queue_->next_ready()};
  if (const auto expiry = queue_->next_expiry()) chance.expires = *expiry - clock_.boot_time() + clock_.monotonic();
  return chance;
}

Result<bool> OwnedQueue::has_left(std::span<const std::string> types) {
  const auto found_counts = queue_->counts();
  if (!found_counts) return fail(found_counts.error());
  const TaskCounts counts = *found_counts;
  if (types.empty() || counts.pending + counts.running == 0) return counts.pending + counts.running > 0;
  for (const std::string& type : types) {
    for (const TaskState state : {TaskState::running, TaskState::pending}) {
      const auto found = queue_->list({.state = state, .type = type, .limit = 1});
      if (!found) return fail(found.error());
      if (!found->empty()) return true;
    }
  }
  return false;
}

}  // namespace kron::cli
