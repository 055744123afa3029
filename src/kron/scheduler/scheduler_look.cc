#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/core/catch_up.h"
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

// The period that an evaluation is about, if one is due.
std::optional<Decision> judged_by(const Evaluation& evaluation) {
  if (const auto* record = std::get_if<Record>(&evaluation.action)) return record->period;
  if (const auto* start = std::get_if<Start>(&evaluation.action)) return start->period;
  const Wait& wait = std::get<Wait>(evaluation.action);
  return wait.is_queued ? wait.next : std::nullopt;
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
  const auto report_passed_over = [&](const Evaluation& evaluation) {
    if (!evaluation.passed_over) return;
    const Instant at = now(world_.clock);
    Step& step = step_for(job, turn);
    step.ledger.history.push_back(history_of(*evaluation.passed_over, at));
    step.events.emplace_back(PeriodsPassedOver{definition.identity, *evaluation.passed_over, at});
  };
  bool has_waited = false;
  std::optional<Instant> had_no_slot;
  if (entry.waiting) {
    const WaitFate fate = fate_of_waiting(entry, turn);
    if (fate == WaitFate::goes_on) return plan(job, turn.now);
    has_waited = fate == WaitFate::is_over;
    if (has_waited && entry.waiting->lacks_slot != nullptr && entry.waiting->cause.period) {
      had_no_slot = entry.waiting->cause.period->nominal;
    }
    if (fate == WaitFate::is_superseded) {
      // What was late beside it before the other was due is closed with it, and told of.
      if (entry.waiting->is_queued_period()) {
        report_passed_over(evaluate(definition, entry.known.periods, false, Turn::at(turn.on_time_since - Seconds(1))));
      }
      supersede_waiting(job, turn);
    } else {
      (void)end_waiting(job);
    }
  }
  while (true) {
    const Evaluation evaluation = evaluate_with_slots(entry, turn);
    if (const auto* wait = std::get_if<Wait>(&evaluation.action)) {
      if (wait->is_queued) {
        RunCause cause = cause_of(scope_of(entry.definition), *wait->next);
        if (wait->for_slot) begin_slot_wait(job, std::move(cause), std::nullopt);
        if (!wait->for_slot) begin_queue(job, std::move(cause));
        return plan(job, turn.now);
      }
      // It knows the next period: asking again would decide it again.
      if (jobs_.is_wanted(job)) timers_.set(job, wait->until);
      return;
    }
    const auto* start = std::get_if<Start>(&evaluation.action);
    if (start != nullptr && !has_waited && is_spread(job, start->period, turn)) return;
    if (start != nullptr && start->replace && holds_runs(job)) {
      // What it replaces stands at its gate since a moment ago: only a run that is let go can be ended.
      if (!commit_step(job).is_done()) return;  // undone, and to be tried again
      continue;
    }
    report_passed_over(evaluation);
    if (const auto* outcome = std::get_if<Record>(&evaluation.action)) {
      Record said = *outcome;
      // What kept it, until its deadline was over.
      if (said.outcome == Outcome::missed && said.period.nominal == had_no_slot) said.reason = Reason::no_slot;
      record(job, said, turn);
    } else if (!carry_out(job, *start, turn)) {
      break;
    }
  }
  plan(job, turn.now);
}

// As evaluate(), and what is to start needs a slot. Only who could start asks for one.
Evaluation Scheduler::evaluate_with_slots(const Entry& entry, Turn turn) {
  const Job& job = entry.definition.job;
  const bool has_active_runs = !entry.known.active.empty();
  Evaluation evaluation = evaluate(job, entry.known.periods, has_active_runs, turn);
  const auto* start = std::get_if<Start>(&evaluation.action);
  if (start == nullptr || start->replace) return evaluation;
  const Slots::Group* group = slots_.group_of(entry.definition);
  if (group == nullptr || slots_.may_start(*group, {*start->period.chosen, job.identity})) return evaluation;
  return evaluate(job, entry.known.periods, has_active_runs, turn,
                  world_.others_may_start ? Slot::none_here : Slot::none);
}

// What becomes of a run that waits, when its job is looked at. One that replaces others, or was asked for by hand, goes
// on waiting unless a period is due; settle_waiting() says when it has waited long enough. A queued period is judged
// anew: its wait is over when the runs before it have ended, or its deadline.
Scheduler::WaitFate Scheduler::fate_of_waiting(const Entry& entry, Turn turn) {
  const Job& job = entry.definition.job;
  const auto& waits = entry.waiting->cause.period;
  if (!entry.waiting->is_queued_period()) {
    const JobState others = waits ? periods_after(job, entry.known.periods, waits->nominal, turn) : entry.known.periods;
    return judged_by(evaluate(job, others, true, turn)) ? WaitFate::is_superseded : WaitFate::goes_on;
  }
  const Evaluation evaluation = evaluate_with_slots(entry, turn);
  const std::optional<Decision> judged = judged_by(evaluation);
  if (!judged) return WaitFate::is_over;  // the clock went back
  if (judged->nominal == waits->nominal) {
    const auto* wait = std::get_if<Wait>(&evaluation.action);
    // What it waits for may be another thing now.
    const bool is_same = wait != nullptr && wait->for_slot == (entry.waiting->lacks_slot != nullptr);
    return is_same ? WaitFate::goes_on : WaitFate::is_over;
  }
  // Of what is late, only the latest is looked at: recording this one would close that.
  return judged->due() < turn.on_time_since ? WaitFate::is_passed_over : WaitFate::is_superseded;
}

// A period that was found late, and does not start at once: all that were late together would start together. Nothing
// of it is written: a restart draws again, within what is left of the deadline. A later period that is due meanwhile is
// judged in its stead.
bool Scheduler::is_spread(JobNumber job, const Decision& period, Turn turn) {
  const Policy& policy = jobs_.wake(job).definition.job.policy;
  const Seconds spread = policy.catch_up_spread.value_or(world_.catch_up_spread);
  if (spread <= Seconds(0)) return false;
  const auto known = spread_.find(job);
  if (known != spread_.end() && known->second.period == period.nominal) {
    if (known->second.at <= turn.now) return false;
  } else {
    const Instant at = catch_up_start(period, policy.deadline, spread, turn.now);
    spread_.erase(job);
    if (at <= turn.now) return false;
    spread_[job] = {period.nominal, at};
    world_.log.info("start_spread", {{"identity", jobs_.identity(job)},
                                     {"periodId", rfc3339(period.nominal)},
                                     {"chosenTime", rfc3339(*period.chosen)},
                                     {"until", rfc3339(at)}});
  }
  plan_after(job, turn.now);
  return true;
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
  return wait != nullptr && !wait->is_queued ? wait->until : std::optional(t);
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
  std::optional<Instant> at = next ? std::optional(next->due()) : std::nullopt;
  const auto no_later_than = [&](Instant other) { at = std::min(at.value_or(other), other); };
  if (entry.waiting && entry.waiting->is_queued_period()) {
    // What was on time, and has no time left, is judged by the clock from the next second on.
    const bool is_patient = entry.waiting->lacks_slot != nullptr && world_.others_may_start;
    const Seconds longest = longest_wait(definition.policy, is_patient ? Slot::none_here : Slot::none);
    no_later_than(std::max(*entry.waiting->cause.period->chosen + longest, t) + Seconds(1));
  }
  if (const auto spread = spread_.find(job); spread != spread_.end() && spread->second.at > t) {
    no_later_than(spread->second.at);
  }
  timers_.set(job, at);
}

}  // namespace kron
