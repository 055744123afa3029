#include "kron/env/work_thread.h"

#include <csignal>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace kron {

void become_background_thread(int niceness) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  // In Linux the priority is a thread's own. A refusal costs nothing but the precedence.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), ::getpriority(PRIO_PROCESS, 0) + niceness);
}

WorkThread::WorkThread(int niceness)
    : thread_([this, niceness](const std::stop_token& stop) { serve(stop, niceness); }) {}

WorkThread::~WorkThread() {
  thread_.request_stop();
  thread_.join();
}

bool WorkThread::run(Work work) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) return false;
  waiting_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

void WorkThread::serve(const std::stop_token& stop, int niceness) {
  become_background_thread(niceness);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace kron
