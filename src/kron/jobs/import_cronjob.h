#pragma once

#include <string_view>
#include <vector>

#include "kron/core/time_zone.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

// Kubernetes CronJobs (the documents of a YAML text, Lists included) as KronJobs of kron.io/v1alpha1. What Kubernetes
// assumes where a CronJob says nothing is written out when Kron would assume something else; what is not carried over,
// or means something else, is noted. Documents of other kinds are noted and passed by. A CronJob with a mistake is
// reported and left out.
std::vector<Node> import_cronjobs(std::string_view yaml, ZoneDatabase& zones, Report& report);

}  // namespace kron::jobs
