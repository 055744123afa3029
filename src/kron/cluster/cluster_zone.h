#pragma once

#include <optional>
#include <string>

#include "kron/base/result.h"
#include "kron/cluster/keys.h"
#include "kron/cluster/link.h"

namespace kron::cluster {

// How the cluster keeps its own keys; a krond that does not know a format does not touch them.
inline constexpr std::string_view kClusterFormat = "1";

// The zone of definitions without one, in `:kron:cluster`. It is set once, by the first host: hosts of different zones
// would run a job twice. Blocks; not on the loop.
//   given    --default-timezone; another one than the cluster's is refused, and the message names the cure
//   local    this host's zone: what the first host sets when none is given
// Conflict: another zone, or a format that this krond does not know. Unreachable: Redis does not answer.
Result<std::string> cluster_zone(Link& link, const Keys& keys, const std::optional<std::string>& given,
                                 const std::string& local);

}  // namespace kron::cluster
