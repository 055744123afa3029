#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/redis_connection.h"

namespace kron {

// A Lua script of the queue (scripts/*.lua), as it was when the program was built.
struct QueueScript {
  std::string_view name;  // "commit"
  std::string_view text;
};
std::span<const QueueScript> queue_scripts();

// Calls of scripts over a connection that may break. Everything that is called is safe to repeat: what was lost, or
// came to a server that had forgotten the scripts or was no master any more, is sent again over a new connection. For
// one thread, which it blocks.
class RedisCaller {
 public:
  struct Options {
    Nanoseconds connect_timeout = std::chrono::seconds(3);
    Nanoseconds call_timeout = std::chrono::seconds(5);
    Nanoseconds pause = std::chrono::seconds(1);  // after it could not connect, everything is refused for so long
    int tries = 3;                                // how often one thing is sent, at most
  };

  // `clock` and `log` outlive it.
  RedisCaller(std::unique_ptr<RedisConnection> connection, const Clock& clock, Log& log, Options options);

  // The scripts are named: {"EVALSHA", "commit", …}; the name gives way to the script's digest. One reply for each, in
  // order: an answer, or an error of Redis's; `lost`: it may have been executed, and no answer was to be had;
  // `not_sent`: it was not.
  struct Answered {
    RedisReply reply;
    bool was_sent = false;
  };
  std::vector<Answered> call(std::vector<RedisCommand> commands);

 private:
  Status connect();
  Status load();
  void call_part(std::span<RedisCommand> commands, std::span<Answered> answers);
  void put_digest(RedisCommand& command) const;

  std::unique_ptr<RedisConnection> connection_;
  const Clock& clock_;
  Log& log_;
  Options options_;
  std::map<std::string, std::string, std::less<>> digests_;  // by name; empty: not loaded on this connection
  std::optional<Error> problem_;                             // of the last connect()
  Nanoseconds connect_at_{0};                                // not before this, on Clock::boot_time
};

// Of a reply that is none. Unreachable: may be asked again. Io: Redis is full, or what it holds is of another kind;
// nothing was done.
Error error_of(const RedisReply& reply);

}  // namespace kron
