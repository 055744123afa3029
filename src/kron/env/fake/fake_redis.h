#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kron/env/clock.h"
#include "kron/env/redis_connection.h"

namespace kron::testing {

// What becomes of one command on its way to the server and back.
struct RedisFate {
  enum class How : std::uint8_t {
    answered,      // executed and answered
    request_lost,  // neither it nor the rest of its pipeline arrives; all are `lost`, and the connection is closed
    not_sent,      // likewise, and the sender knows it: all are `not_sent`
    reply_lost,    // executed, but neither its answer nor a later one arrives; the connection is closed
  };

  How how = How::answered;
  bool executes_rest = true;  // of reply_lost: whether the server executes the rest of the pipeline
  // Somewhere a copy of the command was held up, and is executed later, also when its connection is long gone: after so
  // many further commands of any connection, or when the server's clock has gone on so far. Nobody hears the answer.
  std::optional<std::uint64_t> repeated_after = {};
  std::optional<Nanoseconds> repeated_in = {};
};

// How often what goes wrong, for each command; drawn from the seed of the FakeRedis.
struct RedisFaults {
  double request_lost = 0;
  double not_sent = 0;
  double reply_lost = 0;
  double repeated = 0;
  std::uint64_t repeated_within = 30;  // commands
  double scripts_flushed = 0;          // before the command, as by SCRIPT FLUSH
  double connect_fails = 0;            // for each connect()
};

// A Redis server in memory that behaves as Redis 7.0 does: the commands that Kron uses, with its errors and its texts,
// and scripts in Lua 5.1. What it does not know it refuses. It does not keep count of bytes: a stream that is trimmed
// with `~` has nodes of 100 entries, whatever their size, and hashes and sets are listed in the order of their members.
//
// All methods may be called from any thread. The clock and the functions given here are called with the server locked:
// they must not call back. Connections and subscriptions must not outlive the server.
class FakeRedis {
 public:
  using Time = std::function<WallTime()>;

  // The server's TIME is what `time` says: any clock of the test's, which may jump.
  explicit FakeRedis(Time time, std::uint64_t seed = 1);
  ~FakeRedis();
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  std::unique_ptr<RedisConnection> connection();

  // Never waits: next() returns what has come. With `waits` it waits in real time, for tests with threads.
  std::unique_ptr<RedisSubscription> subscription(bool waits = false);

  // For the test itself: no faults, not counted, whatever the state of the server.
  RedisReply execute(const RedisCommand& command);

  // Commands that were executed for connections; a script is one. By its name in capitals, or all of them.
  std::uint64_t commands() const;
  std::uint64_t commands(std::string_view name) const;

  // Faults that are drawn.
  void set_faults(const RedisFaults& faults);

  // Faults that the test plans: of the n-th command of any connection from now on (0: the next); or by a function that
  // is asked about each command that nothing was planned for (nothing: as drawn).
  void plan(std::uint64_t n, const RedisFate& fate);
  using Decide = std::function<std::optional<RedisFate>(const RedisCommand&)>;
  void decide(Decide decide);
  // What a caller does who waits in vain, before it is told `lost`: for instance the test's clocks go on.
  void on_timeout(std::function<void(Nanoseconds timeout)> waited);

  // The server does not answer: what is sent is executed when it goes on, unless `forgets`, and its senders are told
  // `lost`. Nobody can connect.
  void stall();
  void go_on(bool forgets = false);

  // Commands and messages: each notices at its next call, and its requests are lost.
  void close_connections();
  // Connections are closed and nobody can connect: `error` says why (Code::unreachable or Code::refused).
  void refuse_connections(std::optional<Error> error);

  // Connections are closed, scripts and subscribers are gone, data stays …
  void restart();
  // … or is lost, or what the last `writes` have done is: commands that changed something, a script counting as one.
  // How many can be lost is set before, because a log of them costs memory and time.
  void restart_empty();
  void keep_log_of(std::size_t writes);
  void restart_without(std::size_t writes);

  void set_read_only(bool is_read_only);                // READONLY: it is a replica now
  void set_out_of_memory(bool is_full);                 // OOM
  void deny(std::string_view command);                  // NOPERM: the ACL forbids this command, by its name in capitals
  void allow(std::string_view command);                 // again
  void flush_scripts();                                 // SCRIPT FLUSH
  void set_replicas(std::int64_t count);                // what WAIT answers
  void set_info(std::string field, std::string value);  // of INFO
  void set_config(std::string name, std::string value);  // of CONFIG GET

 private:
  class Server;
  class Connection;
  class Subscription;

  std::unique_ptr<Server> server_;
};

}  // namespace kron::testing
