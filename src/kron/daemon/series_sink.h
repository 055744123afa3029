#pragma once

#include "kron/api/series.h"
#include "kron/env/clock.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// Tells the series what happens. Both outlive it.
Observer series_sink(api::Series& series, const Clock& clock);

}  // namespace kron::daemon
