#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kron {

// How much of them a job may name, and how much a file may hold. Each has one place: what reads a definition and what
// reads the files (runner/exec) agree by it.
inline constexpr std::size_t kMostEnvFiles = 16;
inline constexpr std::size_t kMostCredentials = 16;
inline constexpr std::size_t kMostCredentialName = 64;
inline constexpr std::size_t kMostSecretFile = 64 << 10;  // bytes, of either
inline constexpr std::size_t kMostEnvLines = 1000;        // of one env_file, those that give no variable among them
inline constexpr std::size_t kMostVariableName = 128;     // bytes

// A shorter value is not masked in output: it would be found in ordinary words.
inline constexpr std::size_t kLeastMasked = 4;
inline constexpr std::size_t kMostMasked = 4096;  // values that one run masks

// Files with what a definition must not hold. Their names are no secret.
struct SecretFiles {
  std::vector<std::string> env_files = {};                            // absolute; in the order given
  std::vector<std::pair<std::string, std::string>> credentials = {};  // name, absolute path; a name once
  bool mask_output = false;

  [[nodiscard]] bool empty() const { return env_files.empty() && credentials.empty(); }
  bool operator==(const SecretFiles&) const = default;
};

// It is the name of a file: letters, digits, `.` `_` `-`, no dot first.
constexpr bool is_credential_name(std::string_view name) {
  if (name.empty() || name.size() > kMostCredentialName || name.front() == '.') return false;
  return std::ranges::all_of(name, [](char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace kron
