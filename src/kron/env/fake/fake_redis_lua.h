#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {

// The scripts of an Engine: Lua 5.1 with what Redis lets a script see.
class Lua {
 public:
  explicit Lua(Engine& engine);
  ~Lua();
  Lua(const Lua&) = delete;
  Lua& operator=(const Lua&) = delete;

  // Compiles; an error is Redis's answer to a text that is no script.
  std::optional<RedisValue> load(const std::string& sha1, std::string_view text);
  // A script that was loaded.
  RedisValue run(Session& session, const std::string& sha1, std::span<const std::string> keys,
                 std::span<const std::string> args);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha1_of(std::string_view text);  // in hexadecimal

}  // namespace kron::testing::fake_redis
