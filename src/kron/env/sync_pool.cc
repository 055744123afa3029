#include "kron/env/sync_pool.h"

#include <system_error>
#include <utility>

namespace kron {

SyncPool::~SyncPool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

// Where there are no more threads to be had, those that there are do it all.
void SyncPool::start_threads() {
  if (std::exchange(has_threads_, true)) return;
  try {
    while (threads_.size() < size_) {
      threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
    }
  } catch (const std::system_error&) {
    return;
  }
}

void SyncPool::run_on_all(const std::function<void()>& work) {
  Job job{.work = work};
  {
    const std::scoped_lock lock(mutex_);
    start_threads();
    open_.push_back(&job);
  }
  called_.notify_all();
  work();
  std::unique_lock lock(mutex_);
  std::erase(open_, &job);
  done_.wait(lock, [&job] { return job.threads == 0; });
}

void SyncPool::serve(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (called_.wait(lock, stop, [this] { return !open_.empty(); })) {
    Job& job = *open_.front();
    ++job.threads;
    lock.unlock();
    job.work();
    lock.lock();
    std::erase(open_, &job);
    if (--job.threads == 0) done_.notify_all();
  }
}

}  // namespace kron
