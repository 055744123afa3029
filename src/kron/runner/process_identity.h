#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>

namespace kron::runner {

// Field 22 of the text of /proc/<pid>/stat; the name in it may hold blanks and parentheses.
std::optional<std::uint64_t> start_time_in(std::string_view stat);

// When the process was started, in clock ticks since boot; nothing when there is none of that PID.
std::optional<std::uint64_t> start_time_of(pid_t pid);

// Its parent; nothing when there is none of that PID.
std::optional<pid_t> parent_of(pid_t pid);

}  // namespace kron::runner
