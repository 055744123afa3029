#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace kron {

// By how much a thread yields to the rest of the process, as nice(1) counts.
inline constexpr int kNiceness = 5;
inline constexpr int kMostNiceness = 10;  // and to those who yield

// A thread that does what it is given, one after the other: for work that takes its time. It yields to the rest of the
// process and takes no signals.
class WorkThread {
 public:
  using Work = std::function<void()>;

  explicit WorkThread(int niceness = kNiceness);
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;
  ~WorkThread();  // after the work that is under way; what waits is dropped

  // From any thread. False: too much waits already, and it is not taken.
  bool run(Work work);

 private:
  static constexpr std::size_t kMostWaiting = 1000;

  void serve(const std::stop_token& stop, int niceness);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Work> waiting_;
  std::jthread thread_;
};

// Lets the present thread yield to those that must not wait, and leaves all signals to them.
void become_background_thread(int niceness = kNiceness);

}  // namespace kron
