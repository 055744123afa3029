#pragma once

#include <cstdint>
#include <string>

#include "daemon_client.h"

namespace kron::cli {

// What a name that people typed stands for.
struct Named {
  enum class Kind : std::uint8_t { job, run } kind;
  std::string body;  // as the API shows it
};

// A job of this name, else a run of this id, or the one whose id begins so. Code not_found when it is neither.
Result<Named> find_named(DaemonClient& client, const std::string& name);

}  // namespace kron::cli
