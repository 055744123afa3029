#pragma once

#include "kron/core/decision.h"

namespace kron {

// How much of a period's window its constraints allow, weighted by the distribution, and what that means for the fixed
// budget of 64 draws. Exact: summed over the allowed intervals, not sampled.
struct AllowedShare {
  double share = 1;                 // 0 … 1
  double chance_unschedulable = 0;  // (1 - share)^64; for a zero window 0 or 1
};
AllowedShare allowed_share(const Job& job, Instant nominal);

}  // namespace kron
