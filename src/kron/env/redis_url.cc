#include "kron/env/redis_url.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <sys/un.h>
#include <utility>

namespace kron {
namespace {

constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;
constexpr int kMostDb = 999'999;
constexpr std::size_t kHostBytes = 253;
constexpr std::size_t kSocketPathBytes = sizeof(sockaddr_un::sun_path) - 1;

struct UrlScheme {
  std::string_view name;
  bool has_sentinels;
  bool has_tls;
  bool is_path;
};

constexpr std::array kUrlSchemes{
    UrlScheme{"redis", false, false, false},         UrlScheme{"rediss", false, true, false},
    UrlScheme{"redis+sentinel", true, false, false}, UrlScheme{"rediss+sentinel", true, true, false},
    UrlScheme{"redis+unix", false, false, true},
};

constexpr std::string_view kEscapes = "in a password, write @ as %40, / as %2F, ? as %3F, # as %23, : as %3A";

// The text before the first `separator`, which is taken off `rest` with it.
std::string_view taken_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

// Reads one text. Pieces of it are views into it, so that each knows its column.
class UrlText {
 public:
  explicit UrlText(std::string_view text) : text_(text) {}

  [[nodiscard]] tl::unexpected<Error> bad(std::string_view at, std::string problem) const {
    return fail(Code::invalid, std::move(problem), "redis", static_cast<std::size_t>(at.data() - text_.data()) + 1);
  }

  [[nodiscard]] Status check() const {
    if (text_.size() > kRedisUrlBytes) {
      return bad(text_.substr(kRedisUrlBytes),
                 "the address of Redis is longer than " + std::to_string(kRedisUrlBytes) + " bytes");
    }
    const auto odd = std::find_if(text_.begin(), text_.end(),
                                  [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; });
    if (odd != text_.end()) {
      return bad(text_.substr(static_cast<std::size_t>(odd - text_.begin())),
                 "a space or control character in the address of Redis; write it as %20 and the like");
    }
    return {};
  }

  [[nodiscard]] Result<std::string> decoded(std::string_view piece) const {
    std::string out;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      if (piece[i] != '%') {
        out += piece[i];
        continue;
      }
      unsigned byte = 0;
      const std::string_view digits = piece.substr(i + 1, 2);
      const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || error != std::errc() || stop != digits.data() + 2) {
        return bad(piece.substr(i), "% is followed by two hexadecimal digits, such as %40; write a % itself as %25");
      }
      out += static_cast<char>(byte);
      i += 2;
    }
    return out;
  }

  // As decoded(), for what the system takes as a C string.
  [[nodiscard]] Result<std::string> decoded_name(std::string_view piece, std::string_view what) const {
    Result<std::string> name = decoded(piece);
    if (!name) return name;
    if (name->empty()) return bad(piece, "the " + std::string(what) + " is empty");
    if (name->find('\0') != std::string::npos) return bad(piece, "the " + std::string(what) + " has a NUL byte");
    return name;
  }

  [[nodiscard]] Result<int> db(std::string_view piece) const {
    int number = 0;
    const auto [stop, error] = std::from_chars(piece.data(), piece.data() + piece.size(), number);
    if (error != std::errc() || stop != piece.data() + piece.size() || number < 0 || number > kMostDb) {
      return bad(piece, "the database is a number from 0 to " + std::to_string(kMostDb) +
                            ", as in redis://host:6379/0; " + std::string(kEscapes));
    }
    return number;
  }

  [[nodiscard]] Result<RedisAddress> address(std::string_view piece, std::uint16_t default_port) const {
    RedisAddress address;
    std::string_view port;
    bool has_port = false;
    if (piece.starts_with('[')) {
      const std::size_t end = piece.find(']');
      if (end == std::string_view::npos) return bad(piece, "[ without ]; write an IPv6 address as [::1]:6379");
      address.host = piece.substr(1, end - 1);
      in6_addr ignored{};
      if (::inet_pton(AF_INET6, address.host.c_str(), &ignored) != 1) {
        return bad(piece, "no IPv6 address stands within [ and ]; write it as [::1]:6379");
      }
      port = piece.substr(end + 1);
      has_port = !port.empty();
      if (has_port && port.front() != ':') return bad(port, "a : and the port are expected after ]");
      if (has_port) port.remove_prefix(1);
    } else {
      port = piece;
      address.host = taken_until(port, ':');
      has_port = address.host.size() < piece.size();
      const std::size_t odd = static_cast<std::size_t>(
          std::find_if_not(address.host.begin(), address.host.end(), is_host_character) - address.host.begin());
      if (odd < address.host.size()) {
        return bad(piece.substr(odd),
                   "a host is a name or an address, such as redis.example.org or 10.0.0.7; " + std::string(kEscapes));
      }
      if (address.host.empty()) return bad(piece, "the host is missing; write host:port");
      if (address.host.size() > kHostBytes) return bad(piece, "the host's name is longer than 253 bytes");
    }
    address.port = default_port;
    if (has_port) {
      const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
      if (error != std::errc() || stop != port.data() + port.size() || address.port == 0) {
        return bad(port, "the port is a number from 1 to 65535; write an IPv6 address as [::1]:6379; " +
                             std::string(kEscapes));
      }
    }
    return address;
  }

  [[nodiscard]] Result<std::vector<RedisAddress>> addresses(std::string_view list, std::uint16_t default_port) const {
    std::vector<RedisAddress> found;
    for (bool is_last = false; !is_last;) {
      is_last = list.find(',') == std::string_view::npos;
      const Result<RedisAddress> one = address(taken_until(list, ','), default_port);
      if (!one) return fail(one.error());
      found.push_back(*one);
    }
    return found;
  }

  [[nodiscard]] Status login(std::string_view piece, RedisUrl& url) const {
    const std::size_t colon = piece.find(':');
    if (colon == std::string_view::npos) {
      return bad(piece, "user and password are written user:password@, a password alone as :password@");
    }
    Result<std::string> user = decoded(piece.substr(0, colon));
    if (!user) return fail(user.error());
    Result<std::string> password = decoded(piece.substr(colon + 1));
    if (!password) return fail(password.error());
    if (password->empty()) {
      return bad(piece.substr(colon), "the password is empty; leave user, colon and @ out when there is none");
    }
    url.user = std::move(*user);
    url.password = std::move(*password);
    return {};
  }

  [[nodiscard]] Status path(std::string_view piece, const UrlScheme& scheme, RedisUrl& url) const {
    if (scheme.has_sentinels) {
      Result<std::string> name = decoded_name(taken_until(piece, '/'), "name of the master");
      if (!name) {
        name.error().message += "; write redis+sentinel://host:26379,host:26379/mymaster";
        return fail(name.error());
      }
      url.master_name = std::move(*name);
    }
    if (piece.empty()) return {};
    const Result<int> number = db(piece);
    if (!number) return fail(number.error());
    url.db = *number;
    return {};
  }

  [[nodiscard]] Status option(std::string_view piece, std::vector<std::string_view>& seen, RedisUrl& url) const {
    constexpr std::array<std::pair<std::string_view, std::string RedisTls::*>, 4> kTlsOptions{{
        {"ca_file", &RedisTls::ca_file},
        {"cert_file", &RedisTls::cert_file},
        {"key_file", &RedisTls::key_file},
        {"server_name", &RedisTls::server_name},
    }};
    std::string_view value = piece;
    const std::string_view key = taken_until(value, '=');
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) return bad(piece, "this option is given twice");
    seen.push_back(key);
    if (key == "db") {
      const Result<int> number = db(value);
      if (!number) return fail(number.error());
      url.db = *number;
      return {};
    }
    for (const auto& [name, member] : kTlsOptions) {
      if (key != name) continue;
      if (!url.tls) return bad(piece, std::string(name) + " is for TLS; write rediss:// instead of redis://");
      Result<std::string> decoded_value = decoded_name(value, name);
      if (!decoded_value) return fail(decoded_value.error());
      (*url.tls).*member = std::move(*decoded_value);
      return {};
    }
    return bad(piece, "unknown option; expected db, ca_file, cert_file, key_file or server_name");
  }

  [[nodiscard]] Result<RedisUrl> url() const {
    std::string_view rest = text_;
    const std::size_t end = rest.find("://");
    const auto* const scheme = std::find_if(kUrlSchemes.begin(), kUrlSchemes.end(), [&](const UrlScheme& known) {
      return end != std::string_view::npos && known.name == rest.substr(0, end);
    });
    if (scheme == kUrlSchemes.end()) {
      return bad(text_,
                 "the address of Redis begins with redis://, rediss:// (TLS), redis+sentinel:// or redis+unix://");
    }
    rest.remove_prefix(end + 3);
    if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
      return bad(rest.substr(hash), "a # has no meaning here; " + std::string(kEscapes));
    }
    RedisUrl url;
    if (scheme->has_tls) url.tls.emplace();
    const bool has_query = rest.find('?') != std::string_view::npos;
    std::string_view query = rest;
    rest = taken_until(query, '?');
    if (Status read = place(rest, *scheme, url); !read) return fail(read.error());
    if (!has_query) return url;
    std::vector<std::string_view> seen;
    if (url.db != 0) seen.push_back("db");
    for (bool is_last = false; !is_last;) {
      is_last = query.find('&') == std::string_view::npos;
      if (Status read = option(taken_until(query, '&'), seen, url); !read) return fail(read.error());
    }
    if (url.tls && url.tls->cert_file.empty() != url.tls->key_file.empty()) {
      return bad(text_, "cert_file and key_file belong together; one of them is missing");
    }
    return url;
  }

 private:
  // What stands between :// and ?.
  [[nodiscard]] Status place(std::string_view rest, const UrlScheme& scheme, RedisUrl& url) const {
    std::string_view server = rest.substr(0, std::min(rest.find('/'), rest.size()));
    rest.remove_prefix(server.size());
    if (const std::size_t at = server.rfind('@'); at != std::string_view::npos) {
      if (Status read = login(server.substr(0, at), url); !read) return read;
      server.remove_prefix(at + 1);
    }
    if (scheme.is_path) {
      if (!server.empty()) return bad(server, "a unix socket has no host; write redis+unix:///path/of/socket");
      Result<std::string> socket_path = decoded_name(rest, "path of the socket");
      if (!socket_path) return fail(socket_path.error());
      if (socket_path->size() > kSocketPathBytes) {
        return bad(rest, "the path of a socket has at most " + std::to_string(kSocketPathBytes) + " bytes");
      }
      url.addresses = {RedisAddress{std::move(*socket_path), 0}};
      return {};
    }
    Result<std::vector<RedisAddress>> found = addresses(server, scheme.has_sentinels ? kSentinelPort : kRedisPort);
    if (!found) return fail(found.error());
    url.addresses = std::move(*found);
    if (!rest.empty()) rest.remove_prefix(1);
    return path(rest, scheme, url);
  }

  std::string_view text_;
};

// All but what means nothing in any part of a URL.
std::string url_escaped(std::string_view text, std::string_view also_plain = "") {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_host_character(c) || c == '~' || c == '*' || also_plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

}  // namespace

std::string text_of(const RedisAddress& address) {
  if (address.is_path()) return address.host;
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<RedisUrl> parse_redis_url(std::string_view text) {
  const UrlText reader(text);
  if (Status fits = reader.check(); !fits) return fail(fits.error());
  return reader.url();
}

Result<RedisUrl> parse_redis_nodes(std::string_view text) {
  const UrlText reader(text);
  if (Status fits = reader.check(); !fits) return fail(fits.error());
  Result<std::vector<RedisAddress>> addresses = reader.addresses(text, kRedisPort);
  if (!addresses) return fail(addresses.error());
  return RedisUrl{.addresses = std::move(*addresses)};
}

std::string printable(const RedisUrl& url) {
  const bool is_path = !url.addresses.empty() && url.addresses.front().is_path();
  std::string out = url.tls ? "rediss" : "redis";
  out += url.has_sentinels() ? "+sentinel://" : is_path ? "+unix://" : "://";
  if (!url.password.empty()) out += url_escaped(url.user) + ":***@";
  if (is_path) {
    out += url_escaped(url.addresses.front().host, "/");
  } else {
    for (std::size_t i = 0; i < url.addresses.size(); ++i) out += (i == 0 ? "" : ",") + text_of(url.addresses[i]);
  }
  if (url.has_sentinels()) out += "/" + url_escaped(url.master_name);
  char separator = '?';
  const auto add_option = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    out += separator + std::string(name) + "=" + url_escaped(value, "/");
    separator = '&';
  };
  if (url.db != 0 && is_path) add_option("db", std::to_string(url.db));
  if (url.db != 0 && !is_path) out += "/" + std::to_string(url.db);
  if (url.tls) {
    add_option("ca_file", url.tls->ca_file);
    add_option("cert_file", url.tls->cert_file);
    add_option("key_file", url.tls->key_file);
    add_option("server_name", url.tls->server_name);
  }
  return out;
}

}  // namespace kron
