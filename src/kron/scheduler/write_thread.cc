#include "kron/scheduler/write_thread.h"

#include <csignal>
#include <system_error>
#include <utility>

namespace kron {

std::jthread WriteThread::make_thread(std::function<void(const std::stop_token&)> body) {
  return std::jthread(std::move(body));
}

WriteThread::~WriteThread() {
  finish();
  if (!has_thread()) return;
  thread_.request_stop();
  thread_.join();
}

// A process at its limit of threads goes on without this one: slower, and nothing else.
bool WriteThread::start_thread() {
  if (has_thread()) return true;
  try {
    thread_ = make_([this](const std::stop_token& stop) { serve(stop); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void WriteThread::begin(Work work) {
  finish();
  if (!start_thread()) return work();
  const std::scoped_lock lock(mutex_);
  work_ = std::move(work);
  changed_.notify_all();
}

void WriteThread::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !work_; });
}

void WriteThread::serve(const std::stop_token& stop) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return work_ != nullptr; })) {
    lock.unlock();
    work_();  // nobody else touches it while it is there
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace kron
