#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kron/env/redis_connection.h"

namespace kron::cluster {

// A Lua script (scripts/*.lua), as it was when the program was built.
//
// Every answer of every script is an array that begins with: a word, the seconds and the microseconds of Redis's TIME,
// and the counter of fencing tokens, or '' where a script does not look at it. All items are texts.
struct Script {
  std::string_view name;  // "step"
  std::string_view text;
  std::string sha;
};

std::span<const Script> all_scripts();
const Script& script_named(std::string_view name);  // one of those

// SCRIPT LOAD of each. A connection loads them all before anything else: a pipeline of which only some are known would
// take effect in another order.
std::vector<RedisCommand> load_scripts();

}  // namespace kron::cluster
