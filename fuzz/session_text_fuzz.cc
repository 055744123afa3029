#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/api/access_record.h"
#include "kron/api/session_text.h"
#include "kron/base/hmac.h"
#include "kron/http/credentials.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// With the signature of the key, so that what is behind it is read at all.
std::string signed_by(std::string_view key, std::string_view text) {
  return std::string(text) + "." + kron::hex(kron::hmac_sha256(key, {"session ", text}));
}

}  // namespace

// Nobody makes a session without the key; one that is read is written the same. The record that holds the key, and the
// cookie that holds the session, see the bytes too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kKey = "0123456789abcdef";
  require(!kron::api::parse_session(text, kKey));
  if (const auto session = kron::api::parse_session(signed_by(kKey, text), kKey)) {
    require(kron::api::parse_session(kron::api::session_text(*session, kKey), kKey) == session);
  }
  if (const auto record = kron::api::parse_access(text)) {
    require(kron::api::parse_access(kron::api::access_text(*record)).value() == *record);
  }
  const kron::http::Request request{.headers = {{"cookie", std::string(text)}, {"authorization", std::string(text)}}};
  if (const auto cookie = kron::http::cookie_of(request, "a")) require(text.find(*cookie) != std::string_view::npos);
  (void)kron::http::bearer_of(request);
  (void)kron::http::refusal_of_credentials(request);
  return 0;
}
