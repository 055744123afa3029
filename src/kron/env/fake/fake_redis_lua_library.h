#pragma once

#include "kron/env/fake/fake_redis_commands.h"

struct lua_State;

// What a script finds in its Lua.
namespace kron::testing::fake_redis {

// Of the script that is being run.
struct ScriptContext {
  Engine* engine;
  Session* session;
  bool has_called_a_write = false;
};
// For redis.call; must live as long as the script runs.
void set_context(lua_State* lua, ScriptContext* context);

// Leaves what a script may see on the stack. What differs from call to call (random numbers) is not there.
void push_globals(lua_State* lua);
// What is on top is replaced by an empty table through which it can be read.
void make_read_only(lua_State* lua);
// A function of Lua's: makes an error a table with its text, and where it happened: in the function that raised it or,
// when that is one of C's, in its caller.
int describe_error(lua_State* lua);

}  // namespace kron::testing::fake_redis
