#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kron/core/decision.h"

namespace kron {

// How much of a period's window its constraints allow, weighted by the distribution, and what that means for the fixed
// budget of 64 draws. Exact: summed over the allowed intervals, not sampled.
struct AllowedShare {
  double share = 1;                 // 0 … 1
  double chance_unschedulable = 0;  // (1 - share)^64; for a zero window 0 or 1
};
AllowedShare allowed_share(const Job& job, Instant nominal);

// The stretches of the period's window that its constraints allow, in order, both ends of each included; at most
// `most`.
std::vector<Window> allowed_spans(const Job& job, Instant nominal, std::size_t most);

// Why the constraints allow no second of the period's window at all (a planned day off): the clause that alone forbids
// it, as "avoid calendar=holidays", or all of them when it takes several. Nothing when some second is allowed, however
// unlikely it is to be drawn.
std::optional<std::string> excluded_by(const Job& job, Instant nominal);

}  // namespace kron
