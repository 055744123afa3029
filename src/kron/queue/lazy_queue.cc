#include "kron/queue/lazy_queue.h"

#include <utility>

namespace kron {
namespace {

constexpr Nanoseconds kBetweenOpens = Seconds(1);

}  // namespace

LazyQueue::LazyQueue(QueueOpener open, std::string place, const Clock& clock, Log& log)
    : open_(std::move(open)), place_(std::move(place)), clock_(clock), log_(log), empty_(clock) {}

// False: there is no queue, and none was to be made.
Result<bool> LazyQueue::open(bool may_create) {
  // A disk whose sync has failed may answer "safe" the next time though it has lost what it was given: only another
  // process, which finds what is really there, can tell.
  if (problem_ && (is_final_ || clock_.boot_time() < try_again_at_)) return fail(*problem_);
  OpenedQueue opened = open_(may_create);
  if (opened.queue) {
    queue_ = *std::move(opened.queue);
    problem_.reset();
    is_demanded_ = false;
    return true;
  }
  if (!may_create && opened.queue.error().code == Code::not_found) return false;
  if (problem_ != opened.queue.error()) {
    log_.error("queue.not_opened",
               {{"path", std::string_view(place_)}, {"problem", std::string_view(opened.queue.error().message)}});
  }
  problem_ = opened.queue.error();
  is_final_ = opened.is_final;
  try_again_at_ = clock_.boot_time() + kBetweenOpens;
  return fail(*problem_);
}

Result<TaskQueue*> LazyQueue::get(bool may_create) {
  if (queue_) return queue_.get();
  const auto is_open = open(may_create);
  if (!is_open) return fail(is_open.error());
  if (*is_open) return queue_.get();
  return &empty_;
}

Status LazyQueue::demand() {
  const auto found = get(true);
  is_demanded_ = !found;
  if (!found) return fail(found.error());
  return {};
}

void LazyQueue::try_again() {
  if (const auto next = next_try(); next && *next <= clock_.boot_time()) static_cast<void>(get(true));
}

std::optional<Nanoseconds> LazyQueue::next_try() const {
  if (queue_ || !is_demanded_ || is_final_) return std::nullopt;
  return try_again_at_;
}

}  // namespace kron
