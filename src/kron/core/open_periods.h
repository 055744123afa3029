#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kron/core/decision.h"
#include "kron/core/job.h"
#include "kron/core/state.h"

namespace kron {

// The time of one turn of a scheduler's loop. A period due in [on_time_since, now] is judged as if on time: the loop
// was busy with its previous turn when it became due (at most 10 s; contract "Policy"). Quiet loops pass now twice.
struct Turn {
  Instant now;
  Instant on_time_since;

  static Turn at(Instant now) { return {now, now}; }
  bool operator==(const Turn&) const = default;
};

// Late periods that are not evaluated because a later one is: reported once, not terminal.
struct PassedOver {
  std::uint64_t count = 0;
  Instant first;
  Instant last;

  bool operator==(const PassedOver&) const = default;
};

// The open periods as seen at one turn.
struct OpenPeriods {
  std::vector<Decision> due;     // to evaluate now: all that are on time, oldest nominal first; or one late one
  std::optional<Decision> next;  // the open period with the earliest due time after now
  std::optional<PassedOver> passed_over;  // what evaluating `due` leaves behind
};
OpenPeriods open_periods(const Job& job, const JobState& state, Turn turn);

// Only the `next` of the above: what a scheduler plans with.
std::optional<Decision> next_open_period(const Job& job, const JobState& state, Instant now);

// Handled, or passed over with its time not ahead: nothing may start it any more.
bool is_closed(const JobState& state, const Decision& decision, Turn turn);

// `period` has reached a terminal outcome at `turn` (the same turn it was evaluated with): L moves to it if it is
// later. Periods that L jumps over stay open when their time is still ahead; those that are late become passed over.
// Returns what was closed for good because the state would have grown beyond its limits; to be logged.
std::optional<PassedOver> mark_handled(const Job& job, JobState& state, Instant period, Turn turn);

// What a turn does before it looks: when the clock went back behind first sight or behind a change of the schedule,
// these move back to now; and passed-over periods whose time is ahead again are open again. Losing the change (a crash
// before the next record) is safe: it can only make fewer periods run. `now` is the clock's, never that of a turn which
// is still being worked off: a clock that only seems to have gone back would lower first sight.
struct Settled {
  bool changed = false;
  std::optional<PassedOver> closed;  // for good, as by mark_handled
};
Settled settle(const Job& job, JobState& state, Instant now);

// Of the schedule, the zone and the DST rule as parsed; the same on every machine and for ever.
std::uint64_t schedule_hash(const Job& job);

// The definition was read, at start or by a reload. When the schedule, the zone or the DST rule is not the one that the
// state was used with, only periods due from now on count beyond L: no edit starts a period that lay in the past.
// Returns what was late at the change and is passed over by it. A state that knows no schedule takes this one.
std::optional<PassedOver> notice_schedule(const Job& job, JobState& state, Instant now);

// The definition changed: open periods and passed-over spans that the new schedule does not produce are dropped.
// Returns the nominal times dropped (the first of each span), for the log.
std::vector<Instant> drop_unknown_periods(const Job& job, JobState& state);

}  // namespace kron
