#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include "kron/env/fake/silent_log.h"
#include "kron/http/server.h"
#include "kron/http/unix_socket.h"
#include "kron/testing/temporary_directory.h"

// What the tests of the server and its client share: a server on a socket of its own, and a client that sends bytes,
// not requests.
namespace kron::testing {

// Longer than any answer takes on a busy machine; only a test that fails waits for it.
inline constexpr Seconds kPatience(60);

// One server at a time, in a directory that is removed.
class ServerRig {
 public:
  explicit ServerRig(http::Server::Handler handler, http::Server::Options options = {},
                     http::UnixListener::Identify identify = preferred) {
    auto started = http::Server::start(on_socket(std::move(identify)), std::move(options), std::move(handler), log_);
    EXPECT_TRUE(started) << started.error().message;
    if (started) server_ = *std::move(started);
  }

  std::string socket_path() const { return directory_.path() + "/socket"; }
  http::Server::Listeners on_socket(http::UnixListener::Identify identify = preferred) const {
    http::Server::Listeners listeners;
    listeners.push_back(std::make_unique<http::UnixListener>(
        http::UnixListener::open(socket_path(), 0600, std::nullopt, std::move(identify)).value()));
    return listeners;
  }
  // Whom no cap holds.
  static http::Listener::Identified preferred(const http::Credentials& peer) {
    return http::Principal{.name = "uid " + std::to_string(peer.uid), .permissions = 1, .is_preferred = true};
  }
  void stop() { server_.reset(); }

 private:
  TemporaryDirectory directory_;
  SilentLog log_;
  std::unique_ptr<http::Server> server_;
};

class RawClient {
 public:
  explicit RawClient(const ServerRig& rig) : socket_(http::connect_unix(rig.socket_path(), kPatience).value()) {}

  int descriptor() const { return socket_.get(); }

  // As much as the server takes; it may hang up before the end, which is its right.
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // "" when the server has hung up.
  std::string read_some() {
    EXPECT_TRUE(waits_for(POLLIN)) << "no answer";
    std::string bytes(65536, '\0');
    const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }
  std::string read_to_end() {
    std::string all;
    while (true) {
      const std::string some = read_some();
      if (some.empty()) return all;
      all += some;
    }
  }
  // Up to and including `last`, or to the end.
  std::string read_until(std::string_view last) {
    std::string all;
    while (all.find(last) == std::string::npos) {
      const std::string some = read_some();
      if (some.empty()) break;
      all += some;
    }
    return all;
  }

  bool waits_for(short events, std::chrono::milliseconds patience = kPatience) {
    pollfd waited{.fd = socket_.get(), .events = events, .revents = 0};
    return uninterrupted([&] { return ::poll(&waited, 1, static_cast<int>(patience.count())); }) > 0;
  }
  // Until the server has closed the connection, without reading a byte.
  bool sees_hangup() { return waits_for(0); }

  void shut_down_sending() { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  Descriptor socket_;
};

// 0 when that is no answer.
inline int status_of(std::string_view answer) {
  constexpr std::string_view kStart = "HTTP/1.1 ";
  if (!answer.starts_with(kStart) || answer.size() < kStart.size() + 3) return 0;
  return std::stoi(std::string(answer.substr(kStart.size(), 3)));
}

inline std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n";
}

// One request on a connection of its own, which the server closes behind the answer.
inline std::string ask(const ServerRig& rig, const std::string& target) {
  RawClient client(rig);
  client.send(get(target, "Connection: close\r\n"));
  return client.read_to_end();
}

}  // namespace kron::testing
