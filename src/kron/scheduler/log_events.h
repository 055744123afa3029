#pragma once

#include "kron/env/log.h"
#include "kron/scheduler/event.h"

namespace kron {

// Writes an event to the log (docs/formats.md lists the lines), with all that `kron decide` needs to make a decision
// again. Some events have no line.
void log_event(Log& log, const Event& event);

// An observer that does so. `log` outlives it.
inline Observer logging_to(Log& log) {
  return [&log](const Event& event) { log_event(log, event); };
}

}  // namespace kron
