#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "kron/env/clock.h"

namespace kron::cluster {

// Redis's TIME, read between two moments of this machine's CLOCK_BOOTTIME.
struct TimeSample {
  Nanoseconds time{0};  // since the epoch
  Nanoseconds sent{0};
  Nanoseconds received{0};
};

// The time of the cluster: Redis's TIME, carried from sample to sample by CLOCK_BOOTTIME, so that the clocks of hosts
// do not matter. Each sample gives an interval in which the offset between the two must lie; the offset moves only when
// it is proven wrong. For any thread.
class ClusterClock : public Clock {
 public:
  explicit ClusterClock(const Clock& host) : host_(host) {}  // outlives it

  void note(const TimeSample& sample);

  // Whether there has been a sample. Before, wall() is the host's and must not be used to schedule by.
  [[nodiscard]] bool is_set() const { return is_set_.load(std::memory_order_acquire); }

  // How far the cluster is ahead of the host's own wall clock; zero before the first sample.
  [[nodiscard]] Nanoseconds ahead_of_host() const;

  WallTime wall() const override;
  Nanoseconds monotonic() const override { return host_.monotonic(); }
  Nanoseconds boot_time() const override { return host_.boot_time(); }
  const std::string& boot_id() const override { return host_.boot_id(); }

 private:
  const Clock& host_;
  std::atomic<bool> is_set_{false};
  std::atomic<std::int64_t> offset_{0};  // of wall() against boot_time(), in ns
};

}  // namespace kron::cluster
