#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "kron/runner/fork_server.h"
#include "kron/runner/helper_program.h"
#include "kron/runner/spawner.h"

namespace kron::runner {

// Starts a kron-exec for each run: by a server that forks itself where that works, otherwise by executing the program.
// The server is started with the first run. Another takes its place when it dies, and every minute: runs inherit
// limits, priority and cgroup from it, as we had them when it was started. Not for several threads.
class HelperStarter {
 public:
  // `runs`: the directory of all runs. `patience`: how long a server may take; zero: there is none.
  HelperStarter(std::string helper, int runs, std::chrono::milliseconds patience);

  // At most one kron-exec waits at a gate for these instructions; one that was lost on the way ends without executing
  // anything, and leaves nothing. `lease`: as in Spawner.
  Result<Spawned> start(const std::string& instructions, int lease = -1);

  // Null: none runs.
  const ForkServer* server() const { return server_.get(); }

 private:
  using Time = std::chrono::steady_clock::time_point;

  bool has_server();
  void give_up_server();

  HelperProgram program_;
  Spawner spawner_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<ForkServer> server_;
  Time next_server_ = {};  // when one is started in place of the one there is, or of none
};

}  // namespace kron::runner
