// What a scheduler does with the ledger's answers.
//
// A step that was not done has not happened: its runs end at their gates, and its job is as before. What follows
// depends on why. Another daemon was faster (newer), holds the job's lock (held), or has run the period before (ran):
// the job is looked at again at once, with what is known now and in the same turn, because a later turn would call late
// what was on time. The step could not be written (refused, unknown): it is tried again later.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/base/text.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::ranges::move(from, std::back_inserter(to));
}

Error too_many_rounds(std::string_view identity, int rounds) {
  return {Code::conflict, "others have changed the record of " + quoted(identity, 200) + " " + std::to_string(rounds) +
                              " times while it was judged; it is tried again later"};
}

bool names(const std::vector<std::string>& runs, const std::string& run_id) {
  return std::ranges::find(runs, run_id) != runs.end();
}

}  // namespace

void Scheduler::take_answer(Step& step, Written answer) {
  const JobNumber job = step.job;
  if (answer.how != Written::How::refused && answer.how != Written::How::unknown) refused_.erase(job);
  switch (answer.how) {
    case Written::How::done:
      forget_repetition(job);
      if (!step.at_gate.empty()) spread_.erase(job);
      let_go(step);
      for (AlarmMessage& message : answer.owed) {
        notify(MessageOwed{std::string(jobs_.identity(job)), std::move(message)});
      }
      if (!answer.periods) return;
      adopt(job, *std::move(answer.periods));
      return backlog_.add(job, step.turn.value_or(turn_of(job, now(world_.clock))), Backlog::Place::on_time);
    case Written::How::newer:
      undo(step);
      adopt(job, *std::move(answer.periods));
      return repeat(step);
    case Written::How::held:
      undo(step);
      append(repeats_[job].locked_out, std::vector(step.at_gate));
      return repeat(step);
    case Written::How::ran:
      undo(step);
      repeats_[job].ran.push_back(std::move(answer.run_id));
      return repeat(step);
    case Written::How::refused:
    case Written::How::unknown:
      undo(step);
      return try_later(step, answer.why, answer.retry_at);
  }
}

// A step of the job was taken. It need not be the one that was to be repeated: an operator may have come between.
void Scheduler::forget_repetition(JobNumber job) {
  const auto known = repeats_.find(job);
  if (known != repeats_.end() && !known->second.has_more_to_say()) repeats_.erase(known);
}

// The record is durable: its runs may go, and the world may know.
void Scheduler::let_go(const Step& step) {
  for (const std::string& run_id : step.at_gate) {
    if (const Status opened = launcher_.release(run_id); !opened) {
      world_.log.error("gate_failed", {{"runId", run_id}, {"reason", opened.error().message}});
    }
  }
  for (const RunExit& exit : step.ended) free_slot(exit.run_id);
  for (const Event& event : step.events) notify(event);
}

void Scheduler::undo(Step& step) {
  for (const std::string& run_id : step.at_gate) {
    launcher_.abandon(run_id);
    free_slot(run_id);
  }
  jobs_.wake(step.job).known = std::move(step.before);
}

// Others have moved the job on. Active runs stay: they are this daemon's own.
void Scheduler::adopt(JobNumber job, JobState periods) {
  Entry& entry = jobs_.wake(job);
  const Job& definition = entry.definition.job;
  const std::optional<ScheduleSeen> seen = std::exchange(entry.known.periods, std::move(periods)).schedule;
  std::optional<ScheduleSeen>& schedule = entry.known.periods.schedule;
  const std::uint64_t hash = schedule_hash(definition);
  if (schedule && schedule->hash == hash) {
    if (!schedule->since) schedule.reset();  // the definition says so
  } else if (schedule || (seen && seen->hash == hash && seen->since)) {
    // It was edited here, and the others did not know: no edit starts a period that lay in the past. When it was they
    // who edited it, the ledger tells who has to read it again.
    const bool is_known = seen && seen->hash == hash && seen->since;
    (void)notice_schedule(definition, entry.known.periods, is_known ? *seen->since : now(world_.clock));
  }
  if (!entry.waiting || !entry.waiting->cause.period) return;
  const Instant t = now(world_.clock);
  if (is_closed(entry.known.periods, *entry.waiting->cause.period, turn_of(job, t))) (void)end_waiting(job);
}

// The job is looked at again, in the same turn.
void Scheduler::repeat(Step& step) {
  const JobNumber job = step.job;
  note_again(step, Instant{});
  Repetition& repetition = repeats_[job];
  if (++repetition.rounds > kMostRounds) return try_later(step, too_many_rounds(jobs_.identity(job), kMostRounds), {});
  append(repetition.ended, std::move(step.ended));
  append(repetition.judged, std::move(step.judged));
  append(repetition.dropped, std::move(step.dropped));
  repetition.is_for_boot = repetition.is_for_boot || step.is_for_boot;
  const Turn turn = step.turn.value_or(turn_of(job, now(world_.clock)));
  backlog_.add(job, turn, Backlog::Place::on_time);
}

void Scheduler::try_later(Step& step, const Error& why, std::optional<Instant> at) {
  const JobNumber job = step.job;
  world_.log.error("record_failed", {{"identity", jobs_.identity(job)}, {"reason", why.message}});
  if (auto repetition = repeats_.extract(job)) append(step.ended, std::move(repetition.mapped().ended));
  refused_.insert(job);
  const Instant again = at.value_or(now(world_.clock) + kRetry);
  note_again(step, again);
  if (!step.ended.empty()) retry_exits_at_ = again;
  append(unrecorded_exits_, std::move(step.ended));
  // Who has asked is told so, and it is not tried again: the job is due when it was before.
  if (!step.request) timers_.set(job, again);
}

// What the step said that is no matter of judgement. False when the job must not be judged now: it has to be repeated
// again, or waits for a better time.
bool Scheduler::redo_ends(JobNumber job) {
  const auto known = repeats_.find(job);
  if (known == repeats_.end() || !known->second.has_ends()) return true;
  const std::vector<RunExit> ended = std::exchange(known->second.ended, {});
  const std::vector<DroppedRun> dropped = std::exchange(known->second.dropped, {});
  Repetition rest = known->second;
  const Instant t = now(world_.clock);
  for (const RunExit& exit : ended) take_exit(exit, t);
  for (const DroppedRun& run : dropped) drop_manual_run(job, run.run_id, run.reason);
  if (steps_.contains(job) && !commit_step(job).is_done()) return false;
  if (!jobs_.is_wanted(job)) {
    repeats_.erase(job);
    forget_if_idle(job);
    return false;
  }
  repeats_[job] = std::move(rest);
  return true;
}

void Scheduler::note_alarm(std::string_view identity, AlarmNotes notes) {
  alarm_notes_.emplace_back(identity, std::move(notes));
}

// They are no matter of judgement, so the next step of the job says them again.
void Scheduler::note_again(Step& step, Instant at) {
  if (step.alarm_notes.empty()) return;
  alarm_notes_.emplace_back(jobs_.identity(step.job), std::exchange(step.alarm_notes, {}));
  alarm_notes_at_ = at;
}

// Of a job that is gone nothing is noted: should it come back, its messages are submitted again, and known already.
void Scheduler::take_alarm_notes(Instant t) {
  const bool clock_went_back = t < alarm_notes_at_ - kRetry;
  if (alarm_notes_.empty() || (t < alarm_notes_at_ && !clock_went_back)) return;
  for (auto& [identity, notes] : std::exchange(alarm_notes_, {})) {
    const std::optional<JobNumber> job = jobs_.find(identity);
    if (!job) continue;
    Step& step = step_for(*job);
    append(step.ledger.alarm_notes.signs, std::vector(notes.signs));
    append(step.ledger.alarm_notes.paid, std::vector(notes.paid));
    append(step.alarm_notes.signs, std::move(notes.signs));
    append(step.alarm_notes.paid, std::move(notes.paid));
    commit_if_full();
  }
}

// With nothing to be started any more, only the ends of runs are repeated.
void Scheduler::redo_all_ends() {
  const auto has_ends = [](const auto& known) { return known.second.has_ends(); };
  while (!broken()) {
    const auto known = std::ranges::find_if(repeats_, has_ends);
    if (known == repeats_.end()) return;
    (void)redo_ends(known->first);
  }
}

// Before the job is judged again. False as by redo_ends.
bool Scheduler::redo(JobNumber job, Turn turn) {
  if (!redo_ends(job)) return false;
  const auto known = repeats_.find(job);
  if (known == repeats_.end()) return true;
  for (const RunCause& cause : std::exchange(known->second.judged, {})) redo_start(job, cause, turn);
  if (!std::exchange(known->second.is_for_boot, false)) return true;
  const bool is_new = jobs_.wake(job).known.last_boot_id != world_.clock.boot_id();
  if (is_new) start_for_boot(job, now(world_.clock));
  return true;
}

void Scheduler::redo_start(JobNumber job, const RunCause& cause, Turn turn) {
  const Verdict verdict = verdict_on(job, cause.run_id);
  if (cause.period && is_closed(jobs_.wake(job).known.periods, *cause.period, turn)) return;
  if (verdict == Verdict::none && !may_start(job, cause)) {
    // Somebody else has its slot now.
    const std::optional<Nanoseconds> give_up =
        cause.period ? std::nullopt : std::optional(patience_of(jobs_.wake(job)));
    if (jobs_.waiting(job) == nullptr) begin_slot_wait(job, cause, give_up);
    return;
  }
  if (cause.period) return start_judged(job, cause, turn);
  switch (verdict) {
    case Verdict::none:
      return start_judged(job, cause, turn);
    case Verdict::locked_out:
      return drop_manual_run(job, cause.run_id, Reason::lock_held);
    case Verdict::ran:
      return;
  }
}

Scheduler::Verdict Scheduler::verdict_on(JobNumber job, const std::string& run_id) const {
  const auto known = repeats_.find(job);
  if (known == repeats_.end()) return Verdict::none;
  if (names(known->second.ran, run_id)) return Verdict::ran;
  return names(known->second.locked_out, run_id) ? Verdict::locked_out : Verdict::none;
}

void Scheduler::look_again() {
  const Instant t = now(world_.clock);
  for (const JobNumber job : std::exchange(refused_, {})) {
    if (jobs_.is_wanted(job)) timers_.set(job, t);
  }
  if (!unrecorded_exits_.empty()) retry_exits_at_ = t;
}

}  // namespace kron
