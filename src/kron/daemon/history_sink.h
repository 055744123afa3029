#pragma once

#include <functional>
#include <string>

#include "kron/history/history.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// Keeps what happened in the history, which outlives it. `host`: in a cluster the name of this one, asked each time.
Observer history_sink(history::History& history, std::function<std::string()> host = {});

}  // namespace kron::daemon
