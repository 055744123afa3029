#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/api/parts.h"
#include "kron/api/router.h"

namespace kron::api {

// The routes of each kind. `parts` outlives them.
std::vector<Route> host_routes(Parts& parts);
std::vector<Route> job_routes(Parts& parts);
std::vector<Route> metrics_routes(Parts& parts);
std::vector<Route> reload_routes(Parts& parts);
std::vector<Route> day_routes(Parts& parts);
std::vector<Route> series_routes(Parts& parts);
std::vector<Route> pause_routes(Parts& parts);
std::vector<Route> run_routes(Parts& parts);
std::vector<Route> state_routes(Parts& parts);
std::vector<Route> task_routes(Parts& parts);
std::vector<Route> lease_routes(Parts& parts);
std::vector<Route> load_routes(Parts& parts);
std::vector<Route> timeline_routes(Parts& parts);
std::vector<Route> upcoming_routes(Parts& parts);
std::vector<Route> explain_routes(Parts& parts);
std::vector<Route> why_routes(Parts& parts);
std::vector<Route> attention_routes(Parts& parts);
std::vector<Route> try_routes(Parts& parts);
std::vector<Route> token_routes(Parts& parts);
std::vector<Route> session_routes(Parts& parts);

inline auto with(Parts& parts, void (*answer)(Parts&, const CallPtr&)) {
  return [&parts, answer](const CallPtr& call) { answer(parts, call); };
}

// How many jobs a question looks at in one turn of the loop; the rest waits for the next one. A look takes some four
// microseconds, and the loop has two milliseconds for all who ask.
inline constexpr std::size_t kLooksAtOnce = 250;

// Why nothing is started; empty: it is.
std::string why_not_ready(const DaemonStatus& status);

Error no_such_job(std::string_view name);

// For what cannot even be queued.
Error too_busy();

// The OpenAPI document.
std::string_view openapi_document();

}  // namespace kron::api
