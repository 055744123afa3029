#pragma once

#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/time_zone.h"

namespace kron::cli {

// A time as people type it, in one of these spellings:
//   2026-11-17T03:00:00Z          RFC 3339
//   now, -1h, +30m                a distance from `now`
//   2026-11-17 03:00[:00]         the wall clock of `local`, also with a T between
//   2026-11-17                    its midnight
//   03:00[:00]                    today, on the day that `local` has at `now`
// A wall-clock time that a change of the clocks leaves out or shows twice is refused with what to write instead.
// `local` may be an error, which is returned when it is needed.
Result<Instant> parse_time_argument(std::string_view text, Instant now, const Result<TimeZone>& local);

}  // namespace kron::cli
