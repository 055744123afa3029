#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/env/clock.h"
#include "kron/env/file_system.h"

namespace kron::daemon {

// A planned restart (contract "Which periods are open"): a daemon that is told to end leaves word of when it stopped
// starting. What becomes due until the next daemon is there is on time, if that is soon.
struct StopNote {
  Instant stopped_at;
  std::string boot_id;
  Nanoseconds since_boot{0};  // CLOCK_BOOTTIME

  bool operator==(const StopNote&) const = default;
};

// How soon, and how much of what became due before is on time at most.
inline constexpr Seconds kLongestRestart{10};

std::string stop_note_text(const StopNote& note);
Result<StopNote> parse_stop_note(std::string_view text);

// Durable when it succeeds.
Status write_stop_note(FileSystem& file_system, std::string_view state_directory, const StopNote& note);

// The note, if there is one. It is gone for good when this succeeds. Invalid: it is no such note, and is gone too.
Result<std::optional<StopNote>> take_stop_note(FileSystem& file_system, std::string_view state_directory);

// Since when what became due is on time; nothing when the restart took too long, or the clock was set back meanwhile.
std::optional<Instant> on_time_since(const StopNote& note, const Clock& clock);

}  // namespace kron::daemon
