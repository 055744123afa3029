#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace kron::runner {

// The session of a run's command, and its cgroup, as kron-exec noted them.
struct Session {
  pid_t id = 0;             // the PID of its leader
  std::uint64_t tick = 0;   // since boot, when its leader was there already
  std::string cgroup = {};  // the directory of the cgroup that all of the run is in; empty: none

  bool operator==(const Session&) const = default;
};

// Nothing when it is not a whole record.
std::optional<Session> parse_started_record(std::string_view text);

}  // namespace kron::runner
