#pragma once

#include <functional>
#include <string>

#include "kron/env/clock.h"
#include "kron/history/history.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// Keeps what happened in the history. It and the clock outlive the sink. `host`: in a cluster the name of this one,
// asked each time.
Observer history_sink(history::History& history, const Clock& clock, std::function<std::string()> host = {});

}  // namespace kron::daemon
