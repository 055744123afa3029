#pragma once

#include <string>

#include "kron/api/call.h"
#include "kron/api/parts.h"

namespace kron::api {

// For Call::is_known_by: what an answer about jobs, what was and what lies ahead of them depends on. It is another one
// after each load of jobs, each event, each restart, for each right, and with each `slot` of time, as pauses run out
// without one. On the loop.
std::string tag_of_jobs(Parts& parts, const Call& call, Seconds slot = Call::kUsualSlot);

}  // namespace kron::api
