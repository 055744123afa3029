#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/redis_process.h"
#include "kron/env/real_redis_connection.h"
#include "kron/queue/queue_rig.h"
#include "kron/queue/redis_queue.h"

// Queues in Redis for tests: in one in memory, and in a real server.
namespace kron::testing {

inline RedisQueueOptions redis_options(const QueueOptions& options) {
  RedisQueueOptions redis;
  redis.name_space = "{t}";
  redis.ageing = options.ageing;
  redis.looks_every = std::nullopt;
  return redis;
}

inline void set_limits(RedisQueue& queue, const QueueOptions& options) {
  for (const auto& [type, most] : options.concurrency_limits) {
    const Status set = queue.set_limit(type, most);
    EXPECT_TRUE(set) << set.error().message;
  }
}

// The server's clock goes as the boot time of the rig's does, so that a jump of the wall clock is one of the client's.
class RedisRig : public QueueRig {
 public:
  explicit RedisRig(QueueOptions options = {}, std::uint64_t seed = 1)
      : redis([this] { return WallTime(kQueueStart) + clock.boot_time() + server_ahead; }, seed),
        options_(std::move(options)),
        queue_(another()) {
    set_limits(*queue_, options_);
  }
  RedisQueue& queue() override { return *queue_; }
  void jump_ahead(Seconds by) override {
    clock.jump(by);
    server_ahead += by;
  }
  // Of another host.
  std::unique_ptr<RedisQueue> another() {
    return std::make_unique<RedisQueue>(redis.connection(), clock, log, redis_options(options_));
  }

  RedisValue execute(const RedisCommand& command) { return redis.execute(command).value; }
  std::string key(const std::string& rest) const { return "{t}:kron:q:" + rest; }
  bool has_told_of(const std::string& rest) const {
    for (const auto& line : log.lines_of("task_unreadable")) {
      if (line.field("key") == key(rest)) return true;
    }
    return false;
  }

  CapturingLog log;
  Nanoseconds server_ahead{0};
  FakeRedis redis;

 private:
  QueueOptions options_;
  std::unique_ptr<RedisQueue> queue_;
};

// Two hosts on one server: whoever is asked, it is now the one and now the other. Now and then an answer is lost.
class TwoRedisQueuesRig : public QueueRig {
 public:
  explicit TwoRedisQueuesRig(const QueueOptions& options = {}) : one_(options), other_(one_.another()) {
    one_.redis.decide([this](const RedisCommand&) -> std::optional<RedisFate> {
      if (!lost_after_ || (*lost_after_)-- > 0) return std::nullopt;
      lost_after_.reset();
      return RedisFate{.how = RedisFate::How::reply_lost};
    });
  }
  RedisQueue& queue() override {
    one_.clock = clock;
    return ++turns_ % 3 == 0 ? *other_ : one_.queue();
  }
  // One at a time: who loses one answer after the other gives up.
  void lose_an_answer_after(std::uint64_t commands) { lost_after_ = commands; }

 private:
  std::optional<std::uint64_t> lost_after_;
  RedisRig one_;
  std::unique_ptr<RedisQueue> other_;
  unsigned turns_ = 0;
};

// To a real server whose clock is the test's: scripts are told the time by a key, which is set before they are called.
class TimedConnection : public RedisConnection {
 public:
  TimedConnection(const std::string& path, std::function<WallTime()> time)
      : connection_(RedisUrl{.addresses = {{path, 0}}}), time_(std::move(time)) {}

  Status connect(Nanoseconds timeout) override { return connection_.connect(timeout); }
  bool is_connected() const override { return connection_.is_connected(); }
  void close() override { connection_.close(); }

  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override {
    const auto microseconds = std::chrono::floor<std::chrono::microseconds>(time_().time_since_epoch()).count();
    std::vector<RedisCommand> all{
        {"DEL", "{t}:now"},
        {"RPUSH", "{t}:now", std::to_string(microseconds / 1'000'000), std::to_string(microseconds % 1'000'000)}};
    for (RedisCommand command : commands) {
      if (command == RedisCommand{"TIME"}) command = {"LRANGE", "{t}:now", "0", "1"};
      if (command.front() == "SCRIPT") command.back() = with_the_key(std::move(command.back()));
      all.push_back(std::move(command));
    }
    auto replies = connection_.call(all, timeout);
    replies.erase(replies.begin(), replies.begin() + 2);
    return replies;
  }

 private:
  static std::string with_the_key(std::string text) {
    const std::string asks = "redis.call('TIME')";
    for (std::size_t at = 0; (at = text.find(asks, at)) != std::string::npos;) {
      text.replace(at, asks.size(), "redis.call('LRANGE', '{t}:now', 0, 1)");
    }
    return text;
  }

  RealRedisConnection connection_;
  std::function<WallTime()> time_;
};

class RedisServerRig : public QueueRig {
 public:
  // One for all tests of a process.
  static RedisProcess* server() {
    static const std::unique_ptr<RedisProcess> kServer = RedisProcess::start();
    return kServer.get();
  }
  static bool is_there() { return server() != nullptr; }

  explicit RedisServerRig(QueueOptions options = {}) : options_(std::move(options)) {
    server()->call({"FLUSHALL"});
    queue_ = another();
    set_limits(*queue_, options_);
  }
  RedisQueue& queue() override { return *queue_; }
  void jump_ahead(Seconds by) override {
    clock.jump(by);
    server_ahead_ += by;
  }
  std::unique_ptr<RedisQueue> another() {
    auto connection = std::make_unique<TimedConnection>(
        server()->socket_path(), [this] { return WallTime(kQueueStart) + clock.boot_time() + server_ahead_; });
    return std::make_unique<RedisQueue>(std::move(connection), clock, log, redis_options(options_));
  }

  CapturingLog log;

 private:
  QueueOptions options_;
  Seconds server_ahead_{0};
  std::unique_ptr<RedisQueue> queue_;
};

}  // namespace kron::testing
