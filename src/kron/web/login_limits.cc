#include "kron/web/login_limits.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>

namespace kron::web {

std::string login_key(std::string_view address) {
  const std::string text(address.substr(0, address.find('%')));
  in6_addr six{};
  if (::inet_pton(AF_INET6, text.c_str(), &six) != 1) return text;
  if (IN6_IS_ADDR_V4MAPPED(&six) != 0) {
    std::array<char, INET_ADDRSTRLEN> four{};
    return ::inet_ntop(AF_INET, &six.s6_addr[12], four.data(), four.size()) == nullptr ? text : four.data();
  }
  std::fill(six.s6_addr + 8, six.s6_addr + 16, std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> network{};
  return ::inet_ntop(AF_INET6, &six, network.data(), network.size()) == nullptr ? text
                                                                                : std::string(network.data()) + "/64";
}

std::optional<Seconds> LoginLimits::wrong(const std::string& key, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (!known_.contains(key) && known_.size() >= kMostAddresses) forget_oldest();
  Known& known = known_[key];
  known.last = now;
  const auto wait = known.limit.wrong(now);
  if (wait) return wait;
  if (second_ < Nanoseconds(0) || now - second_ >= Seconds(1)) {
    second_ = now;
    in_second_ = 0;
  }
  return ++in_second_ > kMostInASecond ? std::optional(Seconds(1)) : std::nullopt;
}

void LoginLimits::right(const std::string& key) {
  const std::lock_guard lock(mutex_);
  known_.erase(key);
}

std::optional<Seconds> LoginLimits::waits(const std::string& key, Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found == known_.end() ? std::nullopt : found->second.limit.waits(now);
}

void LoginLimits::forget_oldest() {
  known_.erase(std::ranges::min_element(known_, {}, [](const auto& one) { return one.second.last; }));
}

}  // namespace kron::web
