#include "kron/env/start_priority.h"

namespace kron {

void StartPriority::begin() {
  const std::scoped_lock lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  if (now >= left_at_ + grace_) since_ = now;
  is_taken_ = true;
}

void StartPriority::end() {
  {
    const std::scoped_lock lock(mutex_);
    is_taken_ = false;
    left_at_ = std::chrono::steady_clock::now();
  }
  left_.notify_all();
}

void StartPriority::yield_to_starts() {
  std::unique_lock lock(mutex_);
  if (!is_taken_ || std::chrono::steady_clock::now() < free_until_) return;
  if (left_.wait_until(lock, since_ + longest_, [this] { return !is_taken_; })) return;
  const Time now = std::chrono::steady_clock::now();
  if (now < free_until_) return;  // another has found that before
  free_until_ = now + grace_;
  since_ = free_until_;
}

}  // namespace kron
