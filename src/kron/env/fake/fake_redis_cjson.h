#pragma once

struct lua_State;

namespace kron::testing::fake_redis {

// Leaves a table with encode, decode and null on the stack: the part of Redis's cjson that scripts use, with its limits
// and its texts.
void push_cjson(lua_State* lua);

}  // namespace kron::testing::fake_redis
