#pragma once

#include <cstdint>

namespace kron {

// Where a command's output goes. The numbers are part of what krond tells kron-exec.
enum class OutputKind : std::uint8_t {
  capture = 0,  // the run's own file
  inherit = 1,  // where the daemon's goes
  discard = 2,
  file = 3,    // appended to, with the rights of the user who runs the command
  syslog = 4,  // line by line
};

}  // namespace kron
