#include "kron/state/names.h"

#include <charconv>

#include "kron/base/rfc3339.h"

namespace kron {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kCorrupt = ".corrupt.";
constexpr std::string_view kRecordedPrefix = "first-seen.recorded-";
constexpr std::size_t kHexDigits = 64;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string recorded_name(std::uint64_t number) {
  return std::string(kRecordedPrefix).append(std::to_string(number)).append(kSuffix);
}

std::optional<std::uint64_t> parse_recorded_name(std::string_view name) {
  if (!name.starts_with(kRecordedPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kRecordedPrefix.size());
  name.remove_suffix(kSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::string state_file_name(const Sha256& identity_hash) { return hex(identity_hash) + std::string(kSuffix); }

std::string corrupt_file_name(std::string_view name, Instant when) {
  return std::string(name).append(kCorrupt).append(rfc3339(when));
}

std::optional<StateName> parse_state_name(std::string_view name) {
  if (name.size() < kHexDigits + kSuffix.size()) return std::nullopt;
  StateName result;
  for (std::size_t i = 0; i < result.identity_hash.size(); ++i) {
    const int high = hex_value(name[2 * i]);
    const int low = hex_value(name[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    result.identity_hash[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  name.remove_prefix(kHexDigits);
  if (!name.starts_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kSuffix.size());
  result.corrupt = name.starts_with(kCorrupt);
  if (!name.empty() && !result.corrupt) return std::nullopt;
  return result;
}

}  // namespace kron
