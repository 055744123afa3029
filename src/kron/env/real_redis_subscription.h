#pragma once

#include <deque>
#include <memory>

#include "kron/env/deadline.h"
#include "kron/env/redis_connection.h"
#include "kron/env/redis_url.h"

namespace kron {

class RedisNodes;
class RedisSession;

// Pub/sub with a real Redis over TCP, TLS or a unix socket; any node of a Redis Cluster will do, also one that only
// `nodes` know of. Elsewhere it is lost when commands go to another server now: what is published there does not come
// here. For one thread.
//
// After `ping_after` without a message the server is asked for a sign of life; when it has not answered two of those
// questions, each `ping_after` after the one before, the connection counts as dead. next() must be called for that.
class RealRedisSubscription : public RedisSubscription {
 public:
  explicit RealRedisSubscription(RedisUrl url, Nanoseconds ping_after = Seconds(10),
                                 std::shared_ptr<RedisNodes> nodes = {});
  ~RealRedisSubscription() override;

  Status subscribe(std::span<const std::string> channels, Nanoseconds timeout) override;
  Result<std::optional<RedisMessage>> next(Nanoseconds timeout) override;
  void close() override;

 private:
  Result<std::optional<RedisMessage>> lost(const std::string& why);
  [[nodiscard]] bool is_elsewhere() const;

  RedisUrl url_;
  Nanoseconds ping_after_;
  std::shared_ptr<RedisNodes> nodes_;
  std::unique_ptr<RedisSession> session_;
  std::deque<RedisMessage> early_;  // came while the subscription was being confirmed
  Deadline ping_at_{};              // when to ask next
  int unanswered_ = 0;              // questions for a sign of life since the last one
};

}  // namespace kron
