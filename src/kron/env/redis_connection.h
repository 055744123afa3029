#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

namespace kron {

// A command: its name and its arguments, which may hold any bytes.
using RedisCommand = std::vector<std::string>;

// A value of Redis's protocol (RESP2).
struct RedisValue {
  enum class Kind : std::uint8_t { nil, integer, text, status, error, array };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;
  std::string text = {};               // of text, status and error
  std::vector<RedisValue> items = {};  // of array

  bool operator==(const RedisValue&) const = default;
};

// What became of a command.
struct [[nodiscard]] RedisReply {
  enum class How : std::uint8_t {
    reply,     // `value`
    error,     // Redis refused it: `why` is its own text, which begins with a code ("NOSCRIPT …")
    lost,      // it was sent, or part of it, and no answer came: it may or may not have been executed
    not_sent,  // nothing of it left this process: it was not executed
  };

  How how = How::reply;
  RedisValue value = {};
  std::string why = {};

  [[nodiscard]] bool is_reply() const { return how == How::reply; }
  bool operator==(const RedisReply&) const = default;
};

// A connection for commands. For one thread; blocking, with a limit on every wait.
class RedisConnection {
 public:
  virtual ~RedisConnection() = default;

  // Connects, authenticates and selects, unless it is connected. Unreachable: nobody there, or no master. Refused: the
  // server does not want us (password, ACL); the message says what it lacks.
  virtual Status connect(Nanoseconds timeout) = 0;
  [[nodiscard]] virtual bool is_connected() const = 0;

  // All commands as one pipeline, and one reply for each, in order. A connection that has lost a reply is closed: what
  // comes later on it would be taken for the answer to another question.
  virtual std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) = 0;

  virtual void close() = 0;
};

struct RedisMessage {
  std::string channel;
  std::string payload;

  bool operator==(const RedisMessage&) const = default;
};

// A connection that only listens (pub/sub). For one thread.
class RedisSubscription {
 public:
  virtual ~RedisSubscription() = default;

  // Connects and subscribes; what is published from now on will come by next().
  virtual Status subscribe(std::span<const std::string> channels, Nanoseconds timeout) = 0;

  // The next message; nothing when none came in time. An error: the connection is gone, and messages may be lost;
  // subscribe again. Asks the server for a sign of life now and then, so that a dead connection is noticed.
  virtual Result<std::optional<RedisMessage>> next(Nanoseconds timeout) = 0;

  virtual void close() = 0;
};

}  // namespace kron
