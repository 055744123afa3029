#pragma once

#include <chrono>
#include <cstdint>

namespace kron {

// Kron's time: whole seconds since the Unix epoch, UTC. Everything that is compared or stored is an Instant.
using Seconds = std::chrono::seconds;
using Nanoseconds = std::chrono::nanoseconds;
using Instant = std::chrono::sys_seconds;

constexpr Instant instant_of(std::int64_t seconds_since_epoch) { return Instant(Seconds(seconds_since_epoch)); }
constexpr std::int64_t epoch_seconds(Instant t) { return t.time_since_epoch().count(); }

// The range in which schedules are exact: 1970-01-01T00:00:00Z up to and including 2199-12-31T23:59:59Z.
inline constexpr Instant kFirstInstant = instant_of(0);
inline constexpr Instant kLastInstant = instant_of(7258118399);

}  // namespace kron
