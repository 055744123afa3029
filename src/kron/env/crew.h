#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kron {

// Threads that wait to lend a hand. They are made when they are needed first, by the thread that needs them, whose
// signal mask and priority they have, and stay: a busy daemon would make and end hundreds in a second.
class Crew {
 public:
  explicit Crew(std::size_t size) : size_(size) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  // `work` takes one piece after the other until none is left, beside itself. Called by this thread, and by as many of
  // the crew as come in time; when it returns here, no other is in it. May be used by several threads.
  void share(const std::function<void()>& work);

 private:
  struct Job {
    const std::function<void()>& work;
    std::size_t hands = 0;  // of the crew, that are in it
  };

  void gather();
  void serve(const std::stop_token& stop);

  const std::size_t size_;
  std::mutex mutex_;
  std::condition_variable_any called_;
  std::condition_variable done_;
  std::vector<Job*> open_;  // with pieces left, as far as is known
  bool is_gathered_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kron
