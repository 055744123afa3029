#include "kron/http/network.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <netinet/in.h>

namespace kron::http {

std::string network_of(std::string_view address) {
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

}  // namespace kron::http
