#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

enum class Outcome : std::uint8_t { executed, skipped, missed, unschedulable };
std::string_view name_of(Outcome outcome);
Result<Outcome> parse_outcome(std::string_view text);

// Why a period was not executed: a closed list (contract/scheduling.md). `none` prints as "".
enum class Reason : std::uint8_t {
  none,
  deadline,
  concurrency_forbid,
  lock_held,     // another system holds the job's lock (cluster)
  paused,        // by an operator who wanted what was missed meanwhile to be skipped
  excluded,      // the constraints allow no second of the window: a planned day off
  no_candidate,  // they allow some, and chance did not find one
  replaced_before_start,
  superseded_while_waiting,  // for the run before it, or for a slot, when a later period was due
  no_slot,                   // as many runs were active as may be, until its deadline was over
  could_not_stop,
  start_failed,
  unknown,
};
std::string_view name_of(Reason reason);
Result<Reason> parse_reason(std::string_view text);

// Of who asked for something, or what he said about it: a line, and no more.
inline constexpr std::size_t kMostNoteBytes = 500;

struct Suspension {
  Instant since;
  std::optional<Instant> until;  // none: until resumed
  bool skip_missed = false;      // what became due before `until` is skipped when it is reached, not caught up with
  std::string by = {};           // who asked for it; empty: not known
  std::string note = {};         // what he said about it

  bool operator==(const Suspension&) const = default;
};

// A stretch of nominal time [first, last] in which no period was ever handled although `last_handled` is beyond it.
struct Span {
  Instant first;
  Instant last;

  bool operator==(const Span&) const = default;
};

// The schedule, zone and DST rule that a state was last used with.
struct ScheduleSeen {
  std::uint64_t hash = 0;        // schedule_hash()
  std::optional<Instant> since;  // when a change of it was seen: beyond L, only periods due from then on count

  bool operator==(const ScheduleSeen&) const = default;
};

// What is known about one job's periods. A value; the ledger keeps it, core/open_periods and core/evaluate read it, and
// only the verbs of core/open_periods change it, except for the suspension and the failures (core/failure_pause).
struct JobState {
  std::optional<Instant> last_handled;  // L; never moves back
  std::vector<Instant> open_periods;    // nominal times ≤ L that are still open, ascending
  std::vector<Span> passed_over;        // ascending, disjoint, at most kMostSpans; may hold open periods, too
  std::optional<Instant> first_seen;    // periods due before it do not count; none: all count
  bool first_seen_is_floor = false;     // after a quarantined file: never lowered, whatever the clock does
  Seconds first_seen_reach{0};          // the longest of the job's windows after their nominal time, since first sight
  std::optional<ScheduleSeen> schedule;
  std::optional<Suspension> suspended;  // by an operator, or by failures; the job's own policy.suspend is apart
  std::uint32_t failures_in_a_row = 0;  // of scheduled runs; only while policy.pause_after counts them

  bool operator==(const JobState&) const = default;
};

inline constexpr std::size_t kMostSpans = 64;
inline constexpr std::size_t kMostOpenPeriods = 4096;

}  // namespace kron
