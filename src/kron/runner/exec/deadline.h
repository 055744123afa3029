#pragma once

#include <cstdint>
#include <ctime>

#include "kron/runner/exec/small_steps.h"

// Deadlines, in nanoseconds on the monotonic clock.
namespace kron::exec {

inline constexpr std::int64_t kSecond = 1'000'000'000;

inline std::int64_t monotonic_now() {
  const timespec now = time_now(CLOCK_MONOTONIC);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// Far away rather than in the past when the duration is absurd.
inline std::int64_t deadline_after(std::int64_t duration) {
  std::int64_t deadline = 0;
  return __builtin_add_overflow(monotonic_now(), duration, &deadline) ? INT64_MAX : deadline;
}

}  // namespace kron::exec
