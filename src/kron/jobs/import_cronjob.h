#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kron/core/time_zone.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// Kubernetes CronJobs (the documents of a YAML text, Lists included) as KronJobs of kron.io/v1alpha1. What Kubernetes
// assumes where a CronJob says nothing is written out when Kron would assume something else; what is not carried over,
// or means something else, is noted. Documents of other kinds are noted and passed by. A CronJob with a mistake is
// reported and left out. Whether a gap of the clock matters is judged for the five years after `now`, or for all years.
std::vector<Node> import_cronjobs(std::string_view yaml, ZoneDatabase& zones, Report& report,
                                  std::optional<Instant> now = std::nullopt);

}  // namespace kron::jobs
