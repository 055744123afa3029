#pragma once

#include <cstddef>

#include "kron/jobs/load.h"

namespace kron::jobs {

// A host has so many pools at most: each has figures of its own among the metrics.
inline constexpr std::size_t kMostPools = 1000;

// Gives each definition that names a pool the number of its slots, which `pools` of any file says, or another job that
// names it (pool=db:4). Refused, as definitions with errors: one whose pool nobody gives a size; and what gives a pool
// another size than was said before. load_text and load_paths have done it.
void resolve_pools(LoadedJobs& jobs);

}  // namespace kron::jobs
