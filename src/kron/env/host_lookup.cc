#include "kron/env/host_lookup.h"

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <optional>
#include <thread>

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

}  // namespace kron
