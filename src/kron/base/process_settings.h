#pragma once

#include <cstdint>
#include <optional>

namespace kron {

// What a job may set of its command's process, each a number: the one struct that the job's definition, krond's runs
// and kron-exec share, so that nothing copies it member by member. Absent: as the daemon's. Plain data, since kron-exec
// links no library. How a member crosses to kron-exec is said once, in runner/protocol.h.
struct ProcessSettings {
  std::optional<std::uint32_t> umask;
  std::optional<std::int32_t> nice;

  bool operator==(const ProcessSettings&) const = default;
};

}  // namespace kron
