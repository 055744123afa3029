#include "kron/core/evaluate.h"

namespace kron {

bool is_suspended(const Job& job, const JobState& state, Instant now) {
  return job.policy.suspend || (state.suspended && (!state.suspended->until || *state.suspended->until > now));
}

namespace {

Action judge(const Job& job, const Decision& period, bool has_active_runs, Turn turn) {
  if (!period.chosen) return Record{period, Outcome::unschedulable, Reason::no_candidate};
  const bool on_time = *period.chosen >= turn.on_time_since;
  if (!on_time && turn.now - *period.chosen > job.policy.deadline) {
    return Record{period, Outcome::missed, Reason::deadline};
  }
  if (!has_active_runs || job.policy.concurrency == Concurrency::allow) return Start{period, false};
  if (job.policy.concurrency == Concurrency::replace) return Start{period, true};
  return Record{period, Outcome::skipped, Reason::concurrency_forbid};
}

}  // namespace

Evaluation evaluate(const Job& job, const JobState& state, bool has_active_runs, Turn turn) {
  if (is_suspended(job, state, turn.now)) {
    const bool by_policy = job.policy.suspend || !state.suspended;
    return {Wait{by_policy ? std::nullopt : state.suspended->until, std::nullopt}, std::nullopt};
  }
  if (job.schedule.kind == Schedule::Kind::reboot) return {Wait{}, std::nullopt};
  const OpenPeriods open = open_periods(job, state, turn);
  if (open.due.empty()) return {Wait{open.next ? std::optional(open.next->due()) : std::nullopt, open.next}, {}};
  return {judge(job, open.due.front(), has_active_runs, turn), open.passed_over};
}

}  // namespace kron
