#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

// Whether a job starts the timer's service, and by that keeps all that the service says, or runs its command itself.
enum class KeepUnit : std::uint8_t {
  as_needed,  // where the service says what a job cannot: a sandbox, several commands, files of variables
  always,
  never,  // what is lost is warned of
};

struct TimerOptions {
  bool all = false;  // also timers that are not active, as suspended jobs
  KeepUnit keep = KeepUnit::as_needed;
  std::optional<Instant> now = {};  // changes of the clock are looked for in the five years after it, or in all
};

// Timers of systemd as jobs, from what `systemctl show` says of them and of their services; the units may stand in any
// order. A job for each line of OnCalendar=, and for each OnBootSec= or OnUnitActiveSec=. What is not carried over, or
// means something else, is noted at its line; what no job can say is an error, and left out. Pure.
std::vector<JobDefinition> import_timers(std::string_view shown, const TimerOptions& options, ModelContext& context,
                                         Report& report);

}  // namespace kron::jobs
