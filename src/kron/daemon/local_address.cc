#include "kron/daemon/local_address.h"

#include <array>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "kron/env/descriptor.h"

namespace kron::daemon {
namespace {

constexpr char kLoopback[] = "127.0.0.1";

// Connecting a datagram socket only chooses the way.
std::string address_on_the_way(const addrinfo& target) {
  const Descriptor way(::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!way || ::connect(way.get(), target.ai_addr, target.ai_addrlen) != 0) return "";
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(way.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0) return "";
  std::array<char, NI_MAXHOST> text{};
  const int named = ::getnameinfo(reinterpret_cast<const sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0,
                                  NI_NUMERICHOST);
  return named == 0 ? std::string(text.data()) : "";
}

}  // namespace

std::string local_address_towards(const RedisUrl& url) {
  if (url.addresses.empty() || url.addresses.front().is_path()) return kLoopback;
  const RedisAddress& server = url.addresses.front();
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found) != 0) return kLoopback;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
  for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
    if (std::string address = address_on_the_way(*one); !address.empty()) return address;
  }
  return kLoopback;
}

}  // namespace kron::daemon
