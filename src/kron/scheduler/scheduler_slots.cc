// How many runs are active at once (krond --max-running, pools).
//
// A run has its slot from launch() until its end is durable: if the end cannot be written, the run is active by the
// record, and so it is here. Who is to start and finds no slot waits as a queued run does, in the line of Slots instead
// of for the runs of its own job; nothing of it is written, so a crash leaves a period to be judged anew. A freed slot
// has the first in line looked at, and nobody else; the others are looked at when a timer of theirs says so: their
// deadline is over, or a later period is due, which takes the place of the one that waits.
#include <algorithm>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/core/make_job.h"
#include "kron/scheduler/run_cause.h"
#include "kron/scheduler/scheduler.h"

namespace kron {

// A run that no evaluation is about: one by hand or of a boot, or one that replaces others and was judged before.
bool Scheduler::may_start(JobNumber job, const RunCause& cause) {
  const Entry& entry = jobs_.wake(job);
  const Slots::Group* group = slots_.group_of(entry.definition);
  if (group == nullptr) return true;
  const Instant chosen = cause.period ? *cause.period->chosen : now(world_.clock);
  return slots_.may_start(*group, {chosen, entry.definition.job.identity});
}

// `give_up_at`: of a run that no deadline of a period ends.
void Scheduler::begin_slot_wait(JobNumber job, RunCause cause, std::optional<Nanoseconds> give_up_at) {
  Entry& entry = jobs_.wake(job);
  Slots::Group& group = *slots_.group_of(entry.definition);
  const Instant t = now(world_.clock);
  const Instant chosen = cause.period ? *cause.period->chosen : t;
  const Seconds deadline = std::min(entry.definition.job.policy.deadline, kLongestDuration);
  std::vector<LogField> fields{{"identity", entry.definition.job.identity}};
  const std::string period = cause.period ? rfc3339(cause.period->nominal) : std::string();
  const std::string chosen_text = rfc3339(chosen);
  const std::string until = rfc3339((cause.period ? chosen : t) + deadline);
  const std::string pool(slots_.lacks(group));
  if (cause.period) {
    fields.push_back({"periodId", period});
    fields.push_back({"chosenTime", chosen_text});
  } else {
    fields.push_back({"runId", cause.run_id});
  }
  fields.push_back({"until", until});
  fields.push_back({"waitsFor", pool.empty() ? std::string_view("max-running") : std::string_view("pool")});
  if (!pool.empty()) fields.push_back({"pool", pool});
  if (cause.period) world_.log.write(LogLevel::info, "period_waits", fields);
  if (!cause.period) world_.log.write(LogLevel::info, "run_waits", fields);
  const Slots::Place place{chosen, entry.definition.job.identity};
  if (give_up_at) slot_give_ups_.insert({*give_up_at, job});
  slots_.wait(group, place, job, t);
  entry.waiting = std::make_unique<WaitingRun>(WaitingRun{.cause = std::move(cause),
                                                          .give_up_at = give_up_at,
                                                          .is_queued = true,
                                                          .lacks_slot = &group,
                                                          .place = place,
                                                          .since = t});
}

// Who was looked at, and waits on, is in line again.
void Scheduler::keep_slot_wait(JobNumber job) {
  const WaitingRun* waiting = jobs_.waiting(job);
  if (waiting == nullptr || waiting->lacks_slot == nullptr) return;
  slots_.wait(*waiting->lacks_slot, waiting->place, job, waiting->since);
}

// Starts who waits for slots that are free. True when the slice was spent before all were seen to.
bool Scheduler::settle_slots(Instant t) {
  give_up_slot_waits();
  if (!slots_.has_waiters() || stopping_) return false;
  // The ends of runs, which free their slots, may be on their way.
  if (in_flight_ && !in_flight_->is_for_requests) finish_write();
  slots_were_freed_ = false;
  std::vector<JobNumber> looked_at;
  bool is_cut_short = false;
  while (!broken() && !is_cut_short) {
    const std::optional<Slots::Ready> ready = slots_.pop_ready();
    if (!ready) break;
    looked_at.push_back(ready->job);
    settle_slot(ready->job, t);
    commit_if_full();
    is_cut_short = is_spent();
  }
  for (const JobNumber job : looked_at) keep_slot_wait(job);
  return is_cut_short && slots_.has_ready();
}

// It is the first, and there is a slot.
void Scheduler::settle_slot(JobNumber job, Instant t) {
  settle_in_flight(job);
  Entry& entry = jobs_.wake(job);
  if (!entry.waiting || entry.waiting->lacks_slot == nullptr) return;  // another daemon has run it
  const Turn turn = turn_of(job, t);
  if (entry.waiting->is_queued_period()) return look_at(job, turn);
  if (entry.waiting->cause.trigger == Trigger::reboot) {
    const WaitingRun waiting = end_waiting(job);
    return start_for_boot(job, waiting.cause.period->nominal);
  }
  const WaitingRun waiting = end_waiting(job);
  if (overlap_of(entry.definition.job.policy, !entry.known.active.empty()) == RunOverlap::start) {
    start_judged(job, waiting.cause, turn);
  } else {
    // The job was edited meanwhile, and has a run: it waits for that.
    entry.waiting = std::make_unique<WaitingRun>(WaitingRun{waiting.cause, waiting.give_up_at, true});
    waiting_.insert(job);
  }
  keep_due(job, t);
  plan(job, t);
}

void Scheduler::give_up_slot_waits() {
  while (!slot_give_ups_.empty() && slot_give_ups_.begin()->first <= world_.clock.monotonic()) {
    const JobNumber job = slot_give_ups_.begin()->second;
    settle_in_flight(job);
    if (jobs_.waiting(job) == nullptr) continue;
    const WaitingRun waiting = end_waiting(job);
    if (waiting.cause.period) {
      give_up_boot(job, waiting.cause);
    } else {
      drop_manual_run(job, waiting.cause.run_id, Reason::no_slot);
    }
    commit_if_full();
  }
}

// An @reboot job that found no slot has missed this boot.
void Scheduler::give_up_boot(JobNumber job, const RunCause& cause) {
  Entry& entry = jobs_.wake(job);
  Step& step = step_for(job);
  const Instant t = now(world_.clock);
  entry.known.last_boot_id = world_.clock.boot_id();
  entry.known.periods.last_handled = cause.period->nominal;
  const Record outcome{*cause.period, Outcome::missed, Reason::no_slot};
  step.ledger.last_outcome = outcome.outcome;
  step.ledger.last_chosen = cause.period->chosen;
  step.ledger.history.push_back(history_of(outcome, t));
  step.events.emplace_back(event_of(entry.definition.job, outcome, t));
}

// A run has one as soon as it is made, or taken up from an earlier daemon.
void Scheduler::take_slot(const std::string& run_id, JobNumber job) {
  Slots::Group* group = slots_.group_of(jobs_.wake(job).definition);
  if (group != nullptr) slots_.take(*group);
  job_of_run_[run_id] = {job, group};
}

// The run is no more, and that is durable; or it never was. Its slot is for the run that replaces it, if there is one.
void Scheduler::free_slot(const std::string& run_id) {
  const auto run = job_of_run_.find(run_id);
  if (run == job_of_run_.end()) return;
  const auto [job, group] = run->second;
  job_of_run_.erase(run);
  if (group == nullptr) return;
  WaitingRun* waiting = jobs_.waiting(job) != nullptr ? jobs_.wake(job).waiting.get() : nullptr;
  const bool is_replaced = waiting != nullptr && !waiting->is_queued && waiting->holds == nullptr;
  if (is_replaced && slots_.is_within_limits(*group)) {
    waiting->holds = group;
    return;
  }
  slots_.give(*group);
  slots_were_freed_ = true;
}

// The job was edited, and may have another pool, or none: so have its runs, and who waits by hand is in another line.
void Scheduler::move_slots(JobNumber job) {
  Entry& entry = jobs_.wake(job);
  Slots::Group* group = slots_.group_of(entry.definition);
  for (const ActiveExecution& run : entry.known.active) {
    const auto known = job_of_run_.find(run.run_id);
    if (known == job_of_run_.end() || known->second.slot == group) continue;
    if (group != nullptr) slots_.take(*group);
    if (Slots::Group* before = std::exchange(known->second.slot, group)) slots_.give(*before);
  }
  slots_were_freed_ = true;
  if (!entry.waiting) return;
  if (entry.waiting->holds != nullptr && entry.waiting->holds != group) {
    slots_.give(*std::exchange(entry.waiting->holds, nullptr));
  }
  if (entry.waiting->lacks_slot == nullptr || entry.waiting->lacks_slot == group) return;
  const WaitingRun waiting = end_waiting(job);
  if (group != nullptr) return begin_slot_wait(job, waiting.cause, waiting.give_up_at);
  if (waiting.cause.trigger == Trigger::reboot) return start_for_boot(job, waiting.cause.period->nominal);
  entry.waiting = std::make_unique<WaitingRun>(WaitingRun{waiting.cause, waiting.give_up_at, true});
  waiting_.insert(job);
}

}  // namespace kron
