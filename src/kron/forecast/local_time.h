#pragma once

#include <string>

#include "kron/core/time_zone.h"

namespace kron {

// "2026-03-01T03:32:20+01:00": what the wall clock of the zone shows, with its offset from UTC.
std::string local_text(const TimeZone& zone, Instant t);

// "2026-03-29 02:30:00": a wall-clock time that may exist never or twice.
std::string wall_clock_text(const CivilTime& time);

}  // namespace kron
