#pragma once

#include "kron/env/clock.h"
#include "kron/metrics/job_metrics.h"
#include "kron/metrics/metrics.h"
#include "kron/scheduler/event.h"

namespace kron::daemon {

// Counts what happened, and how long it took. Both outlive it.
Observer metrics_sink(metrics::Metrics& metrics, const Clock& clock);

// The same for the series of single jobs.
Observer job_metrics_sink(metrics::JobMetrics& metrics);

}  // namespace kron::daemon
