#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron::jobs {

// What a file of holidays may be at most.
inline constexpr std::size_t kMostIcsBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostIcsEvents = 5000;
inline constexpr std::size_t kMostIcsDepth = 8;  // components in components

// An iCalendar text with its lines unfolded, each ending with CRLF, and without byte order mark. A file that was cut
// off on its way is none: it would lack holidays, and nobody would notice. Errors name the line.
Result<std::string> checked_ics(std::string_view text);

}  // namespace kron::jobs
