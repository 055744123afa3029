#pragma once

#include <sys/types.h>

#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/exec/run_cgroup.h"

namespace kron::exec {

// The command's standard descriptors; a file named in the instructions is opened by the command's own process.
struct Descriptors {
  int in = -1;
  int out = -1;
  int err = -1;
};

// Why the command could not be executed.
struct Refusal {
  const char* verb = nullptr;  // null: it was executed
  const char* object = "";
  int error = 0;  // an errno
};

// Starts the command as the leader of a session and process group of its own, in the run's cgroup if there is one; it
// dies with us. Before anything of the user's is executed, the file `started` (a descriptor) names session and cgroup,
// so that krond finds what is left of it if we are killed; without one (-1) nothing does. Returns when it has been
// executed or refused; a refused one still has a process to wait for, unless this returns -1.
pid_t start_command(const Instructions& instructions, const Descriptors& descriptors, const RunCgroup& cgroup,
                    int started, Refusal& refusal);

}  // namespace kron::exec
