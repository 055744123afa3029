#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/queue/memory_queue.h"
#include "kron/queue/task_queue.h"

namespace kron {

// A queue that is opened when it is first needed, and tried again, at most once a second, while it cannot be. For one
// thread. Its states:
//   unknown  nobody has asked yet, or there is none and none was to be made; asking again looks again
//   open     for good; a queue that stops stays open and answers with the reason
//   refused  the last try failed, and its error answers everyone until the next try
//   final    as refused, but only another process may try again
class LazyQueue {
 public:
  // `clock` and `log` outlive it. `place`: where the queue is, for the log.
  LazyQueue(QueueOpener open, std::string place, const Clock& clock, Log& log);

  // The queue, opened if need be. While there is none, and `may_create` is false, an empty one stands for it. An Error
  // says why it cannot be opened.
  Result<TaskQueue*> get(bool may_create);

  // The queue if it is open, else null.
  TaskQueue* opened() const { return queue_.get(); }

  // Opens it now, making it if need be. When that fails it is tried again by try_again() until it is open.
  Status demand();
  void try_again();
  // When, on Clock::boot_time, try_again() has something to do; nothing: never.
  std::optional<Nanoseconds> next_try() const;

 private:
  Result<bool> open(bool may_create);

  QueueOpener open_;
  std::string place_;
  const Clock& clock_;
  Log& log_;
  std::unique_ptr<TaskQueue> queue_;
  MemoryQueue empty_;             // stands for a queue that is not there
  std::optional<Error> problem_;  // of the last try
  bool is_final_ = false;
  bool is_demanded_ = false;
  Nanoseconds try_again_at_{0};
};

}  // namespace kron
