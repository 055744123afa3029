#pragma once

#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

// Durations as people write them: one or more numbers with a unit, `90s`, `1h30m`, `1.5h`, `500ms`, `2d`, `1w`
// (units ns us µs ms s m h d w; a day is 24 h). Plain `0` is accepted. Exact: a value that is no whole number of
// nanoseconds, negative, or beyond 292 years is refused with the column where it went wrong.
Result<Nanoseconds> parse_duration(std::string_view text);

// The same, for what is kept in whole seconds (deadlines, timeouts).
Result<Seconds> parse_whole_seconds(std::string_view text);

// The shortest spelling from weeks to nanoseconds that parse_duration reads back: 90s → `1m30s`, 0 → `0s`.
std::string duration_text(Nanoseconds duration);

}  // namespace kron
