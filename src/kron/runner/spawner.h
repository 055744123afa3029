#pragma once

#include <string>
#include <sys/types.h>

#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/runner/helper_program.h"

namespace kron::runner {

struct Spawned {
  pid_t pid = 0;
  Descriptor gate;  // one byte opens it; closing it ends the run
};

// Executes kron-exec for each run.
class Spawner {
 public:
  // `runs`: the directory of all runs. The program outlives this.
  Spawner(const HelperProgram& program, int runs);

  // `lease`: the file of the run's lease, which stays the caller's; -1: it has none.
  Result<Spawned> spawn(const std::string& instructions, int lease = -1);

  int runs() const { return runs_.get(); }

 private:
  const HelperProgram& program_;
  Descriptor runs_;
};

}  // namespace kron::runner
