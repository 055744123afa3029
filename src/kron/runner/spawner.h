#pragma once

#include <spawn.h>
#include <string>
#include <sys/types.h>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"

namespace kron::runner {

struct Spawned {
  pid_t pid = 0;
  Descriptor gate;  // one byte opens it; closing it ends the run
};

// Starts kron-exec in a process group of its own, with all signals blocked and none ignored, an empty environment, and
// three descriptors (protocol.h). By posix_spawn: it takes the same time however large we are.
class Spawner {
 public:
  // `runs`: the directory of all runs.
  Spawner(std::string helper, int runs);
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  Result<Spawned> spawn(const std::string& instructions);

 private:
  std::string helper_;
  Descriptor runs_;
  posix_spawnattr_t attributes_;
};

}  // namespace kron::runner
