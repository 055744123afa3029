#pragma once

#include <optional>

#include "kron/history/entry.h"
#include "kron/metrics/job_metrics.h"

namespace kron::api {

// What the metrics of a job are told of an entry of its history; nothing for a run that goes on and for a report.
std::optional<metrics::JobEnd> job_end_of(const history::Entry& entry);

}  // namespace kron::api
