#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/scripted_peer.h"

// A Redis in memory that real connections reach, one at a time: what `kron cluster` talks to.
namespace kron::testing {

inline std::string resp_of(const RedisValue& value) {
  using Kind = RedisValue::Kind;
  switch (value.kind) {
    case Kind::nil:
      return "$-1\r\n";
    case Kind::integer:
      return ":" + std::to_string(value.integer) + "\r\n";
    case Kind::text:
      return "$" + std::to_string(value.text.size()) + "\r\n" + value.text + "\r\n";
    case Kind::status:
      return "+" + value.text + "\r\n";
    case Kind::error:
      return "-" + value.text + "\r\n";
    case Kind::array:
      break;
  }
  std::string text = "*" + std::to_string(value.items.size()) + "\r\n";
  for (const RedisValue& item : value.items) text += resp_of(item);
  return text;
}

class RedisPort {
 public:
  static constexpr int kMostConnections = 200;

  RedisPort() : peer_(std::vector<ScriptedPeer::Script>(kMostConnections, [this](auto& talk) { serve(talk); })) {}

  std::string url() const { return "redis://127.0.0.1:" + std::to_string(peer_.address().port); }

  // For the test itself.
  RedisReply execute(const RedisCommand& command) { return redis_.execute(command); }
  std::string get(const std::string& key, const std::string& field) { return execute({"HGET", key, field}).value.text; }
  void run(const RedisCommand& command) { EXPECT_TRUE(execute(command).is_reply()) << command.front(); }
  // What every command that begins with this word is answered from now on.
  void refuse(std::string word, std::string why) {
    const std::scoped_lock lock(mutex_);
    refused_ = std::move(word);
    why_ = std::move(why);
  }

 private:
  void serve(ScriptedPeer::Talk& talk) {
    while (const auto command = talk.command()) {
      const std::scoped_lock lock(mutex_);
      if (!refused_.empty() && command->front() == refused_) {
        talk.say("-" + why_ + "\r\n");
      } else if (command->front() == "CLIENT") {
        talk.say("+OK\r\n");
      } else {
        const RedisReply reply = redis_.execute(*command);
        talk.say(reply.is_reply() ? resp_of(reply.value) : "-" + reply.why + "\r\n");
      }
    }
  }

  FakeRedis redis_{[] { return WallTime(std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}); }};
  std::mutex mutex_;  // of what is refused
  std::string refused_;
  std::string why_;
  ScriptedPeer peer_;  // last: its thread uses the above
};

}  // namespace kron::testing
