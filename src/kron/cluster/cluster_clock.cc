#include "kron/cluster/cluster_clock.h"

#include <algorithm>

namespace kron::cluster {

void ClusterClock::note(const TimeSample& sample) {
  const std::int64_t least = (sample.time - sample.received).count();
  const std::int64_t most = std::max(least, (sample.time - sample.sent).count());
  if (!is_set()) {
    // Rather behind than ahead: nothing may start before its time.
    offset_.store(least, std::memory_order_relaxed);
    is_set_.store(true, std::memory_order_release);
    return;
  }
  // Samples may come from several threads: whoever was between has seen the same server.
  std::int64_t before = offset_.load(std::memory_order_relaxed);
  while (!offset_.compare_exchange_weak(before, std::clamp(before, least, most), std::memory_order_relaxed)) {
  }
}

WallTime ClusterClock::wall() const {
  if (!is_set()) return host_.wall();
  return WallTime(host_.boot_time() + Nanoseconds(offset_.load(std::memory_order_relaxed)));
}

Nanoseconds ClusterClock::ahead_of_host() const {
  if (!is_set()) return Nanoseconds(0);
  return wall() - host_.wall();
}

}  // namespace kron::cluster
