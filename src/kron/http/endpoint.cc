#include "kron/http/endpoint.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "kron/base/text.h"
#include "kron/env/host_lookup.h"

namespace kron::http {
namespace {

constexpr std::size_t kMostUrl = 2048;
constexpr std::size_t kMostHost = 253;
constexpr std::size_t kMostToken = 4096;

tl::unexpected<Error> wrong_url(const std::string& why) {
  return fail(Code::invalid, why + "; write https://host:port, or http://127.0.0.1:port for this machine");
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_host_character(char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; }
bool is_bearer_character(char c) {
  return is_letter_or_digit(c) || std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

bool is_this_machine(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == IN_LOOPBACKNET;
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

bool is_this_machine(const kron::SocketAddress& address) {
  if (address.get()->sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr);
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(address.get());
  return address.get()->sa_family == AF_INET && (ntohl(v4->sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
}

// A host with its port behind it, if there is one.
Result<Url> parse_place(std::string_view text, Url url) {
  const bool is_bracketed = text.starts_with('[');
  const std::size_t bracket = text.find(']');
  if (is_bracketed && bracket == std::string_view::npos) return wrong_url("the bracket of the host is not closed");
  const std::size_t end = is_bracketed ? bracket + 1 : std::min(text.find(':'), text.size());
  url.host = lower(is_bracketed ? text.substr(1, bracket - 1) : text.substr(0, end));
  in6_addr v6{};
  // inet_pton reads up to a NUL, and all behind it would be taken for the host.
  const bool is_text = url.host.find('\0') == std::string::npos;
  const bool is_host = is_bracketed ? is_text && ::inet_pton(AF_INET6, url.host.c_str(), &v6) == 1
                                    : !url.host.empty() && url.host.size() <= kMostHost &&
                                          std::ranges::all_of(url.host, is_host_character);
  if (!is_host) return wrong_url(quoted(url.host) + " is no host");
  const std::string_view rest = text.substr(end);
  if (rest.empty()) return url;
  const char* const stop = rest.data() + rest.size();
  const auto [parsed, error] = std::from_chars(rest.data() + 1, stop, url.port);
  if (rest.front() != ':' || error != std::errc() || parsed != stop || url.port == 0) {
    return wrong_url(quoted(rest) + " is no port");
  }
  return url;
}

// A server that vanishes is noticed after a minute and a half, also by one who only listens.
void notice_silence(int socket) {
  const int on = 1;
  const int idle = 60;
  const int interval = 10;
  const int probes = 3;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

}  // namespace

std::string Endpoint::host_header() const {
  if (!is_remote()) return "localhost";
  const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? 443 : 80) ? shown : shown + ":" + std::to_string(port);
}

std::string Endpoint::text() const {
  return is_remote() ? (tls ? "https://" : "http://") + host_header() : socket_path;
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kMostUrl) return wrong_url("this is longer than any address");
  if (text.find('@') != std::string_view::npos) return wrong_url("a URL has no user and no password here");
  constexpr std::string_view kSecure = "https://";
  constexpr std::string_view kClear = "http://";
  const std::string scheme = lower(text.substr(0, text.find("//") + 2));
  if (scheme != kSecure && scheme != kClear) return wrong_url(quoted(text) + " is no URL of a server");
  std::string_view place = text.substr(scheme.size());
  if (place.ends_with('/')) place.remove_suffix(1);
  if (place.find_first_of("/?#") != std::string_view::npos)
    return wrong_url("a URL ends with the host and its port here");
  const bool is_tls = scheme == kSecure;
  auto url = parse_place(place, {.is_tls = is_tls, .port = static_cast<std::uint16_t>(is_tls ? 443 : 80)});
  if (url && !is_tls && !is_this_machine(url->host)) {
    return wrong_url("in the clear everybody on the way to " + quoted(url->host) + " could read the token");
  }
  return url;
}

Result<std::string> parse_token(std::string_view text) {
  const std::string_view token = trimmed(text);
  if (token.empty()) return fail(Code::invalid, "there is no token in it");
  if (token.size() > kMostToken || !std::ranges::all_of(token, is_bearer_character)) {
    return fail(Code::invalid, "it holds something else than one token, as `kron token create` prints it");
  }
  return std::string(token);
}

Result<Descriptor> connect_tcp(const Endpoint& endpoint, Deadline deadline) {
  auto addresses = look_up_host(endpoint.host, endpoint.port, deadline);
  if (!addresses) return fail(addresses.error());
  if (endpoint.tls == nullptr) {
    std::erase_if(*addresses, [](const kron::SocketAddress& address) { return !is_this_machine(address); });
    if (addresses->empty()) return fail(Code::unreachable, endpoint.host + " is not this machine");
  }
  Error why;
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    auto socket = connect_to((*addresses)[i], share_of(deadline, addresses->size() - i));
    if (socket) {
      notice_silence(socket->get());
      return socket;
    }
    why = socket.error();
  }
  return fail(Code::unreachable, "cannot connect to " + endpoint.text() + ": " + why.message);
}

}  // namespace kron::http
