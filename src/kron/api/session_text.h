#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/base/instant.h"

// The session of a page, as its browser keeps it: v1.<session id>.<token id>.<issued>.<expiry>.<HMAC-SHA-256>. It holds
// no right: what it may do is what its token may now. Pure.
namespace kron::api {

struct Session {
  std::string id = {};        // 32 hexadecimal digits
  std::string token_id = {};  // whose it is
  Instant issued = {};        // when the token was shown
  Instant expires = {};

  bool operator==(const Session&) const = default;
};

// `key`: krond's own, known to nobody else.
std::string session_text(const Session& session, std::string_view key);

// Nothing: it was not made with this key, or is no session at all. Whether it has expired is for the caller to say.
std::optional<Session> parse_session(std::string_view text, std::string_view key);

// What a page sends along with what changes something: who can make a browser send its cookie cannot read this.
std::string csrf_of(std::string_view session_id, std::string_view key);

// The name of the cookie: browsers send it to every port of a host, so that of another krond has another one.
std::string cookie_name(std::string_view key);

}  // namespace kron::api
