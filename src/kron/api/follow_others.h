#pragma once

#include "kron/api/call.h"
#include "kron/api/parts.h"

namespace kron::api {

// Answers with the output of a run that another host has, as it comes to the cluster, until the run is over. From any
// thread.
void follow_output_of_others(Parts& parts, const CallPtr& call);

}  // namespace kron::api
