#include "kron/jobs/ping_url.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstdint>
#include <netinet/in.h>

namespace kron::jobs {
namespace {

constexpr std::string_view kSecureScheme = "https://";
constexpr std::string_view kClearScheme = "http://";
constexpr std::size_t kMostHostBytes = 253;

tl::unexpected<Error> no_ping_url(std::string why) { return fail(Code::invalid, std::move(why)); }

bool is_of_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

struct HostAndPort {
  std::string host = {};       // without brackets
  std::string_view port = {};  // with its colon; empty: that of the scheme
  bool is_bracketed = false;
};

HostAndPort split(std::string_view authority) {
  if (!authority.starts_with('[')) {
    const std::size_t end = std::min(authority.find(':'), authority.size());
    return {std::string(authority.substr(0, end)), authority.substr(end)};
  }
  const std::size_t bracket = authority.find(']');
  if (bracket == std::string_view::npos) return {};
  return {std::string(authority.substr(1, bracket - 1)), authority.substr(bracket + 1), true};
}

bool is_host(const HostAndPort& at) {
  in6_addr v6{};
  if (at.is_bracketed) return ::inet_pton(AF_INET6, at.host.c_str(), &v6) == 1;
  return !at.host.empty() && at.host.size() <= kMostHostBytes && std::ranges::all_of(at.host, is_of_host);
}

bool is_port(std::string_view port) {
  if (port.empty()) return true;
  std::uint16_t number = 0;
  const char* const stop = port.data() + port.size();
  const auto [end, status] = std::from_chars(port.data() + 1, stop, number);
  return port.front() == ':' && status == std::errc() && end == stop && number != 0;
}

bool is_on_this_machine(const HostAndPort& at) {
  in_addr v4{};
  in6_addr v6{};
  if (at.is_bracketed) return ::inet_pton(AF_INET6, at.host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
  if (::inet_pton(AF_INET, at.host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == IN_LOOPBACKNET;
  return at.host == "localhost";
}

}  // namespace

std::string_view place_of_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  return url.substr(0, std::min(url.find_first_of("/?#", scheme + 3), url.size()));
}

Result<std::string> parse_ping_url(std::string_view text) {
  if (text.size() > kMostPingUrl) {
    return no_ping_url("the URL has " + std::to_string(text.size()) + " bytes; at most " +
                       std::to_string(kMostPingUrl) + " are allowed");
  }
  const bool is_secure = text.starts_with(kSecureScheme);
  const auto is_printable = [](char c) { return c > 0x20 && c < 0x7F; };
  if ((!is_secure && !text.starts_with(kClearScheme)) || !std::ranges::all_of(text, is_printable)) {
    return no_ping_url("this is no URL of a check; expected https://host/path, as https://hc-ping.com/ and its UUID");
  }
  const std::string_view place = place_of_url(text);
  const std::string_view authority = place.substr((is_secure ? kSecureScheme : kClearScheme).size());
  if (authority.find('@') != std::string_view::npos) return no_ping_url("a URL has no user and no password here");
  const HostAndPort at = split(authority);
  if (!is_host(at)) return no_ping_url("the URL has no host; expected https://host/path");
  if (!is_port(at.port))
    return no_ping_url("what follows the host in the URL is no port; expected https://host:443/path");
  if (!is_secure && !is_on_this_machine(at)) {
    return no_ping_url(
        "in the clear everybody on the way could read where the check is; write https://, http:// is for this machine "
        "alone");
  }
  if (text.find_first_of("?#") != std::string_view::npos) {
    return no_ping_url("the URL has a ? or a #; end it before, because the kind of the ping and the run follow there");
  }
  std::string_view url = text;
  while (url.ends_with('/')) url.remove_suffix(1);
  if (url.size() <= place.size()) {
    return no_ping_url("the URL has no path, so it names no check; add it, as https://hc-ping.com/ and its UUID");
  }
  return std::string(url);
}

}  // namespace kron::jobs
