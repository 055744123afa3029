#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace kron::http {

// The way onto the server's thread for those who may outlive it.
class ServerThread {
 public:
  using Task = std::function<void()>;

  // `post` queues a task for the thread.
  explicit ServerThread(std::function<void(Task)> post) : post_(std::move(post)) {}

  // Called by the thread itself before its first task.
  void is_this() {
    const std::lock_guard lock(mutex_);
    id_ = std::this_thread::get_id();
  }

  // At once when this is the thread, else soon. False: the thread has ended, and the task is dropped.
  bool run(Task task) {
    std::unique_lock lock(mutex_);
    if (!post_) return false;
    if (std::this_thread::get_id() == id_) {
      lock.unlock();
      task();
    } else {
      post_(std::move(task));
    }
    return true;
  }

  // Soon, also when this is the thread.
  void post(Task task) {
    const std::lock_guard lock(mutex_);
    if (post_) post_(std::move(task));
  }

  // The thread takes no more tasks.
  void end() {
    const std::lock_guard lock(mutex_);
    post_ = {};
  }

 private:
  std::mutex mutex_;
  std::function<void(Task)> post_;
  std::thread::id id_;
};

}  // namespace kron::http
