#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "kron/base/result.h"
#include "kron/http/server.h"
#include "kron/http/tcp_listener.h"

namespace kron::cli {

inline constexpr std::uint16_t kWebPort = 8126;

// The port of 127.0.0.1:PORT, [::1]:PORT or localhost:PORT; 0 is any that is free. Code refused: another machine could
// connect to it; invalid: it is no address.
Result<std::uint16_t> loopback_port(const std::string& address);

// A port on both loopback addresses. Half of one would do harm: another user could listen on the other half, and a
// browser may try that first. Where there is no IPv6 at all, nobody can.
struct WebPort {
  http::Server::Listeners listeners;
  std::uint16_t port = 0;
};
// `next_if_taken`: else one of the 20 behind it. Code conflict: taken, by whom is in the message.
Result<WebPort> open_loopback(std::uint16_t port, bool next_if_taken, const http::TcpListener::Identify& identify);

// Who listens on that port, by the text of /proc/net/tcp or tcp6.
std::optional<uid_t> user_listening(std::string_view table, std::uint16_t port);

}  // namespace kron::cli
