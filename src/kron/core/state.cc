#include "kron/core/state.h"

#include <array>

#include "kron/core/decision.h"
#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::array kOutcomes{
    Word{Outcome::executed, "executed"},
    Word{Outcome::skipped, "skipped"},
    Word{Outcome::missed, "missed"},
    Word{Outcome::unschedulable, "unschedulable"},
};

constexpr std::array kReasons{
    Word{Reason::none, ""},
    Word{Reason::deadline, "deadline"},
    Word{Reason::concurrency_forbid, "concurrency_forbid"},
    Word{Reason::lock_held, "lock_held"},
    Word{Reason::paused, "paused"},
    Word{Reason::excluded, "excluded"},
    Word{Reason::no_candidate, kNoCandidate},
    Word{Reason::replaced_before_start, "replaced before start"},
    Word{Reason::superseded_while_waiting, "superseded while waiting"},
    Word{Reason::no_slot, "no slot"},
    Word{Reason::could_not_stop, "could not stop"},
    Word{Reason::start_failed, "start failed"},
    Word{Reason::unknown, "unknown"},
};

}  // namespace

std::string_view name_of(Outcome outcome) { return word_of(outcome, kOutcomes); }
Result<Outcome> parse_outcome(std::string_view text) { return parse_word(text, kOutcomes, "outcome", "outcome"); }

std::string_view name_of(Reason reason) { return word_of(reason, kReasons); }
Result<Reason> parse_reason(std::string_view text) { return parse_word(text, kReasons, "reason", "reason"); }

}  // namespace kron
