#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "kron/env/redis_connection.h"

namespace kron::cluster {

// Whether an error of Redis says that its user may not do that, in itself or within a script.
bool is_missing_right(std::string_view error);

// A command for people: "EVALSHA (script step) on {cronken}:kron:state".
std::string told_of(const RedisCommand& command);

// Which rights the user of a connection lacks, by the answers to its commands. That one is missing is news once, until
// something that was refused works again. For one thread.
class RightsWatch {
 public:
  enum class News : std::uint8_t { none, missing, back };

  // A refusal is completed: its text names the command and its key.
  News note(const RedisCommand& command, RedisReply& reply);

  [[nodiscard]] bool is_missing() const { return !missing_.empty(); }

 private:
  std::set<std::string> missing_;  // commands, as told
};

}  // namespace kron::cluster
