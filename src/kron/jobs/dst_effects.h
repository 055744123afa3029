#pragma once

#include <cstdint>
#include <vector>

#include "kron/core/job.h"

namespace kron::jobs {

// What one change of the clock does to a job.
struct DstEffect {
  enum class Kind : std::uint8_t {
    moved,    // the wall clock jumps over the time; the period runs at the first instant after the gap
    dropped,  // the wall clock jumps over it and the period does not exist
    doubled,  // the wall clock shows the time twice, and each is a period
  };

  Kind kind;
  CivilTime local;      // the first such time on the wall clock
  std::uint64_t count;  // how many times of the schedule this change touches
  Instant change;       // when the clock changes

  bool operator==(const DstEffect&) const = default;
};

// Every change of the clock in (from, until] that moves, drops or doubles a period, in order. A schedule that runs
// every hour, at minutes that repeat with the size of the change, is left alone: it goes on at the same distance.
std::vector<DstEffect> dst_effects(const Job& job, Instant from, Instant until);

}  // namespace kron::jobs
