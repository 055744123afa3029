#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing {

// What all connections of a FakeRedis share. Everything but `mutex` and `arrived` is guarded by `mutex`.
class FakeRedis::Server {
 public:
  // What came for a subscriber.
  struct Inbox {
    std::set<std::string, std::less<>> channels;
    std::deque<RedisMessage> messages = {};
    bool is_open = true;
  };

  Server(Time clock, std::uint64_t seed);

  // A pipeline of a connection that is open; whether it still is. `waits_in_vain`: its sender waits for an answer that
  // will not come.
  struct Delivered {
    std::vector<RedisReply> replies = {};
    bool is_open = true;
    bool waits_in_vain = false;
  };
  Delivered deliver(fake_redis::Session& session, std::span<const RedisCommand> commands);

  RedisReply execute(fake_redis::Session& session, const RedisCommand& command);  // and writes it to the log
  void execute_what_is_due();                                                     // of the copies that were held up

  // Whether somebody can connect now.
  Status accept();
  void close_connections();
  void lose_all_but_data();

  void start_log(std::size_t writes);
  void forget_last(std::size_t writes);
  void forget_everything();

  std::mutex mutex;
  std::condition_variable arrived;  // something for an inbox, or an inbox was closed
  Time time;
  fake_redis::Engine engine;
  RedisFaults faults = {};
  std::map<std::uint64_t, RedisFate> planned = {};  // by number of the command
  Decide decide = {};
  std::function<void(Nanoseconds)> on_timeout = {};
  std::optional<Error> refusal = {};
  bool is_stalled = false;
  std::uint64_t generation = 1;  // of connections: those of older ones are closed
  std::uint64_t asked = 0;       // commands whose fate was decided
  std::uint64_t executed = 0;
  std::map<std::string, std::uint64_t, std::less<>> executed_by_name = {};
  std::vector<std::shared_ptr<Inbox>> inboxes = {};

  struct Waiting {
    fake_redis::Session session;
    RedisCommand command;
    std::optional<std::uint64_t> at_count = {};
    std::optional<WallTime> at_time = {};
  };
  std::vector<Waiting> stalled = {};  // came while nothing was answered

 private:
  // One command that changed something, or what one script did, as Redis itself tells its replicas.
  struct Logged {
    struct Effect {
      int database;
      RedisCommand command;
    };
    std::int64_t microseconds = 0;
    std::vector<Effect> effects = {};
  };

  [[nodiscard]] std::int64_t microseconds() const;
  double drawn();
  RedisFate fate_of(const RedisCommand& command);
  RedisFate drawn_fate();
  void hold_copy(const RedisFate& fate, const fake_redis::Session& session, const RedisCommand& command);
  RedisReply execute_counted(fake_redis::Session& session, const RedisCommand& command);
  void log();
  void replay(std::size_t writes);
  std::int64_t publish(const std::string& channel, const std::string& payload);

  std::mt19937_64 random_;
  std::vector<Waiting> copies_ = {};
  std::size_t log_limit_ = 0;
  std::deque<Logged> log_ = {};
  std::vector<Logged::Effect> effects_ = {};             // of the command that is being executed
  std::unique_ptr<fake_redis::Engine> before_log_ = {};  // what was so before the log begins
};

}  // namespace kron::testing
