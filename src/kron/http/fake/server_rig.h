#pragma once

#include <arpa/inet.h>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include "kron/env/fake/silent_log.h"
#include "kron/http/endpoint.h"
#include "kron/http/fake/tls_rig.h"
#include "kron/http/server.h"
#include "kron/http/tcp_listener.h"
#include "kron/http/unix_socket.h"
#include "kron/testing/temporary_directory.h"

// What the tests of the server and its client share: a server on a socket of its own, and a client that sends bytes,
// not requests.
namespace kron::testing {

// Longer than any answer takes on a busy machine; only a test that fails waits for it.
inline constexpr Seconds kPatience(60);

// The ways into a server; the one that rigs take now.
enum class Way : std::uint8_t { unix_socket, tcp, tls };
inline Way& way_in() {
  static Way way = Way::unix_socket;
  return way;
}

// A test that is run over each of them.
class OverEachWay : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override { way_in() = GetParam(); }
  void TearDown() override { way_in() = Way::unix_socket; }
};
inline std::string name_of_way(const ::testing::TestParamInfo<Way>& info) {
  return std::vector<std::string>{"Unix", "Tcp", "Tls"}[static_cast<std::size_t>(info.param)];
}

// The certificate of all servers, and those who trust it.
inline const TlsRig& tls_rig() {
  static const TlsRig rig;
  return rig;
}

inline Descriptor connect_to_port(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // A kernel that takes megabytes for one who does not read would make him look as if he did.
  const int small = 64 << 10;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

// One server at a time, in a directory that is removed.
class ServerRig {
 public:
  // `identify` is asked on a unix socket; whoever comes by TCP is preferred.
  explicit ServerRig(http::Server::Handler handler, http::Server::Options options = {},
                     http::UnixListener::Identify identify = preferred, Log* log = nullptr)
      : way_(way_in()) {
    auto started = http::Server::start(way_ == Way::unix_socket ? on_socket(std::move(identify)) : on_port(),
                                       std::move(options), std::move(handler), log != nullptr ? *log : log_);
    EXPECT_TRUE(started) << started.error().message;
    if (started) server_ = *std::move(started);
  }

  Way way() const { return way_; }
  // For clients.
  http::Endpoint endpoint() const {
    if (way_ == Way::unix_socket) return socket_path();
    http::Endpoint server;
    server.host = "localhost";
    server.port = port_;
    if (way_ == Way::tls) server.tls = tls_rig().client();
    return server;
  }
  std::uint16_t port() const { return port_; }
  Descriptor connect() const {
    return way_ == Way::unix_socket ? http::connect_unix(socket_path(), kPatience).value() : connect_to_port(port_);
  }

  std::string socket_path() const { return directory_.path() + "/socket"; }
  http::Server::Listeners on_socket(http::UnixListener::Identify identify = preferred) const {
    http::Server::Listeners listeners;
    listeners.push_back(std::make_unique<http::UnixListener>(
        http::UnixListener::open(socket_path(), 0600, std::nullopt, std::move(identify)).value()));
    return listeners;
  }
  http::Server::Listeners on_port() {
    auto identify = [](const http::Request& head) {
      http::Principal principal = head.principal;
      principal.permissions = 1;
      principal.is_preferred = true;
      return principal;
    };
    auto listener =
        http::TcpListener::open("127.0.0.1:0", identify, way_ == Way::tls ? tls_rig().source() : nullptr).value();
    port_ = listener.port();
    http::Server::Listeners listeners;
    listeners.push_back(std::make_unique<http::TcpListener>(std::move(listener)));
    return listeners;
  }
  // Whom no cap holds.
  static http::Listener::Identified preferred(const http::Credentials& peer) {
    return http::Principal{.name = "uid " + std::to_string(peer.uid), .permissions = 1, .is_preferred = true};
  }
  void stop() { server_.reset(); }

 private:
  const Way way_;
  std::uint16_t port_ = 0;
  TemporaryDirectory directory_;
  SilentLog log_;
  std::unique_ptr<http::Server> server_;
};

class RawClient {
 public:
  explicit RawClient(const ServerRig& rig) : RawClient(rig.connect(), rig.way() == Way::tls) {}
  RawClient(Descriptor socket, bool is_tls) : socket_(std::move(socket)) {
    if (!is_tls) return;
    tls_ = http::TlsSession::for_client(tls_rig().client(), "127.0.0.1").value();
    EXPECT_TRUE(tls_->received({}));
    flush();
    while (!tls_->is_established() && receive()) {
    }
    EXPECT_TRUE(tls_->is_established());
  }

  // With whom hands were shaken.
  RawClient(Descriptor socket, http::TlsSession session) : socket_(std::move(socket)), tls_(std::move(session)) {}

  int descriptor() const { return socket_.get(); }

  // As much as the server takes; it may hang up before the end, which is its right.
  void send(std::string_view bytes) {
    if (!tls_) return send_as_is(bytes);
    if (tls_->write(bytes)) flush();
  }
  // Past TLS.
  void send_as_is(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // "" when the server has hung up.
  std::string read_some() {
    std::string bytes(65536, '\0');
    std::size_t size = 0;
    while (tls_) {
      const auto read = tls_->read(bytes);
      size = read ? *read : 0;
      if (size > 0 || !read || tls_->peer_closed() || !receive()) break;
    }
    if (!tls_) {
      EXPECT_TRUE(waits_for(POLLIN)) << "no answer";
      const ssize_t received = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      size = received > 0 ? static_cast<std::size_t>(received) : 0;
    }
    bytes.resize(size);
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
  // The server has said that this is the end.
  bool was_told_the_end() const { return tls_ && tls_->peer_closed(); }

  bool waits_for(short events, std::chrono::milliseconds patience = kPatience) {
    if (tls_ && (events & POLLIN) != 0 && tls_->has_something() == true) return true;
    pollfd waited{.fd = socket_.get(), .events = events, .revents = 0};
    return uninterrupted([&] { return ::poll(&waited, 1, static_cast<int>(patience.count())); }) > 0;
  }
  // Until the server has closed the connection, without reading a byte.
  bool sees_hangup() { return waits_for(POLLRDHUP); }

  void shut_down_sending() { ::shutdown(socket_.get(), SHUT_WR); }
  // Says over TLS that it is over, and stays.
  void say_end() {
    tls_->close();
    flush();
  }

 private:
  void flush() { send_as_is(tls_->take_outgoing()); }
  // False: nothing more comes.
  bool receive() {
    EXPECT_TRUE(waits_for(POLLIN)) << "no answer";
    std::string bytes(16384, '\0');
    const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size <= 0) return false;
    const bool is_good = tls_->received(std::string_view(bytes).substr(0, static_cast<std::size_t>(size))).has_value();
    flush();
    return is_good;
  }

  Descriptor socket_;
  std::optional<http::TlsSession> tls_;
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
