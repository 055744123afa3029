#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kron/env/redis_connection.h"

struct lua_State;

// Values on their way between Redis and Lua, as Redis converts them.
namespace kron::testing::fake_redis {

void push_text(lua_State* lua, std::string_view text);
void push_error(lua_State* lua, std::string_view text);
void push_value(lua_State* lua, const RedisValue& value);

// The string or number at `index`.
std::string lua_text(lua_State* lua, int index);
// A field of the table on top, if it is a string.
std::optional<std::string> text_field(lua_State* lua, const char* name);
// What is on top, which is taken off. `depth` is 1 for what a script returns.
RedisValue taken(lua_State* lua, int depth);

}  // namespace kron::testing::fake_redis
