#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/redis_session.h"

namespace kron {

class RedisNodes;

// What an error of a Redis Cluster says about where a command belongs: "MOVED 3999 10.0.0.7:6381", "ASK …".
struct RedisRedirect {
  enum class Kind : std::uint8_t { moved, ask, try_again };

  Kind kind = Kind::moved;
  RedisAddress address = {};  // not of try_again

  bool operator==(const RedisRedirect&) const = default;
};

// Nothing for any other error. `from`: who said it; a redirect without a host means the same host.
std::optional<RedisRedirect> redirect_of(std::string_view error, const RedisAddress& from);

// Whether an error says that this is the wrong server now, or not ready to be the right one.
bool is_wrong_server(std::string_view error);

// A session that is authenticated, has its database selected and its name set.
struct RedisLogin {
  std::unique_ptr<RedisSession> session;
  std::optional<RedisRedirect> redirect = {};  // where a Redis Cluster has `route_key`, when not here
};

// Connects to one address with the user, password, database and TLS of `url`. Unreachable: nobody there, or it is not
// ready (LOADING …). Refused: it does not let us in.
Result<RedisLogin> log_in_to_redis(const RedisAddress& address, const RedisUrl& url, const std::string& route_key,
                                   Deadline deadline);

// The server for commands: the master that the Sentinels name and that says so itself; the node of a Redis Cluster that
// has `route_key`; else the first address of the URL that lets us in. `likely`, when there is one, is tried first;
// those of `nodes`, if given, last. Failures as above.
Result<std::unique_ptr<RedisSession>> find_redis_master(const RedisUrl& url, const std::string& route_key,
                                                        const std::optional<RedisAddress>& likely, Deadline deadline,
                                                        RedisNodes* nodes = nullptr);

}  // namespace kron
