#pragma once

#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron::runner {

// The helper's absolute path: `given` if it is not empty; else kron-exec beside the program at `program`, or in
// ../libexec/kron as seen from there.
Result<std::string> find_kron_exec(std::string_view given, std::string_view program);

// The same, for the program that is running.
Result<std::string> find_kron_exec(std::string_view given);

}  // namespace kron::runner
