#pragma once

#include <string>

#include "kron/base/result.h"

namespace kron {

// Whether a directory can be trusted to stay where it is: refused, naming the place and the cure, when one above it can
// be written by everybody and has no sticky bit, so that anybody can put another in its place. `path` is absolute, with
// links looked through; what does not exist yet is not looked at.
Status check_place(const std::string& path);

}  // namespace kron
