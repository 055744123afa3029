#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"

namespace kron {

// Where a server listens.
struct RedisAddress {
  std::string host = {};   // a name or an address, IPv6 without brackets; the path of a unix socket
  std::uint16_t port = 0;  // 0: a unix socket

  [[nodiscard]] bool is_path() const { return port == 0; }
  bool operator==(const RedisAddress&) const = default;
};

// "host:port", "[::1]:port", or the path.
std::string text_of(const RedisAddress& address);

// How the server is known to be the right one. Its certificate is always checked, by the authorities of `ca_file` or,
// when that is empty, by those the system trusts.
struct RedisTls {
  std::string ca_file = {};
  std::string cert_file = {};  // our own certificate, for servers that ask for one, and its key
  std::string key_file = {};
  std::string server_name = {};  // the name in the server's certificate where it is not the host's

  bool operator==(const RedisTls&) const = default;
};

// A Redis, and how to get in.
struct RedisUrl {
  std::vector<RedisAddress> addresses =
      {};                        // the server; the first of a Redis Cluster's nodes that answers; or Sentinels
  std::string master_name = {};  // what the Sentinels call the server; empty: no Sentinels
  std::string user = {};         // empty: the default user
  std::string password = {};     // empty: none
  int db = 0;
  std::optional<RedisTls> tls = {};

  [[nodiscard]] bool has_sentinels() const { return !master_name.empty(); }
  bool operator==(const RedisUrl&) const = default;
};

// A longer text is refused.
inline constexpr std::size_t kRedisUrlBytes = 4096;

// One of
//   redis://[user:password@]host:port[,host:port…][/db]        one server, or nodes of a Redis Cluster
//   redis+sentinel://[user:password@]host:port,…/name[/db]     the master of that name, by its Sentinels
//   redis+unix://[user:password@]/path[?db=n]
// and rediss:// or rediss+sentinel:// for the same by TLS, with the options ?ca_file=…&cert_file=…&key_file=…
// &server_name=…. Ports default to 6379, of Sentinels to 26379. User, password, name and options are percent-decoded.
//
// Refused with code invalid, the column and the cure. The message repeats nothing that could be a part of a password.
Result<RedisUrl> parse_redis_url(std::string_view text);

// cronken's redis_info: "host:port,host:port", one server, or nodes of a Redis Cluster.
Result<RedisUrl> parse_redis_nodes(std::string_view text);

// The URL for people: reads back as the same, but for the password, which is ***.
std::string printable(const RedisUrl& url);

}  // namespace kron
