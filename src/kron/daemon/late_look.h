#pragma once

#include <optional>
#include <vector>

#include "kron/core/alarm.h"
#include "kron/scheduler/scheduler.h"

namespace kron::daemon {

// Which periods of a job are late, by `late` of its notify: one that has not started so long after its chosen time,
// whatever it waits for, or did not until then; and a run that has gone on for so long. Manual runs never are. Pure.
struct LateLook {
  std::vector<AlarmSign> signs;
  std::optional<Instant> check;  // when the next of them may be
};
LateLook look_for_late(const Scheduler::View& job, Instant now);

}  // namespace kron::daemon
