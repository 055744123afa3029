#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/base/text.h"
#include "kron/http/endpoint.h"
#include "kron/http/request_message.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_url(std::string_view text) {
  const auto url = kron::http::parse_url(text);
  if (!url) return require(kron::is_valid_utf8(url.error().message));
  require(!url->host.empty() && url->port != 0);
  // Whatever is accepted is one header, and says the same when it is read again.
  const bool has_colon = url->host.find(':') != std::string::npos;
  const std::string host = has_colon ? "[" + url->host + "]" : url->host;
  const std::string printed = (url->is_tls ? "https://" : "http://") + host + ":" + std::to_string(url->port);
  require(kron::http::parse_url(printed).value() == *url);
  kron::http::Endpoint place;
  place.host = url->host;
  place.port = url->port;
  const auto message = kron::http::request_message("GET", "/", {}, {}, place.host_header());
  require(message && message->find('\n', message->find("Host:")) == message->size() - 3);
}

void check_token(std::string_view text) {
  const auto token = kron::http::parse_token(text);
  // Of what is no token nothing is repeated, for it may be another secret: the sentence is always the same.
  if (!token) {
    const bool is_empty = kron::trimmed(text).empty();
    return require(token.error().message == kron::http::parse_token(is_empty ? "" : "a b").error().message);
  }
  require(!token->empty() && text.find(*token) != std::string_view::npos);
  require(kron::http::parse_token(*token).value() == *token);
  require(kron::http::request_message("GET", "/", {}, {{"Authorization", "Bearer " + *token}}).has_value());
}

}  // namespace

// What flags, variables and files say about a krond on another host.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_url(text);
  check_token(text);
  return 0;
}
