#pragma once

#include <string_view>

#include "kron/base/result.h"

namespace kron {

// The Error for a system call that failed: "cannot <verb> <path>: <what errno says> (ENAME); <the cure>".
// Codes: not_found (ENOENT), conflict (EEXIST, ENOTEMPTY), refused (EACCES, EPERM, ELOOP), else io.
Error system_error(std::string_view verb, std::string_view path, int error_number);

}  // namespace kron
