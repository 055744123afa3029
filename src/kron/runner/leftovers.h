#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/runner/started_record.h"

namespace kron::runner {

// What is left of a run when its kron-exec has died before its command.
struct Leftovers {
  std::string run_id;
  pid_t helper = 0;                // what the PID of its kron-exec was
  std::optional<Session> session;  // as far as it is known
  // Nobody has seen kron-exec die: the number of a session whose leader is gone may be another's by now.
  bool is_long_ago = false;
};

// Has the events when processes are gone: a pidfd, or the state of a cgroup.
struct Awaited {
  Descriptor descriptor;
  std::uint32_t events;  // as epoll knows them
};

// Processes that have been sent KILL and are not gone yet.
struct Dying {
  std::size_t count = 0;
  bool has_others = false;       // than the command itself, which dies with its kron-exec
  std::vector<Awaited> awaited;  // less than `count` tells of when there are no more descriptors
};

// Sends KILL to every process of the run: those of its cgroup. Where it has none, those of its session, and those that
// say so themselves by KRON_RUN_ID and KRON_EXEC_PID, in a session of their own. None left: the run is over.
Dying end_leftovers(const Leftovers& leftovers);

}  // namespace kron::runner
