#pragma once

#include <memory>
#include <optional>

#include "kron/env/deadline.h"
#include "kron/env/redis_connection.h"
#include "kron/env/redis_url.h"

namespace kron {

class RedisNodes;
class RedisSession;

// A connection to a real Redis over TCP, TLS or a unix socket. For one thread.
//
// connect() asks the Sentinels who is master, or follows a Redis Cluster to the node that has `route_key`'s slot, and
// stays there. All waits, the lookup of names among them, end within the timeout.
//
// call() of commands that a cluster has moved meanwhile (MOVED, ASK, TRYAGAIN) follows them within the timeout; while a
// slot is being moved, the commands of one pipeline may be executed out of order. Errors that say that this is the
// wrong server now (READONLY, LOADING, MASTERDOWN, CLUSTERDOWN) are reported as what they are and close the connection,
// so that the next connect() looks again.
class RealRedisConnection : public RedisConnection {
 public:
  // `route_key`: a key of the slot that all commands are about, for a Redis Cluster; may be empty. `nodes`: what is
  // shared with other connections of where else the Redis is; none: the addresses of the URL are all.
  explicit RealRedisConnection(RedisUrl url, std::string route_key = {}, std::shared_ptr<RedisNodes> nodes = {});
  ~RealRedisConnection() override;

  Status connect(Nanoseconds timeout) override;
  [[nodiscard]] bool is_connected() const override;
  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override;
  void close() override;

  // Where it is connected, for messages; empty when it is not.
  [[nodiscard]] std::string peer() const;

 private:
  void follow(std::span<const RedisCommand> commands, Deadline deadline, std::vector<RedisReply>& replies);

  RedisUrl url_;
  std::string route_key_;
  std::shared_ptr<RedisNodes> nodes_;
  std::optional<RedisAddress> last_;  // of a cluster: the node that had our slot when it was looked for last
  std::unique_ptr<RedisSession> session_;
};

}  // namespace kron
