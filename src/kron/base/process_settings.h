#pragma once

#include <cstdint>
#include <optional>

#include "kron/base/failure_rule.h"

namespace kron {

inline constexpr std::uint32_t kMostRetries = 100;
inline constexpr std::uint32_t kMostBackoff = 86'400;  // seconds
inline constexpr std::uint32_t kUsualBackoff = 10;     // seconds; of a job that says how often, and not when
inline constexpr std::uint32_t kMostDoubled = 3'600;   // seconds

inline constexpr std::uint64_t kLeastMemoryMax = 1 << 20;  // bytes; with less nothing can be executed
inline constexpr std::uint32_t kMostTasksMax = 4 << 20;    // the kernel's own limit of processes and threads
inline constexpr std::uint32_t kMostCpuMax = 100'000;      // percent of one processor

// Seconds to wait after this many attempts, which have all failed: `first`, then twice as long each time up to an hour,
// as with tasks. One that begins with more than an hour stays as it is.
constexpr std::uint32_t backoff_after(std::uint32_t attempts, std::uint32_t first) {
  const std::uint32_t most = first > kMostDoubled ? first : kMostDoubled;
  std::uint32_t wait = first;
  for (std::uint32_t i = 1; i < attempts && wait > 0 && wait < most; ++i) wait = wait > most / 2 ? most : wait * 2;
  return wait;
}

// What a job may set of its command's process and of its run, each a number or a few bits: the one struct that the
// job's definition, krond's runs and kron-exec share, so that nothing copies it member by member. Absent: as the
// daemon's. Plain data, since kron-exec links no library. How a member crosses to kron-exec is said once, in
// runner/protocol.h.
struct ProcessSettings {
  std::optional<std::uint32_t> umask;
  std::optional<std::int32_t> nice;
  std::optional<std::uint32_t> retry;    // how many times a command that failed is executed again, within its run
  std::optional<std::uint32_t> backoff;  // seconds before the first of these (backoff_after)
  std::optional<FailsOn> fails_on;
  std::optional<ExitCodes> success_exit;
  // Of all processes of the run together, by its cgroup; where it cannot have them it is not executed.
  std::optional<std::uint64_t> memory_max;  // bytes
  std::optional<std::uint32_t> tasks_max;   // processes and threads
  std::optional<std::uint32_t> cpu_max;     // percent of one processor

  [[nodiscard]] bool limits_run() const { return memory_max || tasks_max || cpu_max; }
  bool operator==(const ProcessSettings&) const = default;
};

}  // namespace kron
