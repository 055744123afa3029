#pragma once

#include <optional>

#include "kron/state/record.h"

namespace kron {

// The latest time of which the record says that it was the present, when that is later than `now` by more than the
// clocks of a machine may differ: LastChosenTime, FirstSeen, or a LastHandledPeriodID further ahead than `reach`, which
// is how long before its nominal time a period of the job may be due.
std::optional<Instant> time_ahead_in(const StateRecord& record, Instant now, Nanoseconds reach);

}  // namespace kron
