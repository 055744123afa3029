#include "kron/core/catch_up.h"

#include <algorithm>

namespace kron {
namespace {

// The first eight bytes have chosen the time within the window: jobs that share it must not share this, too.
std::uint64_t second_u64(const Sha256& hash) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i < 16; ++i) number = number << 8 | static_cast<std::uint8_t>(hash[i]);
  return number;
}

}  // namespace

Instant catch_up_start(const Decision& period, Seconds deadline, Seconds spread, Instant now) {
  if (!period.chosen || now - *period.chosen <= kFoundLate) return now;
  const Seconds within = std::min(spread, *period.chosen + deadline - now);
  if (within <= Seconds(0)) return now;
  return now +
         Seconds(static_cast<std::int64_t>(second_u64(period.seed_hash) % static_cast<std::uint64_t>(within.count())));
}

}  // namespace kron
