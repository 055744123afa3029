#pragma once

#include <string>

#include "daemon_client.h"
#include "task_client.h"

// Ids by their beginnings, as people copy them from a screen.
namespace kron::cli {

// Shorter beginnings are taken for whole ids.
inline constexpr std::size_t kLeastIdPrefix = 4;

// The id of the one run that begins with `typed`; `typed` itself when it is whole or no run begins so, and whoever uses
// it is told that there is none. Code invalid, with the candidates, when several begin so.
Result<std::string> run_id_of(DaemonClient& client, const std::string& typed);

// The same for tasks. A task of that very id goes before those whose ids go on.
Result<std::string> task_id_of(TaskClient& client, const std::string& typed);

}  // namespace kron::cli
