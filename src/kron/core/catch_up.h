#pragma once

#include "kron/core/decision.h"

namespace kron {

// A period that is found longer after its chosen time than this is late, and its start may be spread.
inline constexpr Seconds kFoundLate{10};

// When a period that may start at `now` starts: at once; or, when it is found late, within `spread`, and in any case
// within its deadline: at now + (the seed hash's bytes 8 to 15, big-endian, mod S), S = min(spread, chosen + deadline -
// now). Jobs that were late together are late no more together. The same for the same inputs, on every machine.
Instant catch_up_start(const Decision& period, Seconds deadline, Seconds spread, Instant now);

}  // namespace kron
