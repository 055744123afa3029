#include "kron/queue/retention_timer.h"

#include <algorithm>

namespace kron {
namespace {

// Finished tasks are removed by the wall clock, so only after it has not jumped for a while: one that reads 2036 for a
// moment would remove them all.
constexpr Nanoseconds kSteady = Seconds(10);
constexpr Nanoseconds kJump = Seconds(2);
constexpr Nanoseconds kBetweenParts = std::chrono::milliseconds(10);

// A retention of a month is looked after once an hour, one of a minute more often.
Nanoseconds between_removals(Seconds age) {
  return std::clamp<Nanoseconds>(age / 10, Seconds(10), std::chrono::hours(1));
}

}  // namespace

void RetentionTimer::begin_anew_after_a_jump() {
  const Nanoseconds drift = clock_.wall().time_since_epoch() - clock_.boot_time();
  const bool has_jumped = !drift_ || drift > *drift_ + kJump || drift < *drift_ - kJump;
  if (!has_jumped) return;
  drift_ = drift;
  scan_.reset();
  next_at_ = clock_.boot_time() + kSteady;
}

void RetentionTimer::step(TaskQueue& queue) {
  if (!keeps_) return;
  begin_anew_after_a_jump();
  if (clock_.boot_time() < next_at_) return;
  if (!scan_) scan_ = queue.begin_retention(*keeps_, now(clock_));
  const auto is_done = scan_->next_part();
  next_at_ = clock_.boot_time() + kBetweenParts;
  if (is_done && !*is_done) return;
  if (!is_done) log_.warning("tasks.old_stay", {{"problem", std::string_view(is_done.error().message)}});
  const std::size_t removed = scan_->removed();
  if (removed > 0) log_.info("tasks.old_removed", {{"count", static_cast<std::int64_t>(removed)}});
  scan_.reset();
  next_at_ = clock_.boot_time() + between_removals(keeps_->age);
}

}  // namespace kron
