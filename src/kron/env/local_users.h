#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

namespace kron {

// The name of a user of this machine, as its own file says it. The system's lookup may ask a server that hangs; this
// waits for nothing but a local file. Nothing: he is not in the file, or it cannot be read.
std::optional<std::string> local_user_name(uid_t user, const std::string& passwd_file = "/etc/passwd");

}  // namespace kron
