#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kron {

// A thread pool for work that several threads share, as waiting for many syncs at once. They are made when they are
// needed first, by the thread that needs them, whose signal mask and priority they have, and stay: a busy daemon would
// make and end hundreds in a second.
class SyncPool {
 public:
  explicit SyncPool(std::size_t size) : size_(size) {}
  SyncPool(const SyncPool&) = delete;
  SyncPool& operator=(const SyncPool&) = delete;
  ~SyncPool();

  // `work` takes one piece after the other until none is left, beside itself. Called by this thread, and by as many of
  // the pool as come in time; when it returns here, no other is in it. May be used by several threads.
  void run_on_all(const std::function<void()>& work);

 private:
  struct Job {
    const std::function<void()>& work;
    std::size_t threads = 0;  // of the pool, that are in it
  };

  void start_threads();
  void serve(const std::stop_token& stop);

  const std::size_t size_;
  std::mutex mutex_;
  std::condition_variable_any called_;
  std::condition_variable done_;
  std::vector<Job*> open_;  // with pieces left, as far as is known
  bool has_threads_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kron
