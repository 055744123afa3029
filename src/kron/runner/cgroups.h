#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "kron/env/descriptor.h"

// cgroup v2: the kernel's own list of a run's processes, which none of them leaves by changing its session, parent or
// environment.
namespace kron::runner {

// The directory of the cgroup that a process is in, from its /proc/<pid>/cgroup and /proc/<pid>/mountinfo. Nothing: no
// cgroup v2 that it can see.
std::optional<std::string> cgroup_directory(std::string_view cgroup, std::string_view mounts);

// The name of the cgroup that krond itself is in when it leaves the one above to its runs (DelegateSubgroup= of
// systemd).
inline constexpr char kDaemonCgroup[] = "krond";

// The directory of our own cgroup, or of the one above if ours is kDaemonCgroup in it, if runs may have cgroups below
// it: there is cgroup v2 with cgroup.kill (Linux 5.14), we may make one, and no systemd manages ours without having
// delegated it to us. Empty otherwise.
std::string find_own_cgroup();

// Has the kernel limit what is below a cgroup, for the limits of a whole run: turns on the controllers `memory`, `pids`
// and `cpu`. Returns those that are on. Where no process may stay in a cgroup that does so, and no systemd minds it,
// the processes in it, which are ours, go to kDaemonCgroup below it first.
struct Controllers {
  bool memory = false;
  bool pids = false;
  bool cpu = false;

  bool operator==(const Controllers&) const = default;
};
Controllers enable_controllers(const std::string& directory);

// Of the words in a cgroup.subtree_control.
Controllers controllers_in(std::string_view words);

// A run's cgroup that has been sent KILL.
struct DyingCgroup {
  std::vector<pid_t> processes;  // those in sub-cgroups are not listed
  Descriptor changed;            // EPOLLPRI when the last of them is gone
};

enum class CgroupEnd : std::uint8_t { unknown, empty, dying };

// Sends KILL to all processes of a run's cgroup, those that fork meanwhile and those in sub-cgroups too. One that is
// empty is removed. Unknown: there is none to be seen at that path.
CgroupEnd end_cgroup(const std::string& directory, DyingCgroup& dying);

// Removes the cgroups of runs below `parent` that have no process any more; what a command left running keeps its own.
std::size_t remove_empty_cgroups(const std::string& parent);

}  // namespace kron::runner
