#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/api/access.h"
#include "kron/base/instant.h"
#include "kron/base/result.h"

// Who may come in by a token: access.json in the state directory, as a value and as text. Pure.
namespace kron::api {

inline constexpr std::size_t kMostTokens = 1000;
inline constexpr std::size_t kMostTokenName = 100;  // bytes
// Sessions that were ended before their time. One more, and the key is made anew, which ends all.
inline constexpr std::size_t kMostEndedSessions = 1000;

struct TokenRecord {
  std::string id = {};
  std::string name = {};
  Right role = Right::read;
  std::string sha256 = {};  // of the whole token, as hexadecimal digits; the token itself is nowhere
  Instant created_at = {};
  std::string created_by = {};
  std::optional<Instant> expires_at = {};  // none: never
  // Reserved: the jobs it is restricted to. This krond cannot restrict a token, and does not let such a one in.
  std::optional<std::string> jobs = {};

  bool operator==(const TokenRecord&) const = default;
};

struct EndedSession {
  std::string id = {};
  Instant until = {};  // it has expired then anyway

  bool operator==(const EndedSession&) const = default;
};

struct AccessRecord {
  std::string session_key = {};  // 64 hexadecimal digits; empty: there never was a token
  std::vector<TokenRecord> tokens = {};
  std::vector<EndedSession> ended = {};

  bool operator==(const AccessRecord&) const = default;
};

std::string access_text(const AccessRecord& record);

// Code invalid names the member that is wrong: nobody is let in by half a record.
Result<AccessRecord> parse_access(std::string_view text);

// Nothing: the name is one. Else what is wrong with it.
std::optional<std::string> wrong_token_name(std::string_view name);

std::optional<Right> role_named(std::string_view name);

}  // namespace kron::api
