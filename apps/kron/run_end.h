#pragma once

#include <optional>
#include <string>

#include "daemon_client.h"
#include "kron/base/instant.h"

namespace kron::cli {

enum class IfUnknown : std::uint8_t {
  refuse,  // code not_found
  wait,    // it is about to start
};

// The run, as the API shows it, once it has ended. A krond that restarts meanwhile is waited for. Code conflict: it has
// not ended within `limit`.
Result<std::string> run_at_its_end(const std::string& socket, const std::string& run_id,
                                   std::optional<Nanoseconds> limit, IfUnknown if_unknown);

}  // namespace kron::cli
