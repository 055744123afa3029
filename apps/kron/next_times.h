#pragma once

#include <cstdint>

#include "kron/core/schedule.h"
#include "kron/json/writer.h"

namespace kron::cli {

inline constexpr std::int64_t kMostTimes = 100'000;

// Calls `see` with up to `count` nominal times after `from`, ascending.
template <class See>
void for_each_next(const Schedule& schedule, const TimeZone& zone, Instant from, std::int64_t count, See see) {
  std::optional<Instant> t = from;
  for (std::int64_t i = 0; i < count; ++i) {
    t = schedule.next_after(*t, zone);
    if (!t) return;
    see(*t);
  }
}

// "next":["…Z",…]
void write_next(JsonWriter& json, const Schedule& schedule, const TimeZone& zone, Instant from, std::int64_t count);

}  // namespace kron::cli
