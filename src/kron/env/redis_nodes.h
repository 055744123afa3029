#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "kron/env/deadline.h"
#include "kron/env/redis_connection.h"
#include "kron/env/redis_url.h"

namespace kron {

class RedisSession;

// Where else a Redis is, as its servers have said: the nodes of a Redis Cluster, or the other Sentinels. The addresses
// of the URL may be gone by the time one is needed. Shared by all connections of a process; any thread.
class RedisNodes {
 public:
  void note(const RedisAddress& address);
  // Asks the node that it is connected to. Nothing is learned from one that is not of a Redis Cluster, or may not be
  // asked.
  void learn_nodes(RedisSession& session, Deadline deadline);
  void learn_sentinels(RedisSession& session, const RedisUrl& url, Deadline deadline);

  // Those of the URL, and behind them those that were heard of, the latest first.
  [[nodiscard]] std::vector<RedisAddress> with_those_of(const RedisUrl& url) const;

  // Where commands go.
  void set_server(const RedisAddress& address);
  [[nodiscard]] std::optional<RedisAddress> server() const;
  // Messages come by any node of it.
  [[nodiscard]] bool is_cluster() const;

 private:
  mutable std::mutex mutex_;
  std::vector<RedisAddress> known_;  // the latest last
  std::optional<RedisAddress> server_;
  bool is_cluster_ = false;
};

// Pure. The addresses in an answer to CLUSTER SLOTS, replicas too; `from`: who gave it. And of SENTINEL SENTINELS.
std::vector<RedisAddress> nodes_in_slots(const RedisValue& slots, const RedisAddress& from);
std::vector<RedisAddress> sentinels_in(const RedisValue& answer);

}  // namespace kron
