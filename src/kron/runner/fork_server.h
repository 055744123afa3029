#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <sys/types.h>

#include "kron/env/descriptor.h"
#include "kron/runner/gate.h"
#include "kron/runner/helper_program.h"

namespace kron::runner {

// A kron-exec that stays, and forks itself for each run: that takes a third of the time of executing a program anew.
// What it makes is a child of ours, as if we had executed it, and outlives it. It ends when we do. Not for several
// threads.
class ForkServer {
 public:
  // `runs`: the directory of all runs. `patience`: how long it may take for an answer. Null: the system does not give
  // us what it needs.
  static std::unique_ptr<ForkServer> start(const HelperProgram& program, int runs, std::chrono::milliseconds patience);
  // Ends it.
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  struct Forked {
    pid_t pid = 0;  // a kron-exec with these instructions waits at the gate; our child
    int error = 0;  // the system refused to make one: an errno
  };

  // Neither PID nor error: the server does not work any more and must be given up, and the gate as well, with kAbandon.
  // `lease`: as in Spawner.
  Forked fork(const std::string& instructions, const Gate& gate, int lease = -1);

  // Whether it has worked, and not too slowly: then another is likely to work, too.
  bool was_useful() const { return was_useful_; }

  pid_t pid() const { return pid_; }

 private:
  ForkServer(pid_t pid, Descriptor process, Descriptor requests, pid_t* forked, std::chrono::milliseconds patience);

  bool request(const std::string& instructions, int gate, int lease) const;
  bool end() const;

  pid_t pid_;
  Descriptor process_;   // a pidfd
  Descriptor requests_;  // a socket
  pid_t* forked_;        // written by the kernel while the server makes a process
  std::chrono::milliseconds patience_;
  bool was_useful_ = false;
};

}  // namespace kron::runner
