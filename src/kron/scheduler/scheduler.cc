#include "kron/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "kron/scheduler/occasion.h"

namespace kron {
namespace {

// How long the loop may have been busy with one turn before what became due meanwhile counts as late.
constexpr Seconds kLongestBusyTurn{10};

// How many jobs are made durable together: large enough to share the syncs, small enough that the first gates of a
// crowd open soon.
constexpr std::size_t kBatch = 128;

// A step that could not be written is tried again after this long.
constexpr Seconds kRetry{5};

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
    if (jobs_[*job] == nullptr || jobs_[*job]->removed) continue;
    look_at(*job, turn);
    commit_if_full();
  }
  commit();
  Wakeup wakeup;
  if (broken()) return wakeup;
  if (!stopping_) wakeup.at = timers_.earliest();
  if (!unrecorded_exits_.empty()) wakeup.at = std::min(wakeup.at.value_or(t + kRetry), t + kRetry);
  for (const JobNumber job : waiting_) {
    const Nanoseconds at = jobs_[job]->waiting->give_up_at;
    wakeup.monotonic = std::min(wakeup.monotonic.value_or(at), at);
  }
  was_busy_ = wakeup.at && *wakeup.at <= now(world_.clock);
  return wakeup;
}

// The clock went back: what was passed over, or not yet counted, may be ahead again.
void Scheduler::plan_what_is_ahead_again(Instant t) {
  for (JobNumber job = 0; job < jobs_.size(); ++job) {
    if (jobs_[job] == nullptr) continue;
    const JobState& periods = jobs_[job]->known.periods;
    if (!periods.passed_over.empty() || periods.first_seen.value_or(t) > t) plan(job, t);
  }
}

// Everything this turn has to say about one job.
void Scheduler::look_at(JobNumber job, Turn turn) {
  Entry& entry = *jobs_[job];
  const Job& definition = entry.definition.job;
  settle(definition, entry.known.periods, turn.now);
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
      step.log_lines.push_back(passed_over_line(entry, *evaluation.passed_over));
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
  const Entry& entry = *jobs_[job];
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

// When this job must be looked at next.
void Scheduler::plan(JobNumber job, Instant t) {
  if (jobs_[job] == nullptr || jobs_[job]->removed) return;
  Entry& entry = *jobs_[job];
  settle(entry.definition.job, entry.known.periods, t);
  if (!entry.waiting) {
    const Evaluation evaluation =
        evaluate(entry.definition.job, entry.known.periods, !entry.known.active.empty(), Turn::at(t));
    const auto* wait = std::get_if<Wait>(&evaluation.action);
    timers_.set(job, wait != nullptr ? wait->until : std::optional(t));
    return;
  }
  // What waits has its own clock; the next period supersedes it when it comes.
  const auto& waits = entry.waiting->occasion.period;
  const JobState others = waits ? periods_after(entry.definition.job, entry.known.periods, waits->nominal, Turn::at(t))
                                : entry.known.periods;
  const std::optional<Decision> next = next_open_period(entry.definition.job, others, t);
  timers_.set(job, next ? std::optional(next->due()) : std::nullopt);
}

Scheduler::Step& Scheduler::step_for(JobNumber job) {
  const auto known = std::ranges::find(steps_, job, &Step::job);
  if (known != steps_.end()) return *known;
  Step& step = steps_.emplace_back();
  step.job = job;
  step.before = jobs_[job]->known;
  step.ledger.identity = jobs_[job]->definition.job.identity;
  step.ledger.history_cap = jobs_[job]->definition.options->history;
  return step;
}

bool Scheduler::holds_runs(JobNumber job) const {
  const auto known = std::ranges::find(steps_, job, &Step::job);
  return known != steps_.end() && !known->held.empty();
}

// Makes the turn's steps durable, then lets the runs go. If we die before the write, nothing has happened: the runs die
// at their gates. If we die after it and before a gate opens, that run is recorded as started and never ran: its
// period is executed with an unknown exit code, which is allowed; a second run would not be.
void Scheduler::commit() {
  if (steps_.empty()) return;
  std::vector<LedgerStep> ledger_steps;
  ledger_steps.reserve(steps_.size());
  for (Step& step : steps_) {
    step.ledger.now = jobs_[step.job]->known;
    ledger_steps.push_back(std::move(step.ledger));
  }
  const std::vector<Status> written = world_.ledger.write(ledger_steps);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (!written[i]) {
      world_.log.error("record_failed",
                       {{"identity", ledger_steps[i].identity}, {"reason", written[i].error().message}});
      undo(step);
      continue;
    }
    for (const std::string& run_id : step.held) {
      if (const Status opened = world_.runner.open_gate(run_id); !opened) {
        world_.log.error("gate_failed", {{"runId", run_id}, {"reason", opened.error().message}});
      }
    }
    for (const RunExit& exit : step.ended) job_of_run_.erase(exit.run_id);
    for (const auto& say : step.log_lines) say();
    forget_if_idle(step.job);
  }
  steps_.clear();
}

void Scheduler::commit_if_full() {
  if (steps_.size() >= kBatch) commit();
}

// A step that is not durable has not happened: its runs are ended at their gates, its job is as before.
void Scheduler::undo(Step& step) {
  for (const std::string& run_id : step.held) {
    world_.runner.abandon(run_id);
    job_of_run_.erase(run_id);
  }
  Entry& entry = *jobs_[step.job];
  entry.known = std::move(step.before);
  std::ranges::move(step.ended, std::back_inserter(unrecorded_exits_));
  timers_.set(step.job, now(world_.clock) + kRetry);
}

}  // namespace kron
