#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/failure_pause.h"
#include "kron/core/make_job.h"
#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

// After KILL; what lives on sits in the kernel and cannot be stopped.
constexpr Seconds kAfterKill{10};

}  // namespace

// Runs of an earlier daemon: still alive, and their end will be seen; or over, and how is in the helper's file unless
// the machine went down with them.
void Scheduler::recover_runs(const std::vector<JobNumber>& jobs) {
  const Instant t = now(world_.clock);
  for (const JobNumber job : jobs) {
    if (!jobs_.has_runs(job)) continue;
    const std::vector<ActiveExecution> active = jobs_.known(job).active;
    for (const ActiveExecution& run : active) {
      const RunWork work = make_work_(jobs_.wake(job).definition, cause_of(run));
      if (const auto exit = launcher_.adopt(work, run)) {
        take_exit(*exit, t);
      } else {
        notify(RunAdopted{jobs_.identity(job), run});
      }
    }
    commit_if_full();
  }
  commit();
}

void Scheduler::start_reboot_jobs(Instant t) {
  for (JobNumber job = 0; job < jobs_.end(); ++job) {
    if (!jobs_.is_wanted(job) || jobs_.schedule(job).kind != Schedule::Kind::reboot) continue;
    const KnownJob known = jobs_.known(job);
    if (known.last_boot_id == world_.clock.boot_id()) continue;
    if (is_suspended(jobs_.definition(job).job, known.periods, t)) continue;
    start_for_boot(job, t);
    commit_if_full();
  }
}

// Its period is the daemon's start; the next second, should that have been a period of the job's already.
void Scheduler::start_for_boot(JobNumber job, Instant t) {
  Entry& entry = jobs_.wake(job);
  JobState& periods = entry.known.periods;
  if (periods.last_handled) t = std::max(t, *periods.last_handled + Seconds(1));
  Decision period;
  period.nominal = t;
  period.chosen = t;
  period.window = {t, t};
  const RunCause cause{boot_run_id(scope_of(entry.definition), world_.clock.boot_id()), Trigger::reboot, period};
  const Verdict verdict = verdict_on(job, cause.run_id);
  const bool is_locked_out = verdict == Verdict::locked_out;
  if (verdict == Verdict::none && !may_start(job, cause)) {
    // As long as it waits, the record does not say that it has seen this boot.
    if (entry.definition.job.policy.deadline == Seconds(0)) return give_up_boot(job, cause);
    return begin_slot_wait(job, cause, patience_of(entry));
  }
  step_for(job).is_for_boot = true;
  entry.known.last_boot_id = world_.clock.boot_id();
  const bool started =
      !is_locked_out && (verdict == Verdict::ran || was_let_go_before(job, cause, t) || launch(job, cause));
  LedgerStep& step = step_for(job).ledger;
  periods.last_handled = t;
  step.last_outcome = started ? Outcome::executed : Outcome::skipped;
  step.last_chosen = t;
  if (started) return;
  const Record outcome{period, Outcome::skipped, is_locked_out ? Reason::lock_held : Reason::start_failed};
  step.history.push_back(history_of(outcome, t));
  step_for(job).events.emplace_back(event_of(entry.definition.job, outcome, t));
}

void Scheduler::start_period(JobNumber job, const Decision& period, Turn turn) {
  Entry& entry = jobs_.wake(job);
  const RunCause cause = cause_of(scope_of(entry.definition), period);
  const Verdict verdict = verdict_on(job, cause.run_id);
  if (verdict == Verdict::locked_out) return record(job, {period, Outcome::skipped, Reason::lock_held}, turn);
  const bool has_run = verdict == Verdict::ran;
  if (has_run) {
    const RunExit unseen{cause.run_id, std::nullopt, {}};
    step_for(job).events.emplace_back(RunFoundBefore{entry.definition.job.identity, period.nominal, unseen});
  }
  if (has_run || was_let_go_before(job, cause, turn.now) || launch(job, cause)) {
    notify_closed(entry, note_outcome(entry.definition.job, entry.known, step_for(job, turn).ledger,
                                      {period, Outcome::executed, Reason::none}, turn, turn.now));
  } else {
    record(job, {period, Outcome::skipped, Reason::start_failed}, turn);
  }
}

// The record that told of this run is gone, and the run's directory is not: it is told of again, and not run again.
bool Scheduler::was_let_go_before(JobNumber job, const RunCause& cause, Instant t) {
  const std::optional<RunExit> earlier = world_.runner.earlier_run(cause.run_id);
  if (!earlier) return false;
  Step& step = step_for(job);
  step.ledger.history.push_back(history_of(*cause.period, *earlier, cause.trigger, t));
  step.events.emplace_back(RunFoundBefore{jobs_.identity(job), cause.period->nominal, *earlier});
  note_failure(job, cause.trigger, *earlier, t);
  return true;
}

// Creates the process or the task, held until commit() has made its record durable.
bool Scheduler::launch(JobNumber job, const RunCause& cause) {
  Entry& entry = jobs_.wake(job);
  ActiveExecution launched;
  launched.run_id = cause.run_id;
  const RunWork work = make_work_(entry.definition, cause);
  if (const Status held = launcher_.hold(work, launched); !held) {
    world_.log.error("start_failed", {{"identity", entry.definition.job.identity}, {"reason", held.error().message}});
    return false;
  }
  Step& step = step_for(job);
  ActiveExecution& run = entry.known.active.emplace_back(std::move(launched));
  if (cause.period) {
    run.period = cause.period->nominal;
    run.chosen = cause.period->chosen;
  }
  run.started_at = now(world_.clock);
  run.trigger = cause.trigger;
  step.ledger.started.push_back({run.run_id, run.period, run.chosen, run.trigger, cause.has_key});
  if (const auto* task = std::get_if<TaskToSubmit>(&work)) step.ledger.started.back().task = *task;
  step.at_gate.push_back(cause.run_id);
  take_slot(cause.run_id, job);
  step.events.emplace_back(event_of(entry.definition.job, run, cause.period));
  return true;
}

// Not for long, and not when a run waits for the end of another.
bool Scheduler::ends_may_wait(Instant t) {
  const std::optional<Instant> due = timers_.earliest();
  return due && *due <= t && !stopping_ && waiting_.empty() && !slots_.has_waiters() && !ends_are_awaited_ &&
         world_.clock.monotonic() < busy_since_ + world_.ends_wait;
}

void Scheduler::keep_exits(std::vector<RunExit> exits) {
  for (RunExit& exit : exits) untaken_.insert(exits_.emplace_back(std::move(exit)).run_id);
}

// True when some are left for the next slice.
bool Scheduler::take_exits(Instant t) {
  keep_exits(launcher_.drain_exits());
  if (ends_may_wait(t)) return !exits_.empty();
  const bool clock_went_back = t < retry_exits_at_ - kRetry;
  if (t >= retry_exits_at_ || clock_went_back) {
    keep_exits(std::exchange(unrecorded_exits_, {}));
  }
  while (!exits_.empty()) {
    take_exit(exits_.front(), t);
    untaken_.erase(exits_.front().run_id);
    exits_.pop_front();
    commit_if_full();
    if (world_.clock.monotonic() >= ends_until_) break;
  }
  return !exits_.empty();
}

void Scheduler::take_exit(const RunExit& exit, Instant t) {
  const auto known = job_of_run_.find(exit.run_id);
  if (known == job_of_run_.end()) return;
  const JobNumber job = known->second.job;
  settle_in_flight(job);
  Entry& entry = jobs_.wake(job);
  const auto run = std::ranges::find(entry.known.active, exit.run_id, &ActiveExecution::run_id);
  if (run == entry.known.active.end()) return;
  Step& step = step_for(job);
  const Instant ended = exit.ended.value_or(t);
  step.ledger.history.push_back(history_of(*run, exit, ended));
  step.ended.push_back(exit);
  step.events.emplace_back(RunEnded{entry.definition.job.identity, *run, exit, ended});
  const Trigger trigger = run->trigger;
  entry.known.active.erase(run);
  note_failure(job, trigger, exit, t);
  if (entry.waiting && entry.waiting->is_queued && entry.waiting->lacks_slot == nullptr) waiting_.insert(job);
}

// In the step that records the end: if we die before it, the run has not ended; if we die after it, the job is paused.
// A run that was ended for the sake of another has not failed.
void Scheduler::note_failure(JobNumber job, Trigger trigger, const RunExit& exit, Instant t) {
  Entry& entry = jobs_.wake(job);
  if (trigger == Trigger::manual) return;
  const bool is_replaced = entry.waiting && !entry.waiting->is_queued;
  std::optional<KnownEnd> end;
  if (!is_replaced && exit.code) end = KnownEnd(*exit.code, exit.failed);
  JobState& periods = entry.known.periods;
  if (!note_end(entry.definition.job.policy, periods, end, t)) return;
  step_for(job).events.emplace_back(JobPaused{entry.definition.job.identity, *periods.suspended});
  // Nothing triggers while suspended, not even what only waits for its place.
  if (entry.waiting && entry.waiting->cause.period) (void)end_waiting(job);
}

void Scheduler::record(JobNumber job, const Record& outcome, Turn turn) {
  const Instant at = now(world_.clock);
  Entry& entry = jobs_.wake(job);
  Step& step = step_for(job, turn);
  notify_closed(entry, note_outcome(entry.definition.job, entry.known, step.ledger, outcome, turn, at));
  step.events.emplace_back(event_of(entry.definition.job, outcome, at));
}

// concurrency=replace: ends the active runs; the new one starts when they are gone. Nothing is recorded yet, so a crash
// here leaves its period to be judged anew.
void Scheduler::begin_replace(JobNumber job, RunCause cause) {
  Entry& entry = jobs_.wake(job);
  for (const ActiveExecution& run : entry.known.active) world_.runner.terminate(run.run_id);
  // No job that was read has more; the clock it is counted on has a range of 292 years.
  const Seconds grace = std::min(entry.definition.options->grace, kLongestDuration);
  const Nanoseconds give_up = world_.clock.monotonic() + grace + kAfterKill;
  entry.waiting = std::make_unique<WaitingRun>(WaitingRun{std::move(cause), give_up});
  waiting_.insert(job);
}

// concurrency=queue: it starts when the active runs have ended. A period waits as long as its deadline allows, a run by
// hand as long as that from now on. Nothing is recorded: a crash leaves the period to be judged anew.
void Scheduler::begin_queue(JobNumber job, RunCause cause) {
  Entry& entry = jobs_.wake(job);
  const Seconds deadline = std::min(entry.definition.job.policy.deadline, kLongestDuration);
  if (!cause.period) {
    entry.waiting = std::make_unique<WaitingRun>(WaitingRun{std::move(cause), patience_of(entry), true});
    waiting_.insert(job);
    return;
  }
  world_.log.info("period_waits", {{"identity", entry.definition.job.identity},
                                   {"periodId", rfc3339(cause.period->nominal)},
                                   {"chosenTime", rfc3339(*cause.period->chosen)},
                                   {"until", rfc3339(*cause.period->chosen + deadline)}});
  entry.waiting = std::make_unique<WaitingRun>(WaitingRun{std::move(cause), std::nullopt, true});
}

Nanoseconds Scheduler::patience_of(const Entry& entry) const {
  return world_.clock.monotonic() + std::min(entry.definition.job.policy.deadline, kLongestDuration);
}

// A slot that it holds is free, for it as for any other: who starts it does so at once.
WaitingRun Scheduler::end_waiting(JobNumber job) {
  waiting_.erase(job);
  WaitingRun waiting = jobs_.take_waiting(job);
  if (waiting.lacks_slot != nullptr) {
    slots_.leave(*waiting.lacks_slot, waiting.place);
    if (waiting.give_up_at) slot_give_ups_.erase({*waiting.give_up_at, job});
    slots_were_freed_ = true;  // somebody may be the first now
  }
  if (waiting.holds != nullptr) {
    slots_.give(*waiting.holds);
    slots_were_freed_ = true;
  }
  return waiting;
}

// Its period, if it has one, is as if it had not been looked at. A manual run was promised, and its end is recorded.
void Scheduler::drop_waiting(JobNumber job) {
  if (jobs_.waiting(job) == nullptr) return;
  const WaitingRun waiting = end_waiting(job);
  if (!waiting.cause.period) drop_manual_run(job, waiting.cause.run_id, Reason::start_failed);
}

// Whoever asked for it may wait for its end.
void Scheduler::drop_manual_run(JobNumber job, const std::string& run_id, Reason reason) {
  const Instant t = now(world_.clock);
  Step& step = step_for(job);
  step.ledger.history.push_back(
      {.outcome = Outcome::skipped, .reason = reason, .completed_at = t, .run_id = run_id, .trigger = Trigger::manual});
  step.dropped.push_back({run_id, reason});
  step.events.emplace_back(ManualRunDropped{jobs_.identity(job), run_id, reason, t});
}

// The job was edited. The runs before it have been ended for the one that waits, which was judged when it was due: if
// the job still has its period, and not at a later time, it is not judged again. A manual run was promised. For one
// that is queued nothing was ended: it is judged anew, by what the policy says now.
void Scheduler::keep_waiting_if_known(JobNumber job) {
  if (jobs_.waiting(job) == nullptr) return;
  Entry& entry = jobs_.wake(job);
  if (entry.waiting->is_queued_period()) return drop_waiting(job);
  if (entry.waiting->cause.trigger == Trigger::reboot) {
    if (entry.definition.job.schedule.kind != Schedule::Kind::reboot) drop_waiting(job);
    return;
  }
  std::optional<Decision>& period = entry.waiting->cause.period;
  if (!period) return;
  const Job& definition = entry.definition.job;
  const bool is_known = definition.schedule.is_nominal(period->nominal, definition.zone);
  const Decision anew = is_known ? decide(definition, period->nominal) : Decision{};
  if (anew.chosen && *anew.chosen <= now(world_.clock) && !definition.policy.suspend) {
    period = anew;
    return;
  }
  if (!is_known) {
    world_.log.info("open_period_dropped", {{"identity", definition.identity}, {"periodId", rfc3339(period->nominal)}});
  }
  drop_waiting(job);
}

// A period of the job is due while a run waits: the period takes its place.
void Scheduler::supersede_waiting(JobNumber job, Turn turn) {
  const WaitingRun waiting = end_waiting(job);
  const Reason reason = waiting.is_queued ? Reason::superseded_while_waiting : Reason::replaced_before_start;
  if (waiting.cause.period) {
    record(job, {*waiting.cause.period, Outcome::skipped, reason}, turn);
  } else {
    drop_manual_run(job, waiting.cause.run_id, reason);
  }
}

// Runs that waited for others to end: start those whose way is free, give up those whose time is over. True when the
// slice was spent before all were seen to.
bool Scheduler::settle_waiting(Instant t) {
  const std::vector<JobNumber> jobs(waiting_.begin(), waiting_.end());
  for (const JobNumber job : jobs) {
    settle_in_flight(job);
    const Entry& entry = jobs_.wake(job);
    if (!entry.waiting) continue;  // another daemon has run it
    const bool is_period = entry.waiting->is_queued_period();
    if (is_period) waiting_.erase(job);
    if (!entry.known.active.empty() && (is_period || world_.clock.monotonic() < *entry.waiting->give_up_at)) continue;
    if (is_period && stopping_) continue;
    if (is_period) {
      look_at(job, turn_of(job, t));
    } else {
      settle_waiting(job, turn_of(job, t));
      keep_due(job, t);
      plan(job, t);
    }
    commit_if_full();
    if (is_spent()) return true;
  }
  return false;
}

void Scheduler::settle_waiting(JobNumber job, Turn turn) {
  const bool free = jobs_.wake(job).known.active.empty();
  const WaitingRun waiting = end_waiting(job);
  const std::optional<Decision>& period = waiting.cause.period;
  if (free && stopping_) return;
  if (free && waiting.holds == nullptr && !may_start(job, waiting.cause)) {
    const auto give_up = waiting.is_queued ? waiting.give_up_at : std::optional(patience_of(jobs_.wake(job)));
    begin_slot_wait(job, waiting.cause, period ? std::nullopt : give_up);
  } else if (free) {
    start_judged(job, waiting.cause, turn);
  } else if (period) {
    record(job, {*period, Outcome::skipped, Reason::could_not_stop}, turn);
  } else {
    drop_manual_run(job, waiting.cause.run_id, waiting.is_queued ? Reason::deadline : Reason::could_not_stop);
  }
}

// A run that was judged when its time came, which is past: should the ledger want it repeated, it is not judged again.
void Scheduler::start_judged(JobNumber job, const RunCause& cause, Turn turn) {
  if (cause.period) {
    start_period(job, *cause.period, turn);
  } else if (!launch(job, cause)) {
    return drop_manual_run(job, cause.run_id, Reason::start_failed);
  }
  step_for(job, turn).judged.push_back(cause);
}

void Scheduler::stop_starting() {
  stopping_ = true;
  const std::vector<JobNumber> jobs(waiting_.begin(), waiting_.end());
  for (const JobNumber job : jobs) {
    if (!jobs_.wake(job).waiting->cause.period) drop_waiting(job);
  }
  for (const auto& [at, job] : std::set(slot_give_ups_)) {
    if (!jobs_.wake(job).waiting->cause.period) drop_waiting(job);
  }
  if (!broken()) {
    commit();
    redo_all_ends();
  }
  settle_requests();
}

Status Scheduler::terminate(std::string_view run_id, const Attribution& from) {
  const auto run = job_of_run_.find(std::string(run_id));
  if (run == job_of_run_.end()) return fail(Code::not_found, "no active run " + quoted(run_id));
  notify(RunSignalled{std::string(jobs_.identity(run->second.job)), run->first, "TERM", from});
  world_.runner.terminate(run_id);
  return {};
}

Status Scheduler::kill(std::string_view run_id, const Attribution& from) {
  const auto run = job_of_run_.find(std::string(run_id));
  if (run == job_of_run_.end()) return fail(Code::not_found, "no active run " + quoted(run_id));
  notify(RunSignalled{std::string(jobs_.identity(run->second.job)), run->first, "KILL", from});
  world_.runner.kill(run_id);
  return {};
}

std::set<std::string> Scheduler::active_run_ids() const {
  std::set<std::string> ids;
  for (const auto& [run_id, place] : job_of_run_) ids.insert(run_id);
  return ids;
}

void Scheduler::terminate_all() {
  for (const auto& [run_id, place] : job_of_run_) world_.runner.terminate(run_id);
}

}  // namespace kron
