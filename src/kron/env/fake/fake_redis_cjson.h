#pragma once

#include <string>

struct lua_State;

namespace kron::testing::fake_redis {

// Leaves a table with encode, decode and null on the stack: the part of Redis's cjson that scripts use, with its limits
// and its texts.
void push_cjson(lua_State* lua);

// The value on the stack as JSON, or the JSON on the stack as a value, is pushed; false: what is the matter. They raise
// no error of Lua's, because they have variables with destructors.
bool encoded(lua_State* lua);
bool decoded(lua_State* lua);

inline constexpr int kDeepestJson = 1000;

// Leaves only a text on the stack.
bool refuse(lua_State* lua, const std::string& why);

}  // namespace kron::testing::fake_redis
