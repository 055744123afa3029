#pragma once

#include <optional>

#include "kron/base/failure_rule.h"
#include "kron/core/job.h"
#include "kron/core/state.h"

namespace kron {

// Who suspends a job that fails.
inline constexpr std::string_view kPausedByFailures = "kron";

// How a run has ended, by its code and what its record says of that (base/failure_rule.h).
struct KnownEnd {
  KnownEnd(int code, std::optional<bool> decided = {})  // NOLINT(google-explicit-constructor): a code says it all
      : exit_code(code), has_failed(counts_as_failed(decided, code)) {}

  int exit_code;
  bool has_failed;
};

// A run that its schedule has set going has ended; `end`: none when nobody knows how. Counts the failures in a row
// and, when the policy has seen enough, suspends the job from `now` until it is resumed. True when it did: then the
// count begins anew. The state is to be written with the end, in one step, so that nothing starts in between. Without
// pause_after nothing is counted.
bool note_end(const Policy& policy, JobState& state, std::optional<KnownEnd> end, Instant now);

}  // namespace kron
