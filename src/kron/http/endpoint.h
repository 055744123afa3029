#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kron/base/result.h"
#include "kron/env/deadline.h"
#include "kron/env/descriptor.h"
#include "kron/http/tls.h"

namespace kron::http {

// Where a server is, and what a client needs to be let in. The path of a unix socket is one.
struct Endpoint {
  Endpoint() = default;
  Endpoint(std::string path) : socket_path(std::move(path)) {}
  Endpoint(const char* path) : socket_path(path) {}

  std::string socket_path = {};  // empty: at …
  std::string host = {};         // a name or an address …
  std::uint16_t port = 0;
  std::shared_ptr<const TlsContext> tls = {};  // none: in the clear, which is only for this machine
  std::string token = {};                      // sent with each request; empty: none

  bool is_remote() const { return socket_path.empty(); }
  // For people: the path, or https://host:port.
  std::string text() const;
  // As a request names it: localhost for a socket.
  std::string host_header() const;
};

// What a URL says about it.
struct Url {
  bool is_tls = true;
  std::string host = {};  // in lower case, without brackets
  std::uint16_t port = 0;

  bool operator==(const Url&) const = default;
};

// https://host[:port], and http:// for this machine alone. Code invalid says what is wrong, and repeats nothing that
// may be a password.
Result<Url> parse_url(std::string_view text);

// The one word that a file with a token holds. Code invalid: there is none, or more; the message does not repeat it.
Result<std::string> parse_token(std::string_view text);

// A connected socket that does not block, to the first of the host's addresses that answers. What must be on this
// machine is looked for nowhere else. Unreachable: none does in time.
Result<Descriptor> connect_tcp(const Endpoint& endpoint, Deadline deadline);

}  // namespace kron::http
