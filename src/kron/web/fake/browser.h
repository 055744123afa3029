#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>

#include "kron/env/descriptor.h"
#include "kron/http/fake/server_rig.h"

// What a browser sends to a port of this machine, byte by byte.
namespace kron::testing {

inline Descriptor browser_socket(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// All that comes for these bytes.
inline std::string send_to_port(std::uint16_t port, const std::string& message) {
  const Descriptor socket = browser_socket(port);
  EXPECT_EQ(::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL), static_cast<ssize_t>(message.size()));
  std::string answer;
  std::array<char, 4096> part;
  for (ssize_t size = 1; size > 0;) {
    size = ::recv(socket.get(), part.data(), part.size(), 0);
    if (size > 0) answer.append(part.data(), static_cast<std::size_t>(size));
  }
  return answer;
}

inline std::string ask_port(std::uint16_t port, const std::string& line, const std::string& headers,
                            const std::string& body, const std::string& host) {
  const std::string length =
      body.empty() ? "" : "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  return send_to_port(
      port, line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + headers + length + "\r\n" + body);
}

}  // namespace kron::testing
