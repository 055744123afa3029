#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "kron/core/open_periods.h"

namespace kron {

// Nothing to do before `until` (none: until something changes).
struct Wait {
  std::optional<Instant> until;
  std::optional<Decision> next;  // the period waited for
  // `next` is due, and waits for the active runs to end (concurrency=queue), or for a slot: it is to be judged again
  // then, and at `until`, when it is missed.
  bool is_queued = false;
  bool for_slot = false;  // no run of its own job is in its way

  bool operator==(const Wait&) const = default;
};
// The period ends here without a run.
struct Record {
  Decision period;
  Outcome outcome;
  Reason reason;
  std::string clause = {};  // of the constraints, when it is excluded by one

  bool operator==(const Record&) const = default;
};
// Run it. When `replace` is set, end the active runs first (TERM, grace, KILL).
struct Start {
  Decision period;
  bool replace = false;

  bool operator==(const Start&) const = default;
};
using Action = std::variant<Wait, Record, Start>;

struct Evaluation {
  Action action;
  std::optional<PassedOver> passed_over;  // to be reported with the action
};

// Why a period without a chosen time has none.
struct NoTime {
  Reason reason;
  std::string clause;  // of the constraints, when it is excluded by one
};
NoTime why_no_time(const Job& job, Instant nominal);

// By its policy, or by an operator.
bool is_suspended(const Job& job, const JobState& state, Instant now);

// What a policy says to one more run of a job: start it beside those that are active, start it in their place, start it
// when they have ended, or leave it out. Of due periods and of runs by hand alike.
enum class RunOverlap : std::uint8_t { start, replace, wait, skip };
RunOverlap overlap_of(const Policy& policy, bool has_active_runs);

// Whether a run that may start finds a slot, where the runs of a host or of a pool are limited. none_here: there is
// none, and another host may have one: it is left alone for a while before it is recorded as missed.
enum class Slot : std::uint8_t { free, none, none_here };
inline constexpr Seconds kOthersMayStart{10};

// How long a period may wait for a slot, after its chosen time.
Seconds longest_wait(const Policy& policy, Slot slot);

// What to do now about one job (contract "Policy"): the first of possibly several actions of this turn. Total: every
// input has an answer. Call it, carry the action out, mark_handled, and call it again with the same turn until it
// waits.
Evaluation evaluate(const Job& job, const JobState& state, bool has_active_runs, Turn turn, Slot slot = Slot::free);

}  // namespace kron
