#include <algorithm>
#include <utility>

#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

// The periods as they will be once `period` is handled.
JobState periods_after(const Job& job, const JobState& periods, Instant period, Turn turn) {
  JobState after = periods;
  mark_handled(job, after, period, turn);
  return after;
}

}  // namespace

// A run whose end is known is over, although the ends of others are taken first: its job waits for that, and keeps its
// turn, or a period would be skipped for the sake of a run that is no more.
bool Scheduler::has_untaken_end(JobNumber job) {
  if (exits_.empty() || !jobs_.has_runs(job)) return false;
  return std::ranges::any_of(jobs_.wake(job).known.active,
                             [&](const ActiveExecution& run) { return untaken_.contains(run.run_id); });
}

// Everything this turn has to say about one job.
void Scheduler::look_at(JobNumber job, Turn turn) {
  if (has_untaken_end(job)) {
    postponed_.emplace_back(job, turn);
    return;
  }
  settle_in_flight(job);
  if (!redo(job, turn)) return;
  judge(job, turn);
  if (!steps_.contains(job) && !backlog_.turn_of(job)) repeats_.erase(job);
}

void Scheduler::judge(JobNumber job, Turn turn) {
  Entry& entry = jobs_.wake(job);
  const Job& definition = entry.definition.job;
  notify_closed(entry, settle(definition, entry.known.periods, now(world_.clock)).closed);
  if (entry.waiting) {
    const auto& waits = entry.waiting->cause.period;
    const JobState others =
        waits ? periods_after(definition, entry.known.periods, waits->nominal, turn) : entry.known.periods;
    const Evaluation evaluation = evaluate(definition, others, true, turn);
    if (std::holds_alternative<Wait>(evaluation.action)) return plan(job, turn.now);
    supersede_waiting(job, turn);
  }
  while (true) {
    const Evaluation evaluation = evaluate(definition, entry.known.periods, !entry.known.active.empty(), turn);
    if (const auto* wait = std::get_if<Wait>(&evaluation.action)) {
      // It knows the next period: asking again would decide it again.
      if (jobs_.is_wanted(job)) timers_.set(job, wait->until);
      return;
    }
    const auto* start = std::get_if<Start>(&evaluation.action);
    if (start != nullptr && start->replace && holds_runs(job)) {
      // What it replaces stands at its gate since a moment ago: only a run that is let go can be ended.
      if (!commit_step(job).is_done()) return;  // undone, and to be tried again
      continue;
    }
    if (evaluation.passed_over) {
      const Instant at = now(world_.clock);
      Step& step = step_for(job, turn);
      step.ledger.history.push_back(history_of(*evaluation.passed_over, at));
      step.events.emplace_back(PeriodsPassedOver{definition.identity, *evaluation.passed_over, at});
    }
    if (const auto* outcome = std::get_if<Record>(&evaluation.action)) {
      record(job, *outcome, turn);
    } else if (!carry_out(job, *start, turn)) {
      break;
    }
  }
  plan(job, turn.now);
}

// True when the period is dealt with; false when it has to wait for the runs it replaces.
bool Scheduler::carry_out(JobNumber job, const Start& start, Turn turn) {
  const Entry& entry = jobs_.wake(job);
  const Job& definition = entry.definition.job;
  const bool is_decided = repeats_.contains(job) &&
                          verdict_on(job, run_id_of(scope_of(entry.definition), start.period.nominal)) != Verdict::none;
  if (!start.replace || is_decided) {
    start_period(job, start.period, turn);
    return true;
  }
  const JobState others = periods_after(definition, entry.known.periods, start.period.nominal, turn);
  const Evaluation next = evaluate(definition, others, true, turn);
  if (std::holds_alternative<Start>(next.action)) {
    record(job, {start.period, Outcome::skipped, Reason::replaced_before_start}, turn);
    return true;
  }
  begin_replace(job, cause_of(scope_of(entry.definition), start.period));
  return false;
}

std::optional<Instant> Scheduler::next_look_at(const Job& job, const JobState& periods, bool has_runs, Instant t) {
  const Evaluation evaluation = evaluate(job, periods, has_runs, Turn::at(t));
  const auto* wait = std::get_if<Wait>(&evaluation.action);
  return wait != nullptr ? wait->until : std::optional(t);
}

// When this job must be looked at next.
void Scheduler::plan(JobNumber job, Instant t) {
  if (!jobs_.is_wanted(job)) return;
  Entry& entry = jobs_.wake(job);
  notify_closed(entry, settle(entry.definition.job, entry.known.periods, now(world_.clock)).closed);
  if (entry.waiting) return plan_after(job, t);
  timers_.set(job, next_look_at(entry.definition.job, entry.known.periods, !entry.known.active.empty(), t));
}

// What is due already is seen to, or waits by a clock of its own: the next period counts.
void Scheduler::plan_after(JobNumber job, Instant t) {
  const Entry& entry = jobs_.wake(job);
  const Job& definition = entry.definition.job;
  JobState periods = entry.known.periods;
  if (entry.waiting && entry.waiting->cause.period) {
    mark_handled(definition, periods, entry.waiting->cause.period->nominal, Turn::at(t));
  }
  const std::optional<Decision> next = next_open_period(definition, periods, t);
  timers_.set(job, next ? std::optional(next->due()) : std::nullopt);
}

}  // namespace kron
