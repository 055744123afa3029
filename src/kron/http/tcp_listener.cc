#include "kron/http/tcp_listener.h"

#include <arpa/inet.h>
#include <charconv>
#include <fcntl.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "kron/base/text.h"
#include "kron/env/system_error.h"

namespace kron::http {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { ::freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// No name is looked up: what a resolver says may change, and it may take its time.
Result<Addresses> addresses_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
  const bool is_bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  addrinfo wanted{};
  wanted.ai_family = is_bracketed ? AF_INET6 : AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  // getaddrinfo takes 65536 for 0.
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const char* const digits = colon == std::string::npos ? end : text.data() + colon + 1;
  const auto [stop, error] = std::from_chars(digits, end, port);
  const bool is_whole = !host.empty() && error == std::errc() && stop == end;
  if (!is_whole || ::getaddrinfo(host.c_str(), digits, &wanted, &found) != 0) {
    return fail(Code::invalid, quoted(text, 200) + " is no address to listen on; write 127.0.0.1:8126 or [::1]:8126");
  }
  return Addresses(found);
}

struct PeerAddress {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }

  // As text, without the port; empty when there is none. One of IPv4 that came to a socket of IPv6 is what it is.
  std::string host() {
    if (const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
        storage.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      char v4[INET_ADDRSTRLEN] = "";
      return ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], v4, sizeof v4);
    }
    char text[INET6_ADDRSTRLEN + IF_NAMESIZE] = "";
    if (::getnameinfo(get(), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
    return text;
  }
  std::uint16_t port() const {
    const bool is_v6 = storage.ss_family == AF_INET6;
    return ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                       : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  }
};

}  // namespace

Result<TcpListener> TcpListener::open(const std::string& address, Identify identify, std::shared_ptr<TlsSource> tls) {
  const Result<Addresses> found = addresses_of(address);
  if (!found) return fail(found.error());
  const addrinfo& to = **found;
  Descriptor socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(system_error("make a socket for", address, errno));
  const int on = 1;
  // A server that is started again need not wait for the connections of the one before.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (to.ai_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(socket.get(), to.ai_addr, to.ai_addrlen) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    if (errno != EADDRINUSE) return fail(system_error("listen on", address, errno));
    return fail(Code::conflict,
                "cannot listen on " + address + ": another program does; stop it, or name another port");
  }
  PeerAddress own;
  if (::getsockname(socket.get(), own.get(), &own.size) != 0) return fail(system_error("listen on", address, errno));
  return TcpListener(std::move(socket), own.port(), std::move(identify), std::move(tls));
}

Result<TcpListener> TcpListener::adopt(Descriptor socket, Identify identify, std::shared_ptr<TlsSource> tls) {
  PeerAddress own;
  int listens = 0;
  socklen_t size = sizeof listens;
  const bool is_good = ::getsockname(socket.get(), own.get(), &own.size) == 0 &&
                       (own.storage.ss_family == AF_INET || own.storage.ss_family == AF_INET6) &&
                       ::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
  if (!is_good) return fail(Code::invalid, "what was handed over is no TCP socket that listens; see ListenStream=");
  // As it came from somebody else, it may block, and be inherited.
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  return TcpListener(std::move(socket), own.port(), std::move(identify), std::move(tls));
}

Listener::Identified TcpListener::identify(int socket) const {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // Of one who vanished without a word, and only listened, nothing else would ever tell.
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const int idle = 60;
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  PeerAddress peer;
  if (::getpeername(socket, peer.get(), &peer.size) != 0) return problem(400, "this connection has no other end");
  return Principal{.name = peer.host()};
}

}  // namespace kron::http
