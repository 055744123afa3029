#include "kron/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "kron/scheduler/occasion.h"

namespace kron {
namespace {

// How long the loop may have been busy with one turn before what became due meanwhile counts as late.
constexpr Seconds kLongestBusyTurn{10};

// The periods as they will be once `period` is handled.
JobState periods_after(const Job& job, const JobState& periods, Instant period, Turn turn) {
  JobState after = periods;
  mark_handled(job, after, period, turn);
  return after;
}

}  // namespace

Scheduler::Scheduler(World world, MakeSpec make_spec) : world_(world), make_spec_(std::move(make_spec)) {}

Turn Scheduler::turn_at(Instant t) const {
  if (!was_busy_ || !last_turn_ || t <= *last_turn_) return Turn::at(t);
  return {t, std::max(*last_turn_ + Seconds(1), t - kLongestBusyTurn)};
}

Wakeup Scheduler::tick() {
  if (broken()) return {};
  const Instant t = now(world_.clock);
  const Turn turn = turn_at(t);
  if (last_turn_ && t < *last_turn_) plan_what_is_ahead_again(t);
  last_turn_ = t;
  batch_size_ = kFirstBatch;
  std::vector<RunExit> exits = std::exchange(unrecorded_exits_, {});
  std::ranges::move(world_.runner.drain_exits(), std::back_inserter(exits));
  for (const RunExit& exit : exits) {
    take_exit(exit, t);
    commit_if_full();
  }
  settle_waiting(turn);
  while (!broken() && !stopping_) {
    const std::optional<JobNumber> job = timers_.pop_due(t);
    if (!job) break;
    if (!jobs_.is_wanted(*job)) continue;
    look_at(*job, turn);
    commit_if_full();
  }
  commit();
  jobs_.let_rest();
  Wakeup wakeup;
  if (broken()) return wakeup;
  if (!stopping_) wakeup.at = timers_.earliest();
  if (!unrecorded_exits_.empty()) wakeup.at = std::min(wakeup.at.value_or(t + kRetry), t + kRetry);
  for (const JobNumber job : waiting_) {
    const Nanoseconds at = jobs_.wake(job).waiting->give_up_at;
    wakeup.monotonic = std::min(wakeup.monotonic.value_or(at), at);
  }
  was_busy_ = wakeup.at && *wakeup.at <= now(world_.clock);
  return wakeup;
}

// The clock went back: what was passed over, or not yet counted, may be ahead again.
void Scheduler::plan_what_is_ahead_again(Instant t) {
  for (JobNumber job = 0; job < jobs_.end(); ++job) {
    if (!jobs_.is_wanted(job)) continue;
    if (jobs_.has_open_or_passed_over(job) || jobs_.first_seen(job).value_or(t) > t) plan(job, t);
    commit_if_full();
  }
}

// Everything this turn has to say about one job.
void Scheduler::look_at(JobNumber job, Turn turn) {
  settle_in_flight(job);
  Entry& entry = jobs_.wake(job);
  const Job& definition = entry.definition.job;
  say_closed(entry, settle(definition, entry.known.periods, turn.now).closed);
  if (entry.waiting) {
    const auto& waits = entry.waiting->occasion.period;
    const JobState others =
        waits ? periods_after(definition, entry.known.periods, waits->nominal, turn) : entry.known.periods;
    const Evaluation evaluation = evaluate(definition, others, true, turn);
    if (std::holds_alternative<Wait>(evaluation.action)) return plan(job, turn.now);
    supersede_waiting(job, turn);
  }
  while (true) {
    const Evaluation evaluation = evaluate(definition, entry.known.periods, !entry.known.active.empty(), turn);
    if (std::holds_alternative<Wait>(evaluation.action)) break;
    const auto* start = std::get_if<Start>(&evaluation.action);
    if (start != nullptr && start->replace && holds_runs(job)) {
      // What it replaces stands at its gate since a moment ago: only a run that is let go can be ended.
      commit();
      if (entry.known.active.empty()) return;  // undone, and to be tried again
      continue;
    }
    if (evaluation.passed_over) {
      Step& step = step_for(job);
      step.ledger.history.push_back(history_of(*evaluation.passed_over, turn.now));
      step.log_lines.push_back(passed_over_line(entry, *evaluation.passed_over, turn.now));
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
  if (!start.replace) {
    start_period(job, start.period, turn);
    return true;
  }
  const JobState others = periods_after(definition, entry.known.periods, start.period.nominal, turn);
  const Evaluation next = evaluate(definition, others, true, turn);
  if (std::holds_alternative<Start>(next.action)) {
    record(job, {start.period, Outcome::skipped, Reason::replaced_before_start}, turn);
    return true;
  }
  begin_replace(job, occasion_of(definition.identity, start.period));
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
  say_closed(entry, settle(entry.definition.job, entry.known.periods, t).closed);
  if (!entry.waiting) {
    timers_.set(job, next_look_at(entry.definition.job, entry.known.periods, !entry.known.active.empty(), t));
    return;
  }
  // What waits has its own clock; the next period supersedes it when it comes.
  const auto& waits = entry.waiting->occasion.period;
  const JobState others = waits ? periods_after(entry.definition.job, entry.known.periods, waits->nominal, Turn::at(t))
                                : entry.known.periods;
  const std::optional<Decision> next = next_open_period(entry.definition.job, others, t);
  timers_.set(job, next ? std::optional(next->due()) : std::nullopt);
}

}  // namespace kron
