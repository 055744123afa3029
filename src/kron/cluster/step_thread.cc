#include "kron/cluster/step_thread.h"

#include <csignal>
#include <utility>

#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"

namespace kron::cluster {

Status StepThread::start(const std::string& name, Step step, bool yields) {
  Result<std::thread> thread = with_thread(name, [&] {
    return std::thread([this, step = std::move(step), yields] {
      if (yields) become_background_thread();
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
      run(step);
    });
  });
  if (!thread) return fail(thread.error());
  thread_ = *std::move(thread);
  return {};
}

void StepThread::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  changed_.notify_one();
}

void StepThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void StepThread::run(const Step& step) {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    is_woken_ = false;
    lock.unlock();
    const Nanoseconds pause = step();
    lock.lock();
    changed_.wait_for(lock, pause, [this] { return is_woken_ || is_stopping_; });
  }
}

}  // namespace kron::cluster
