#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace kron {

// What makes a run of a job a failed one, beside its exit code.
enum class FailsOn : std::uint8_t { exit_code, standard_error, nothing };

// A set of exit codes, 0 to 255.
struct ExitCodes {
  std::array<std::uint64_t, 4> bits = {};

  constexpr void add(int code) {
    if (is_one(code)) bits[static_cast<std::size_t>(code) / 64] |= bit(code);
  }
  [[nodiscard]] constexpr bool has(int code) const {
    return is_one(code) && (bits[static_cast<std::size_t>(code) / 64] & bit(code)) != 0;
  }

  bool operator==(const ExitCodes&) const = default;

 private:
  static constexpr bool is_one(int code) { return code >= 0 && code <= 255; }
  static constexpr std::uint64_t bit(int code) { return std::uint64_t{1} << (static_cast<unsigned>(code) % 64); }
};

// How a command ended: its exit code, 128 + n for signal n.
struct CommandEnd {
  int code = 0;
  bool was_ended = false;     // by its timeout, by an operator …; or it could not be executed
  bool wrote_errors = false;  // to standard error
};

// Whether a run that ended so has failed: the one place where that is decided. kron-exec asks, for retries go by it and
// the record of the end carries it; everybody else goes by that record (counts_as_failed). What Kron itself ended, or
// could not execute, is no choice of the job's: such a run has failed unless it exited with 0.
constexpr bool has_failed(const CommandEnd& end, std::optional<FailsOn> on, const std::optional<ExitCodes>& fine) {
  if (on == FailsOn::standard_error && end.wrote_errors) return true;
  if (end.was_ended) return end.code != 0;
  if (on == FailsOn::nothing) return false;
  return fine ? !fine->has(end.code) : end.code != 0;
}

// `decided`: what a record says; one that says nothing of it goes by the exit code.
constexpr bool counts_as_failed(std::optional<bool> decided, int code) { return decided.value_or(code != 0); }

// The same for what is told only where the exit code alone would say otherwise.
constexpr std::optional<bool> unlike_exit_code(std::optional<bool> decided, std::optional<int> code) {
  return decided && code && *decided != (*code != 0) ? decided : std::nullopt;
}

}  // namespace kron
