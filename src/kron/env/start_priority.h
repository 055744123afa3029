#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "kron/base/instant.h"

namespace kron {

// What is due goes before what was asked. One thread has priority at times, while it starts runs; the others yield
// wherever they can wait, so that they and those who wait for their answers leave it the processors.
class StartPriority {
 public:
  // `longest`: for how long it holds others up at most, counted over pauses that are shorter than `grace`. Then they
  // need not wait for `grace`.
  explicit StartPriority(Nanoseconds longest = std::chrono::milliseconds(500),
                         Nanoseconds grace = std::chrono::milliseconds(100))
      : longest_(longest), grace_(grace) {}

  // By the thread that has it, around its starts.
  void begin();
  void end();

  // By the others: waits while starts are under way, as long as that may be.
  void yield_to_starts();

 private:
  using Time = std::chrono::steady_clock::time_point;

  Nanoseconds longest_;
  Nanoseconds grace_;
  std::mutex mutex_;
  std::condition_variable left_;
  bool is_taken_ = false;
  Time since_ = {};       // when it began to hold others up
  Time left_at_ = {};     // when it was left the last time
  Time free_until_ = {};  // nobody waits before
};

}  // namespace kron
