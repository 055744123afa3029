#pragma once

#include <map>
#include <string>

#include "kron/api/forecasts.h"
#include "kron/history/recent.h"

namespace kron::api {

// What the history has at hand of these jobs. Waits for its thread, so it is for the thread that looks ahead, which has
// time; empty when the history has none.
std::map<std::string, history::Recent> recent_of_jobs(Parts& parts, const Forecasts::Definitions& definitions);

}  // namespace kron::api
