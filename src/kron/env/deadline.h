#pragma once

#include <algorithm>
#include <chrono>

#include "kron/base/instant.h"

namespace kron {

// When a wait ends at the latest, on the machine's monotonic clock.
using Deadline = std::chrono::steady_clock::time_point;

// No wait is longer than a day, so that "for ever" does not overflow.
inline Deadline deadline_after(Nanoseconds timeout) {
  return std::chrono::steady_clock::now() + std::clamp<Nanoseconds>(timeout, Nanoseconds(0), std::chrono::hours(24));
}

// Zero when it is over.
inline Nanoseconds time_left(Deadline deadline) {
  return std::max<Nanoseconds>(deadline - std::chrono::steady_clock::now(), Nanoseconds(0));
}

// For poll(2): rounded up, so that nobody wakes just before the deadline and spins.
inline int milliseconds_left(Deadline deadline) {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time_left(deadline)).count());
}

// The first of `parts` equal parts of the time that is left, for attempts of which the last must have its time too.
inline Deadline share_of(Deadline deadline, std::size_t parts) {
  return std::chrono::steady_clock::now() +
         time_left(deadline) / static_cast<std::int64_t>(std::max<std::size_t>(parts, 1));
}

}  // namespace kron
