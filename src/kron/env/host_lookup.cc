#include "kron/env/host_lookup.h"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <thread>

#include "kron/env/system_error.h"
#include "kron/env/thread_start.h"

namespace kron {
namespace {

using FoundAddresses = Result<std::vector<SocketAddress>>;

FoundAddresses ask_resolver(const std::string& host, std::uint16_t port, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (problem != 0) {
    return fail(Code::unreachable, "the address of host " + host + " cannot be found: " + ::gai_strerror(problem));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    address.size = one->ai_addrlen;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
  }
  return addresses;
}

// Of one question; the asker may have left when the answer comes.
struct Lookup {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<FoundAddresses> answer;
};

}  // namespace

Result<std::vector<SocketAddress>> look_up_host(const std::string& host, std::uint16_t port, Deadline deadline) {
  // What is an address already needs no resolver.
  if (FoundAddresses numeric = ask_resolver(host, port, AI_NUMERICHOST)) return numeric;
  const auto lookup = std::make_shared<Lookup>();
  const auto asked = with_thread("the lookup of " + host, [&] {
    std::thread([lookup, host, port] {
      FoundAddresses answer = ask_resolver(host, port, AI_ADDRCONFIG);
      // A machine with nothing but loopback has no address configured in the sense of AI_ADDRCONFIG.
      if (!answer) answer = ask_resolver(host, port, 0);
      const std::lock_guard lock(lookup->mutex);
      lookup->answer = std::move(answer);
      lookup->answered.notify_all();
    }).detach();
    return true;
  });
  if (!asked) return fail(asked.error());
  std::unique_lock lock(lookup->mutex);
  if (!lookup->answered.wait_until(lock, deadline, [&] { return lookup->answer.has_value(); })) {
    return fail(Code::unreachable, "the address of host " + host + " was not found in time; is the name server up?");
  }
  return *lookup->answer;
}

Result<Descriptor> connect_to(const SocketAddress& address, Deadline deadline) {
  const int family = address.get()->sa_family;
  Descriptor descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!descriptor) return fail(system_error("open", "a socket", errno));
  if (family != AF_UNIX) {
    // What is sent is small and goes at once.
    const int on = 1;
    ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  int problem = ::connect(descriptor.get(), address.get(), address.size) == 0 ? 0 : errno;
  if (problem == EINPROGRESS || problem == EINTR) {
    pollfd poll{descriptor.get(), POLLOUT, 0};
    const int ready = uninterrupted([&] { return ::poll(&poll, 1, milliseconds_left(deadline)); });
    socklen_t size = sizeof problem;
    if (ready <= 0) {
      problem = ETIMEDOUT;
    } else if (::getsockopt(descriptor.get(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) {
      problem = errno;
    }
  }
  if (problem == EACCES || problem == EPERM) {
    return fail(Code::refused, std::string("it may not be connected to: ") + std::strerror(problem));
  }
  if (problem != 0) return fail(Code::unreachable, std::strerror(problem));
  return descriptor;
}

}  // namespace kron
