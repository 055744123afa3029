#include "kron/core/evaluate.h"

#include <algorithm>
#include <utility>

#include "kron/core/allowed_share.h"
#include "kron/core/period_view.h"

namespace kron {

NoTime why_no_time(const Job& job, Instant nominal) {
  std::optional<std::string> clause = excluded_by(job, nominal);
  return clause ? NoTime{Reason::excluded, *std::move(clause)} : NoTime{Reason::no_candidate, {}};
}

bool is_suspended(const Job& job, const JobState& state, Instant now) {
  return job.policy.suspend || (state.suspended && (!state.suspended->until || *state.suspended->until > now));
}

RunOverlap overlap_of(const Policy& policy, bool has_active_runs) {
  if (!has_active_runs || policy.concurrency == Concurrency::allow) return RunOverlap::start;
  if (policy.concurrency == Concurrency::queue) return RunOverlap::wait;
  return policy.concurrency == Concurrency::replace ? RunOverlap::replace : RunOverlap::skip;
}

Seconds longest_wait(const Policy& policy, Slot slot) {
  return slot == Slot::none_here ? std::max(policy.deadline, kOthersMayStart) : policy.deadline;
}

namespace {

// It became due before the end of a pause whose author did not want it caught up with.
bool was_paused_away(const JobState& state, const Decision& period) {
  return state.suspended && state.suspended->skip_missed && state.suspended->until &&
         period.due() < *state.suspended->until;
}

// The first of those that are due. At most one waits: a later one that is due takes its place.
Action judge(const Job& job, const JobState& state, const std::vector<Decision>& due, bool has_active_runs, Turn turn,
             Slot slot) {
  const Decision& period = due.front();
  if (!period.chosen) {
    NoTime why = why_no_time(job, period.nominal);
    return Record{period, Outcome::unschedulable, why.reason, std::move(why.clause)};
  }
  if (was_paused_away(state, period)) return Record{period, Outcome::skipped, Reason::paused};
  const bool on_time = *period.chosen >= turn.on_time_since;
  if (!on_time && turn.now - *period.chosen > job.policy.deadline) {
    return Record{period, Outcome::missed, Reason::deadline};
  }
  const RunOverlap overlap = overlap_of(job.policy, has_active_runs);
  // What replaces a run has that run's slot.
  const bool lacks_slot = overlap == RunOverlap::start && slot != Slot::free;
  if (lacks_slot) {
    const Seconds longest = longest_wait(job.policy, slot);
    if (longest == Seconds(0) || turn.now - *period.chosen > longest) {
      return Record{period, Outcome::missed, Reason::no_slot};
    }
  }
  if (overlap == RunOverlap::wait || lacks_slot) {
    if (due.size() > 1) return Record{period, Outcome::skipped, Reason::superseded_while_waiting};
    const Seconds longest = lacks_slot ? longest_wait(job.policy, slot) : job.policy.deadline;
    return Wait{*period.chosen + longest + Seconds(1), period, true, lacks_slot};
  }
  if (overlap == RunOverlap::skip) return Record{period, Outcome::skipped, Reason::concurrency_forbid};
  return Start{period, overlap == RunOverlap::replace};
}

}  // namespace

Evaluation evaluate(const Job& job, const JobState& state, bool has_active_runs, Turn turn, Slot slot) {
  if (is_suspended(job, state, turn.now)) {
    const bool by_policy = job.policy.suspend || !state.suspended;
    return {Wait{by_policy ? std::nullopt : state.suspended->until, std::nullopt}, std::nullopt};
  }
  if (job.schedule.kind == Schedule::Kind::reboot) return {Wait{}, std::nullopt};
  const OpenPeriods open = due_periods(job, state, turn);
  if (open.due.empty()) {
    const std::optional<Decision> next = next_open_period(job, state, turn.now);
    return {Wait{next ? std::optional(next->due()) : std::nullopt, next}, {}};
  }
  Action action = judge(job, state, open.due, has_active_runs, turn, slot);
  // What is waited with is not handled, and closes nothing yet.
  if (std::holds_alternative<Wait>(action)) return {std::move(action), std::nullopt};
  return {std::move(action), open.passed_over};
}

}  // namespace kron
