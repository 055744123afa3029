#pragma once

#include <string>

namespace kron::daemon {

// The name that this machine has given itself.
std::string machine_name();

// The zone of its wall clock, as the C library takes it; empty when that has no name. Looks at the disk.
std::string machine_zone();

}  // namespace kron::daemon
