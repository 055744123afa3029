#include "kron/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

namespace kron {

Scheduler::Scheduler(World world, MakeWork make_work)
    : world_(std::move(world)),
      make_work_(std::move(make_work)),
      launcher_(world_.runner, world_.tasks),
      slots_(world_.max_running) {}

Scheduler::~Scheduler() {
  if (world_.writer != nullptr) world_.writer->finish();
}

// What is late, and may be for minutes, is done in smaller portions, so that those who ask wait less. Half of a slice
// is for runs that ended, so that what is due gets on too.
void Scheduler::begin_slice() {
  const Nanoseconds slice = backlog_.has_late() ? world_.slice / kLateShare : world_.slice;
  const Nanoseconds begun = world_.clock.monotonic();
  ends_until_ = begun + slice / 2;
  slice_ends_ = begun + slice;
}

// A step forward that the steady clock does not know of: nobody has looked at what became due in it.
void Scheduler::note_correction() {
  const WallTime before = std::exchange(wall_read_, world_.clock.wall());
  const Nanoseconds steady_before = std::exchange(steady_read_, world_.clock.monotonic());
  if (!world_.clock_is_corrected || was_busy_ || before == WallTime()) return;
  const Nanoseconds step = (wall_read_ - before) - (steady_read_ - steady_before);
  if (step < kLeastCorrection) return;
  was_busy_ = true;
  taken_up_until_ = clock_read_;
}

// What becomes due while we work is on time.
void Scheduler::note_busy() {
  if (std::exchange(was_busy_, true)) return;
  busy_since_ = world_.clock.monotonic();
  taken_up_until_ = now(world_.clock) - Seconds(1);
}

// False when the clock went back, which only the clock can tell: the `now` of a turn may be long past.
bool Scheduler::note_time(Instant t) {
  const bool goes_on = t >= clock_read_;
  clock_read_ = t;
  return goes_on;
}

// The turn that begins now.
Turn Scheduler::turn_at(Instant t) const {
  if (!was_busy_ || t <= taken_up_until_) return Turn::at(t);
  return {t, std::max(taken_up_until_ + Seconds(1), t - kLongestBusy)};
}

// What judges the other periods of a job that is looked at now for a reason of its own.
Turn Scheduler::turn_of(JobNumber job, Instant t) const {
  Turn turn = turn_ ? Turn{std::max(t, turn_->now), turn_->on_time_since} : turn_at(t);
  if (const auto due = backlog_.turn_of(job)) turn.on_time_since = std::min(turn.on_time_since, due->on_time_since);
  return turn;
}

Instant Scheduler::behind_since() const {
  const Instant t = now(world_.clock);
  const Instant turn_since = turn_ ? turn_->on_time_since : turn_at(t).on_time_since;
  return std::min({t, turn_since, backlog_.on_time_since().value_or(t)});
}

Wakeup Scheduler::tick() {
  if (broken()) return {};
  begin_slice();
  note_correction();
  note_busy();
  const Instant t = now(world_.clock);
  if (!note_time(t)) {
    // A turn of a time that is ahead again is over. What was passed over, or not yet counted, may be ahead again too.
    turn_.reset();
    plan_again_from_ = 0;
  }
  take_written_requests();
  take_alarm_notes(t);
  bool is_busy = take_exits(t);
  commit_ends();
  const bool is_settling = settle_waiting(t);
  is_busy = is_settling || settle_slots(t) || is_busy;
  is_busy = plan_what_is_ahead_again() || is_busy;
  bool is_behind = false;
  do {
    // As long as jobs are being planned anew, the backlog may hold some that are no longer due.
    if (!plan_again_from_) is_behind = look_at_what_is_due();
    commit_turn();
    if (stopping_) redo_all_ends();
  } while (!is_behind && has_backlog() && !is_spent());
  ends_are_awaited_ = !postponed_.empty();
  for (const auto& [job, turn] : std::exchange(postponed_, {})) backlog_.add(job, turn, Backlog::Place::on_time);
  advance_requests();
  jobs_.let_rest();
  return wakeup_after(is_busy || is_behind || has_backlog());
}

// Jobs whose steps the ledger has not taken are in the backlog again when all are answered.
bool Scheduler::has_backlog() const { return !backlog_.empty() && !stopping_ && !broken() && !plan_again_from_; }

Wakeup Scheduler::wakeup_after(bool is_busy) {
  Wakeup wakeup;
  if (broken()) return wakeup;
  const Instant t = now(world_.clock);
  if (!stopping_) wakeup.at = wakeup.due = timers_.earliest();
  if (!alarm_notes_.empty()) wakeup.at = std::min(wakeup.at.value_or(alarm_notes_at_), alarm_notes_at_);
  if (!unrecorded_exits_.empty()) wakeup.at = std::min(wakeup.at.value_or(retry_exits_at_), retry_exits_at_);
  for (const JobNumber job : waiting_) {
    const Entry& entry = jobs_.wake(job);
    if (const auto at = entry.waiting->give_up_at) wakeup.monotonic = std::min(wakeup.monotonic.value_or(*at), *at);
    is_busy = is_busy || entry.known.active.empty();
  }
  if (!slot_give_ups_.empty()) {
    const Nanoseconds at = slot_give_ups_.begin()->first;
    wakeup.monotonic = std::min(wakeup.monotonic.value_or(at), at);
  }
  is_busy = is_busy || (slots_were_freed_ && !stopping_ && slots_.has_ready());
  wakeup.is_busy = is_busy;
  if (is_busy) wakeup.at = std::min(wakeup.at.value_or(t), t);
  was_busy_ = wakeup.at && *wakeup.at <= t;
  return wakeup;
}

// True when the slice was spent before all was done. At least one job is looked at, so that every slice gets on.
bool Scheduler::look_at_what_is_due() {
  while (!broken() && !stopping_) {
    const Instant t = now(world_.clock);
    if (t < clock_read_) return true;  // the next tick sees to it
    clock_read_ = t;
    if (has_due(t)) {
      if (const auto due = timers_.pop_due(turn_->now)) take_up(*due, t);
    } else if (const auto next = backlog_.pop()) {
      if (jobs_.is_wanted(next->first)) {
        look_at(next->first, next->second);
      } else {
        (void)redo_ends(next->first);
      }
    } else {
      return false;
    }
    commit_if_full();
    if (is_spent()) return has_due(now(world_.clock)) || !backlog_.empty();
  }
  return false;
}

// Whether a turn has something to take up, the next one if the last is done.
bool Scheduler::has_due(Instant t) {
  const std::optional<Instant> earliest = timers_.earliest();
  if (turn_ && earliest && *earliest <= turn_->now) return true;
  turn_.reset();
  if (earliest && *earliest <= t) {
    turn_ = turn_at(t);
    batch_size_ = kFirstBatch;
  }
  taken_up_until_ = t;
  return turn_.has_value();
}

// A job whose time has come: looked at now, unless it is late or the turn has lasted long enough.
void Scheduler::take_up(const TimerHeap::Due& due, Instant t) {
  if (!jobs_.is_wanted(due.job)) return;
  const Turn turn = *turn_;
  const bool is_late = due.at < turn.on_time_since;
  if (!is_late && t - turn.now < kFreshTurn) return look_at(due.job, backlog_.take(due.job, turn));
  backlog_.add(due.job, turn, is_late ? Backlog::Place::late : Backlog::Place::on_time);
  plan_after(due.job, turn.now);
}

// Before a job is planned anew: what is due of it, and not taken up yet, stays judged by the turn that it is due in.
void Scheduler::keep_due(JobNumber job, Instant t) {
  const std::optional<Instant> due = timers_.time_of(job);
  if (!due || *due > t) return;
  const Turn turn = turn_of(job, t);
  backlog_.add(job, turn, *due < turn.on_time_since ? Backlog::Place::late : Backlog::Place::on_time);
}

// True when the slice was spent before all jobs were planned anew.
bool Scheduler::plan_what_is_ahead_again() {
  const Instant t = now(world_.clock);
  while (plan_again_from_ && *plan_again_from_ < jobs_.end()) {
    if (is_spent()) return true;
    const JobNumber job = (*plan_again_from_)++;
    if (needs_new_plan(job, t)) plan(job, t);
    commit_if_full();
  }
  plan_again_from_.reset();
  return false;
}

bool Scheduler::needs_new_plan(JobNumber job, Instant t) {
  const bool was_due = backlog_.take(job).has_value();
  if (repeats_.contains(job)) backlog_.add(job, Turn::at(t), Backlog::Place::on_time);
  if (!jobs_.is_wanted(job)) return false;
  return was_due || jobs_.has_open_or_passed_over(job) || jobs_.first_seen(job).value_or(t) > t;
}

}  // namespace kron
