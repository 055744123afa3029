#pragma once

#include <chrono>
#include <cstdint>

namespace kron {

// What the processes of a run used, all attempts together: those that had ended when the run did. Plain data, since
// kron-exec links no library.
struct RunUsage {
  std::chrono::microseconds user{0};    // CPU time in the programs themselves, …
  std::chrono::microseconds system{0};  // … and in the kernel on their behalf
  std::uint64_t memory = 0;             // bytes at one time: of the largest process; where a cgroup counts it, of all
  std::uint64_t read = 0;               // bytes from a disk, …
  std::uint64_t written = 0;            // … and to one

  bool operator==(const RunUsage&) const = default;
};

}  // namespace kron
