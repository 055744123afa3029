#pragma once

#include <optional>

#include "kron/core/decision.h"
#include "kron/core/state.h"

namespace kron {

struct NextStart {
  Decision period;
  Instant at;  // its chosen time; later when a pause ends after it and its deadline still allows it, or it is spread

  bool operator==(const NextStart&) const = default;
};

// Pure: the first period that will run, and when, if nothing changes until then: a pause ends when it is said to, what
// is missed, skipped or has no allowed time is left out. `has_active_runs` counts at `now` only. Nothing for @reboot,
// for what is paused until it is resumed or suspended by its definition, and when there is none within many periods.
std::optional<NextStart> next_start(const Job& job, JobState state, bool has_active_runs, Instant now);

}  // namespace kron
