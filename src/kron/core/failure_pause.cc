#include "kron/core/failure_pause.h"

#include <string>

namespace kron {
namespace {

std::string note_of(std::uint32_t failures, int exit_code) {
  const std::string exit = "exit " + std::to_string(exit_code);
  if (failures == 1) return "its run failed with " + exit;
  return std::to_string(failures) + " runs in a row failed, the last with " + exit;
}

}  // namespace

bool note_end(const Policy& policy, JobState& state, std::optional<KnownEnd> end, Instant now) {
  if (policy.pause_after == 0) {
    state.failures_in_a_row = 0;
    return false;
  }
  if (!end) return false;
  const std::uint32_t failures = end->has_failed ? state.failures_in_a_row + 1 : 0;
  state.failures_in_a_row = failures;
  if (failures < policy.pause_after) return false;
  state.failures_in_a_row = 0;
  std::optional<Suspension>& pause = state.suspended;
  const bool lasts = pause && (!pause->until || *pause->until > now);
  if (lasts && !pause->until) return false;  // somebody has paused it already, until it is resumed
  pause = Suspension{.since = lasts ? pause->since : now,
                     .until = std::nullopt,
                     .skip_missed = lasts && pause->skip_missed,
                     .by = std::string(kPausedByFailures),
                     .note = note_of(failures, end->exit_code)};
  return true;
}

}  // namespace kron
