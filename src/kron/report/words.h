#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/report/why.h"

// The sentences of the reports. Internal to the room.
namespace kron::report {

std::string counted(std::uint64_t count, std::string_view thing);  // "1 period", "3 periods"
std::string percent(double share);

// "krond was down from … to …".
std::string down_text(const history::DownTime& down);
// "paused by … from … to …".
std::string pause_text(const Pause& pause);
// "missed (deadline)".
std::string outcome_text(Outcome outcome, Reason reason);
// Why a period was skipped.
std::string meaning_of(Reason reason, const std::string& detail);
// "exit 0", "failed with exit 3", "timed out after 2s".
std::string exit_text(const history::Entry& entry);
// "minute 7 is not in */15, and hour 4 is not in 9-17".
std::string mismatch_text(const std::vector<Explanation::Field>& fields, const TimeZone& zone, Instant at);
std::string neighbours_text(const Job& job, const std::optional<Decision>& before,
                            const std::optional<Decision>& after);

// The shortest of the lengths that people write which is not shorter: 2h for 1h31m.
Seconds at_least(Seconds length);

Constraints without(const Constraints& constraints, ConstraintSet Constraints::*side, const ConstraintSet& kind);

}  // namespace kron::report
