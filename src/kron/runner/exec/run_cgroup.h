#pragma once

#include <climits>
#include <cstdint>
#include <sys/types.h>

#include "kron/base/process_settings.h"
#include "kron/base/run_usage.h"

namespace kron::exec {

// The run's own cgroup, below krond's: by it krond finds every process of the command if we are killed, whatever they
// have changed about themselves. Where it cannot be made, the command's session has to do.
class RunCgroup {
 public:
  // `parent` is a directory of cgroup v2, or null: none is made.
  RunCgroup(const char* parent, const char* run_id);
  // Removes it, unless the command has left processes in it: those are none of our business, and krond removes it
  // later.
  ~RunCgroup();
  RunCgroup(const RunCgroup&) = delete;
  RunCgroup& operator=(const RunCgroup&) = delete;

  // Limits all its processes together. Null, or the name of the limit that cannot be had; errno tells why.
  const char* set_limits(const ProcessSettings& settings) const;

  // How many of its processes the kernel has ended for want of memory so far.
  std::uint64_t killed_for_memory() const;

  // vfork, with the child in this cgroup from its first instruction: it calls `child`, which does not return. -1 when
  // there is no cgroup, or the system does not do it.
  pid_t vfork_into(void (*child)(void*), void* context) const;

  const char* path() const { return path_; }

  // As add_usage_of; without a cgroup, nothing.
  void add_to(RunUsage& used) const;

 private:
  int fd_ = -1;
  char path_[PATH_MAX] = "";
};

// Writes the limits into the files of a cgroup's directory; as set_limits.
const char* write_run_limits(int directory, const ProcessSettings& settings);

// What all processes of a cgroup have used so far, also those that outlive the command, where that is more than is
// known: CPU time, memory at one time (with the files that the kernel keeps for them), disks. What the kernel does not
// count there stays as it is.
void add_usage_of(int directory, RunUsage& used);

// Of all numbers behind a word in a file of a cgroup; 0: there is none.
std::uint64_t sum_of(int directory, const char* name, const char* word);

// The number behind a word that begins a line in a file of a cgroup; 0: there is no such line.
std::uint64_t number_after(int directory, const char* name, const char* word);

// The number that a file of a cgroup begins with; 0: there is no such file, or it begins with none.
std::uint64_t number_in(int directory, const char* name);

}  // namespace kron::exec
