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
void mark_handled(const Job& job, JobState& state, Instant period, Turn turn);

// What a turn does before it looks: lowers first_seen when the clock went back behind it, and moves passed-over periods
// whose time is ahead again to open_periods. True when `state` changed. Losing the change (a crash before the next
// record) is safe: it can only make fewer periods run.
bool settle(const Job& job, JobState& state, Instant now);

// The definition changed: open periods and passed-over spans that the new schedule does not produce are dropped.
// Returns the nominal times dropped (the first of each span), for the log.
std::vector<Instant> drop_unknown_periods(const Job& job, JobState& state);

}  // namespace kron
