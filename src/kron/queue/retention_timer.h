#pragma once

#include <memory>
#include <optional>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/queue/task_queue.h"

namespace kron {

// Removes finished tasks that are too old or too many: every so often, a part at a time. For one thread.
class RetentionTimer {
 public:
  // `clock` and `log` outlive it. No retention: everything is kept.
  RetentionTimer(std::optional<TaskRetention> keeps, const Clock& clock, Log& log)
      : keeps_(keeps), clock_(clock), log_(log) {}

  // Does one part when one is due. What cannot be removed is said in the log and tried again the next time. `queue` is
  // the same at every call, and outlives the timer.
  void step(TaskQueue& queue);

  // When the next part is due, on Clock::boot_time; nothing: never.
  std::optional<Nanoseconds> next() const { return keeps_ ? std::optional(next_at_) : std::nullopt; }

 private:
  void begin_anew_after_a_jump();

  std::optional<TaskRetention> keeps_;
  const Clock& clock_;
  Log& log_;
  std::unique_ptr<RemovalScan> scan_;  // under way
  Nanoseconds next_at_{0};
  std::optional<Nanoseconds> drift_;  // of the wall clock against Clock::boot_time
};

}  // namespace kron
