#include "kron/env/file_locks.h"

#include <cstdio>
#include <cstring>
#include <memory>

namespace kron {

// A line reads `1: FLOCK  ADVISORY  WRITE 4711 fe:01:131090 0 EOF`. The device is not compared: on some file systems it
// is another than stat tells.
std::string flock_holder(ino_t inode) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> locks(std::fopen("/proc/locks", "re"), std::fclose);
  if (locks == nullptr) return {};
  const std::string wanted = ":" + std::to_string(inode) + " ";
  char line[256];
  while (std::fgets(line, sizeof line, locks.get()) != nullptr) {
    long pid = 0;
    if (std::strstr(line, wanted.c_str()) != nullptr && std::sscanf(line, "%*d: FLOCK %*s %*s %ld", &pid) == 1) {
      return std::to_string(pid);
    }
  }
  return {};
}

}  // namespace kron
