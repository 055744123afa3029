#pragma once

#include <algorithm>
#include <optional>

#include "kron/base/instant.h"
#include "kron/queue/transitions.h"

namespace kron {

// When a lease that is held runs out, on Clock::boot_time: a clock that does not jump, and goes on while the machine
// sleeps.
struct HeldLease {
  Seconds term{60};
  Nanoseconds lease_ends{0};
  Nanoseconds attempt_ends = Nanoseconds::max();  // renewals do not move it
  bool is_orphaned = false;                       // its holder died with the process that owned the queue

  static HeldLease from(Nanoseconds now, Seconds term) { return {.term = term, .lease_ends = now + term}; }

  void renew(Nanoseconds now) { lease_ends = now + term; }
  void start(Nanoseconds now, std::optional<Seconds> timeout) {
    if (timeout) attempt_ends = now + *timeout;
  }

  Nanoseconds ends() const { return std::min(lease_ends, attempt_ends); }
  bool has_ended(Nanoseconds now) const { return now >= ends(); }

  // Orphans try again at once: it was not their fault.
  Abort abort() const {
    if (is_orphaned) return {.reason = "its process ended", .backs_off = false};
    return {.reason = attempt_ends <= lease_ends ? "timeout" : "lease expired"};
  }
};

}  // namespace kron
