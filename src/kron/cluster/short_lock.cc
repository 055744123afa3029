#include "kron/cluster/short_lock.h"

#include <chrono>

#include "kron/cluster/replies.h"
#include "kron/env/random_hex.h"

namespace kron::cluster {
namespace {

constexpr Nanoseconds kLockTimeout = std::chrono::seconds(3);
constexpr std::string_view kRelease =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

}  // namespace

Result<std::optional<std::string>> take_short_lock(Link& link, const std::string& key, Nanoseconds ttl) {
  const std::string token = random_hex();
  const std::string milliseconds = std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(ttl).count());
  std::vector<TimedReply> replies = link.ask({{"SET", key, token, "PX", milliseconds, "NX"}}, kLockTimeout);
  const Result<RedisValue> answer = value_of(std::move(replies.at(0).reply));
  if (!answer) return fail(answer.error());
  if (answer->kind == RedisValue::Kind::nil) return std::optional<std::string>();
  return std::optional<std::string>(token);
}

void release_short_lock(Link& link, const std::string& key, const std::string& token) {
  link.ask({{"EVAL", std::string(kRelease), "1", key, token}}, kLockTimeout);
}

}  // namespace kron::cluster
