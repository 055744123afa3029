#include "kron/forecast/next_start.h"

#include <variant>

#include "kron/core/evaluate.h"

namespace kron {
namespace {

// Periods that are looked at in vain: a list of jobs must not wait for one whose days off last for years.
constexpr int kMostLooks = 200;

}  // namespace

std::optional<NextStart> next_start(const Job& job, JobState state, bool has_active_runs, Instant now) {
  Instant at = now;
  if (is_suspended(job, state, at)) {
    if (job.policy.suspend || !state.suspended || !state.suspended->until) return std::nullopt;
    at = *state.suspended->until;
  }
  for (int looks = 0; looks < kMostLooks; ++looks) {
    const Turn turn = Turn::at(at);
    const Evaluation evaluation = evaluate(job, state, has_active_runs && at == now, turn);
    if (const auto* start = std::get_if<Start>(&evaluation.action)) return NextStart{start->period, at};
    if (const auto* record = std::get_if<Record>(&evaluation.action)) {
      mark_handled(job, state, record->period.nominal, turn);
      continue;
    }
    const Wait& wait = std::get<Wait>(evaluation.action);
    if (!wait.next) return std::nullopt;
    if (wait.is_queued) return NextStart{*wait.next, at};  // as soon as the run before it has ended
    at = wait.next->due();
  }
  return std::nullopt;
}

}  // namespace kron
