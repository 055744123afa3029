#pragma once

#include "kron/history/history.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// Keeps what happened in the history, which outlives it.
Observer history_sink(history::History& history);

}  // namespace kron::daemon
