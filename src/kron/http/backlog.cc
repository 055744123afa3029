#include "kron/http/backlog.h"

#include <utility>

namespace kron::http {

void Backlog::wake(std::unique_lock<std::mutex> lock, Wake when) {
  if (std::exchange(woken_, true) && when == Wake::unless_woken) return;
  lock.unlock();
  wake_();
}

bool Backlog::write(std::string bytes) {
  std::unique_lock lock(mutex_);
  if (ended_ || closed_) return false;
  if (bytes.empty()) return true;
  if (waiting_.size() + in_flight_ + bytes.size() > limit_) {
    cut(std::move(lock));
    return false;
  }
  if (waiting_.empty()) {
    waiting_ = std::move(bytes);
  } else {
    waiting_ += bytes;
  }
  wake(std::move(lock), Wake::unless_woken);
  return true;
}

void Backlog::cut() {
  std::unique_lock lock(mutex_);
  if (!ended_ && !closed_) cut(std::move(lock));
}

void Backlog::cut(std::unique_lock<std::mutex> lock) {
  cut_ = closed_ = true;
  waiting_ = {};
  const std::function<void()> dropped = std::exchange(on_drained_, {});  // dies behind the lock
  // A sender that was woken before may be stuck in sending, and would never look.
  wake(std::move(lock), Wake::always);
}

void Backlog::end() {
  std::unique_lock lock(mutex_);
  if (std::exchange(ended_, true) || closed_) return;
  wake(std::move(lock), Wake::always);
}

void Backlog::counts_as_whole() {
  const std::lock_guard lock(mutex_);
  counts_as_whole_ = true;
}

void Backlog::server_ends() {
  std::unique_lock lock(mutex_);
  const bool is_cut_short = counts_as_whole_;
  lock.unlock();
  is_cut_short ? cut() : end();
}

void Backlog::on_drained(std::function<void()> call) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  // Swapped, because what is replaced may hold a Stream, and that must not die under our lock.
  std::swap(on_drained_, call);
  // The sender calls it, even when nothing waits by now: always from the server's thread.
  wake(std::move(lock), Wake::unless_woken);
}

bool Backlog::is_cut() {
  const std::lock_guard lock(mutex_);
  return cut_;
}

bool Backlog::has_ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

Backlog::Batch Backlog::take() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  in_flight_ = waiting_.size();
  return Batch{std::exchange(waiting_, {}), ended_};
}

void Backlog::sent() {
  std::unique_lock lock(mutex_);
  in_flight_ = 0;
  if (!waiting_.empty() || closed_) return;
  const std::function<void()> call = std::exchange(on_drained_, {});
  lock.unlock();
  if (call) call();
}

void Backlog::close() {
  std::function<void()> dropped;  // dies behind the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_ = {};
  dropped = std::exchange(on_drained_, {});
}

}  // namespace kron::http
