#pragma once

#include <optional>
#include <vector>

#include "kron/core/alarm.h"
#include "kron/scheduler/scheduler.h"

namespace kron::daemon {

// Which runs of a job are late, by `late` of its notify: those that started so long after their chosen time, and those
// that have run for so long. Manual runs never are. Pure.
struct LateLook {
  std::vector<AlarmSign> signs;
  std::optional<Instant> check;  // when the next of its runs will be late
};
LateLook look_for_late(const Scheduler::View& job, Instant now);

}  // namespace kron::daemon
