#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "kron/scheduler/batch_writer.h"

namespace kron {

// One thread for life that does one piece of work at a time while its owner goes on. When no thread is to be had, the
// owner does the work itself, and asks for a thread again the next time.
class WriteThread : public BatchWriter {
 public:
  using Make = std::function<std::jthread(std::function<void(const std::stop_token&)>)>;  // throws std::system_error

  explicit WriteThread(Make make = make_thread) : make_(std::move(make)) {}
  WriteThread(const WriteThread&) = delete;
  WriteThread& operator=(const WriteThread&) = delete;
  ~WriteThread() override;  // after the work that is under way

  void begin(Work work) override;
  void finish() override;

  [[nodiscard]] bool has_thread() const { return thread_.joinable(); }

  static std::jthread make_thread(std::function<void(const std::stop_token&)> body);

 private:
  void serve(const std::stop_token& stop);
  bool start_thread();

  Make make_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Work work_;  // empty: nothing is under way
  std::jthread thread_;
};

}  // namespace kron
