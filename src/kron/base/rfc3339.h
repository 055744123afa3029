#pragma once

#include <array>
#include <string>
#include <string_view>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

// "2026-03-01T00:00:00Z": the one spelling of a time that Kron writes (a period id, a state file, a log line).
// Years 0000–9999; an instant outside is a programming error and prints the nearest year.
using Rfc3339Text = std::array<char, 20>;
Rfc3339Text rfc3339_text(Instant t);
std::string rfc3339(Instant t);

// Accepts any RFC 3339 time: `Z` or an offset, `T` or a space, a fraction (floored to the second), 'z'/'t' lower case.
// A leap second :60 is read as the second after :59. Fails with code invalid and the column of the first bad character;
// also when the offset leads out of the years 0000–9999, so that whatever is read can be written.
Result<Instant> parse_rfc3339(std::string_view text);

}  // namespace kron
