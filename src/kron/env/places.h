#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "kron/base/result.h"

// Where krond's files are when no flag says so. For the daemon and for those who look for it.
namespace kron {

// /etc/krond.d and /var/lib/krond for root, the XDG directories for a user. Refused: a user without HOME.
Result<std::string> default_config();
Result<std::string> default_state_directory();
// Beside the job files and not among them: krond-notify.yaml in /etc for root, in ~/.config for a user.
Result<std::string> default_notify_file();
// /run/krond/krond.sock for root's own state directory; krond.sock in any other.
std::string default_socket(std::string_view state_directory);
// Where the copies of credentials go while runs need them: below /run for root, below XDG_RUNTIME_DIR for a user, which
// both are memory on most machines; where a user has none, below the state directory. Each state directory has its own.
std::string default_credentials(std::string_view state_directory);

// The socket of root's krond when it is there and is not `asked`: a user who finds nobody at his own socket may mean
// that one. Empty otherwise, and for root.
std::string system_socket_instead_of(std::string_view asked, uid_t user,
                                     const std::function<bool(const std::string& path)>& is_there);

// As written, or below the present directory.
std::string absolute_path(const std::string& path);

}  // namespace kron
