#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron::cluster {

// A thread for a service that is stepped: calls it, sleeps as long as it says, and calls it again; earlier when it is
// woken.
class StepThread {
 public:
  using Step = std::function<Nanoseconds()>;

  StepThread() = default;
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;
  ~StepThread() { stop(); }

  // `name`: what it is for, in a message. `yields`: to the rest of the process.
  Status start(const std::string& name, Step step, bool yields);
  void wake();  // any thread, also before start()
  void stop();  // after the step that is under way

 private:
  void run(const Step& step);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace kron::cluster
