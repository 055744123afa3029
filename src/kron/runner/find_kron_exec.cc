#include "kron/runner/find_kron_exec.h"

#include <climits>
#include <unistd.h>

#include "kron/env/system_error.h"

namespace kron::runner {

Result<std::string> find_kron_exec(std::string_view given, std::string_view program) {
  if (!given.empty()) {
    std::string path(given);
    if (::access(path.c_str(), X_OK) != 0) return fail(system_error("use the helper", path, errno));
    return path;
  }
  const std::string directory(program.substr(0, program.rfind('/')));
  for (const char* place : {"/kron-exec", "/../libexec/kron/kron-exec"}) {
    std::string path = directory + place;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(Code::not_found, "there is no kron-exec in " + directory + " nor in " + directory +
                                   "/../libexec/kron; install it there, or name its path");
}

Result<std::string> find_kron_exec(std::string_view given) {
  char program[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", program, sizeof program);
  return find_kron_exec(given, std::string_view(program, size > 0 ? static_cast<std::size_t>(size) : 0));
}

}  // namespace kron::runner
