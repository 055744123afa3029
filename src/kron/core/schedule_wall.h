#pragma once

#include <cstdint>
#include <limits>

#include "kron/core/civil.h"
#include "kron/core/schedule.h"

namespace kron {

// A schedule on a clock that never jumps: the search in local time, on which the DST rules are laid.

inline constexpr LocalSeconds kNoneLater = std::numeric_limits<LocalSeconds>::max();
inline constexpr LocalSeconds kNoneEarlier = std::numeric_limits<LocalSeconds>::min();

LocalSeconds first_local_from(const Schedule& schedule, LocalSeconds from);  // smallest match ≥ from, or kNoneLater
LocalSeconds last_local_to(const Schedule& schedule, LocalSeconds to);       // greatest match ≤ to, or kNoneEarlier
std::uint64_t count_local(const Schedule& schedule, LocalSeconds from, LocalSeconds to);  // matches in [from, to)

}  // namespace kron
