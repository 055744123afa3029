#include "private_memory.h"

#include <cstdlib>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>

namespace kron::cli {

void keep_memory_private() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool leads_to_token(int argc, const char* const* argv) {
  for (const char* name : {"KRON_TOKEN", "KRON_TOKEN_FILE"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "token" || word.starts_with("--token-file")) return true;
  }
  return false;
}

}  // namespace kron::cli
