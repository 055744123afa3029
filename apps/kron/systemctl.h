#pragma once

#include <span>
#include <string>

#include "kron/base/result.h"

namespace kron::cli {

// What `systemctl show` prints about these units, or the units that match these patterns; refused beyond 64 MiB.
// unreachable: there is no systemctl, or it reaches no systemd, and the message says what it said.
Result<std::string> shown_by_systemctl(std::span<const std::string> units);

}  // namespace kron::cli
