#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/cluster/keys.h"
#include "kron/env/redis_connection.h"
#include "kron/env/redis_url.h"
#include "screen_times.h"

namespace kron::cli {

// Which cluster a verb is about, as its flags say.
struct ClusterOptions {
  std::string redis;       // a URL; empty: $KRON_REDIS, else in a file, else $CRONKEN_REDIS_INFO
  std::string redis_file;  // whose first line is a URL; empty: $KRON_REDIS_FILE
  std::string name_space;  // empty: $KRON_NAMESPACE, else $CRONKEN_NAMESPACE, else {cronken}
  bool json = false;
  TimeFlags times = {};
};

// How long one exchange with Redis may take.
inline constexpr Nanoseconds kRedisTimeout = Seconds(10);

// What a refusal of Redis is to us: `why` is its own text. The message never holds an argument of the command.
Error error_of_redis(std::string_view why);

// The first of these that is set and not empty; `flag` goes first.
std::string first_given(const std::string& flag, std::span<const char* const> variables);

// Unreadable: what is given cannot be one.
Result<std::string> namespace_of(const ClusterOptions& options);

// Where that Redis is. Unreadable: nothing says so, or it is no URL.
Result<RedisUrl> redis_of(const ClusterOptions& options);

// A conversation of one verb with Redis. Reading or writing, every answer is a value or an Error: `unreachable` when
// nobody answered (a write may or may not have happened), `refused` and `conflict` in Redis's own words.
class ClusterSession {
 public:
  // Connects. Unreadable: no URL, or one that is none; unreachable and refused as the connection says.
  static Result<ClusterSession> open(const ClusterOptions& options);
  ClusterSession(std::unique_ptr<RedisConnection> connection, std::string name_space)
      : connection_(std::move(connection)), keys_(std::move(name_space)) {}

  [[nodiscard]] const cluster::Keys& keys() const { return keys_; }

  Result<RedisValue> ask(RedisCommand command);
  // One pipeline. An Error only when the connection failed; what Redis said no to is in the replies.
  Result<std::vector<RedisReply>> ask_all(std::span<const RedisCommand> commands);

  // As ask_all, for commands of cluster/calls.h: loads the scripts where Redis does not know them.
  Result<std::vector<RedisReply>> run_scripts(std::span<const RedisCommand> commands);

  // Goes through a hash, a set, a sorted set or (no key) the names of all keys, page by page: SCAN and its kin, which
  // may show an element twice. The pages are RESP arrays as they came. `command` is HSCAN, ZSCAN, SSCAN or SCAN.
  Status scan(std::string_view command, const std::string& key, std::span<const std::string> more,
              const std::function<Status(const std::vector<RedisValue>&)>& page);

  // To all hosts of the cluster: how many heard it. In a Redis Cluster only those of one node are counted.
  Result<std::int64_t> publish(const std::string& event);

 private:
  std::unique_ptr<RedisConnection> connection_;
  cluster::Keys keys_;
};

}  // namespace kron::cli
