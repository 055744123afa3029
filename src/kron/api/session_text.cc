#include "kron/api/session_text.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "kron/base/hmac.h"
#include "kron/base/token_text.h"

namespace kron::api {
namespace {

constexpr std::string_view kSessionVersion = "v1";
constexpr std::size_t kSessionIdSize = 32;
constexpr std::size_t kLongestSession = 256;

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string mac_of(std::string_view text, std::string_view key) { return hex(hmac_sha256(key, {"session ", text})); }

std::optional<Instant> instant_in(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (seconds < epoch_seconds(kFirstInstant) || seconds > epoch_seconds(kLastInstant)) return std::nullopt;
  return instant_of(seconds);
}

}  // namespace

std::string session_text(const Session& session, std::string_view key) {
  std::string text(kSessionVersion);
  text.append(".").append(session.id).append(".").append(session.token_id);
  text.append(".").append(std::to_string(epoch_seconds(session.issued)));
  text.append(".").append(std::to_string(epoch_seconds(session.expires)));
  const std::string mac = mac_of(text, key);
  return text.append(".").append(mac);
}

std::optional<Session> parse_session(std::string_view text, std::string_view key) {
  if (text.size() > kLongestSession) return std::nullopt;
  const std::size_t end = text.rfind('.');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(0, end);
  if (!equal_in_constant_time(text.substr(end + 1), mac_of(rest, key))) return std::nullopt;
  // It is ours. What follows cannot fail but for a mistake of our own.
  std::vector<std::string_view> parts;
  for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    parts.push_back(rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
  }
  parts.push_back(rest);
  if (parts.size() != 5 || parts[0] != kSessionVersion || parts[1].size() != kSessionIdSize ||
      !is_lower_hex(parts[1]) || !is_token_id(parts[2])) {
    return std::nullopt;
  }
  const auto issued = instant_in(parts[3]);
  const auto expires = instant_in(parts[4]);
  if (!issued || !expires) return std::nullopt;
  return Session{std::string(parts[1]), std::string(parts[2]), *issued, *expires};
}

std::string csrf_of(std::string_view session_id, std::string_view key) {
  return hex(hmac_sha256(key, {"csrf ", session_id}));
}

std::string cookie_name(std::string_view key) {
  constexpr std::size_t kInstanceDigits = 8;
  return "__Host-kron-" + hex(hmac_sha256(key, {"instance"})).substr(0, kInstanceDigits);
}

}  // namespace kron::api
