#pragma once

#include <optional>
#include <string>

#include "daemon_client.h"
#include "kron/base/instant.h"

namespace kron::cli {

// A run that is waited for.
struct AwaitedRun {
  std::string id;
  // Which krond promised it (krond_of), when it may be unknown yet: it is about to start, or waits for others to end.
  // Empty: one that is unknown is an error.
  std::string promised_by = {};
};

// The krond that answers, as one that is started again differs from it.
Result<std::string> krond_of(DaemonClient& client);

// The run, as the API shows it, once it has ended, or was dropped before it began. A krond that restarts meanwhile is
// waited for. Code not_found: there is no such run, or krond was started again and knows nothing of its promise;
// conflict: it has not ended within `limit`.
Result<std::string> run_at_its_end(const http::Endpoint& place, const AwaitedRun& run,
                                   std::optional<Nanoseconds> limit);

}  // namespace kron::cli
