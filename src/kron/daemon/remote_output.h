#pragma once

#include <string>

#include "kron/api/parts.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"

namespace kron::daemon {

// What stands in Redis of a run's output, from this line on, and whether the run is over. Blocks; not on the loop.
// not_found: the output is kept no longer. Unreachable: ask again.
Result<api::OtherHosts::Output> remote_output(cluster::Link& link, const cluster::Keys& keys, const std::string& run_id,
                                              std::size_t first);

}  // namespace kron::daemon
