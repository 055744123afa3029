#include "kron/env/fake/fake_redis_cjson.h"

#include <lua.hpp>

namespace kron::testing::fake_redis {
namespace {

int raise_with_place(lua_State* lua) {
  luaL_where(lua, 1);
  lua_insert(lua, -2);
  lua_concat(lua, 2);
  return lua_error(lua);
}

int cjson_encode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  return encoded(lua) ? 1 : raise_with_place(lua);
}

int cjson_decode(lua_State* lua) {
  luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
  luaL_checkstring(lua, 1);
  return decoded(lua) ? 1 : raise_with_place(lua);
}

}  // namespace

bool refuse(lua_State* lua, const std::string& why) {
  lua_settop(lua, 0);
  lua_pushlstring(lua, why.data(), why.size());
  return false;
}

void push_cjson(lua_State* lua) {
  lua_newtable(lua);
  lua_pushcfunction(lua, cjson_encode);
  lua_setfield(lua, -2, "encode");
  lua_pushcfunction(lua, cjson_decode);
  lua_setfield(lua, -2, "decode");
  lua_pushlightuserdata(lua, nullptr);
  lua_setfield(lua, -2, "null");
}

}  // namespace kron::testing::fake_redis
