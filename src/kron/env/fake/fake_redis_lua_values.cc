#include "kron/env/fake/fake_redis_lua_values.h"

#include <lua.hpp>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {
namespace {

constexpr int kDeepest = 7999;  // of nested tables and arrays

RedisValue taken_table(lua_State* lua, int depth) {
  if (std::optional<std::string> text = text_field(lua, "err")) return error(on_one_line(*std::move(text)));
  if (std::optional<std::string> text = text_field(lua, "ok")) {
    for (char& letter : *text) {
      if (letter == '\n' || letter == '\r') letter = ' ';
    }
    return status(*std::move(text));
  }
  push_text(lua, "double");
  lua_rawget(lua, -2);
  if (lua_type(lua, -1) == LUA_TNUMBER) {
    const double number = lua_tonumber(lua, -1);
    lua_pop(lua, 1);
    return bulk(number);
  }
  lua_pop(lua, 1);
  std::vector<RedisValue> items;
  for (int i = 1;; ++i) {
    lua_rawgeti(lua, -1, i);
    if (lua_isnil(lua, -1)) {
      lua_pop(lua, 1);
      return array(std::move(items));
    }
    items.push_back(taken(lua, depth + 1));
  }
}

}  // namespace

void push_text(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }

void push_error(lua_State* lua, std::string_view text) {
  lua_createtable(lua, 0, 2);
  push_text(lua, text);
  lua_setfield(lua, -2, "err");
  lua_pushboolean(lua, 1);
  lua_setfield(lua, -2, "ignore_error_stats_update");
}

// Redis to Lua.
void push_value(lua_State* lua, const RedisValue& value) {
  lua_checkstack(lua, 4);
  switch (value.kind) {
    case RedisValue::Kind::nil:
      lua_pushboolean(lua, 0);
      break;
    case RedisValue::Kind::integer:
      lua_pushnumber(lua, static_cast<lua_Number>(value.integer));
      break;
    case RedisValue::Kind::text:
      push_text(lua, value.text);
      break;
    case RedisValue::Kind::error:
      push_error(lua, value.text);
      break;
    case RedisValue::Kind::status:
      lua_createtable(lua, 0, 1);
      push_text(lua, value.text);
      lua_setfield(lua, -2, "ok");
      break;
    case RedisValue::Kind::array:
      lua_createtable(lua, static_cast<int>(value.items.size()), 0);
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        push_value(lua, value.items[i]);
        lua_rawseti(lua, -2, static_cast<int>(i) + 1);
      }
      break;
  }
}

std::string lua_text(lua_State* lua, int index) {
  std::size_t length = 0;
  const char* const text = lua_tolstring(lua, index, &length);
  return text == nullptr ? std::string() : std::string(text, length);
}

std::optional<std::string> text_field(lua_State* lua, const char* name) {
  push_text(lua, name);
  lua_rawget(lua, -2);
  std::optional<std::string> text;
  if (lua_type(lua, -1) == LUA_TSTRING) text = lua_text(lua, -1);
  lua_pop(lua, 1);
  return text;
}

// Lua to Redis: what is on top, which is taken off.
RedisValue taken(lua_State* lua, int depth) {
  RedisValue value;
  if (depth > kDeepest || lua_checkstack(lua, 4) == 0) {
    lua_pop(lua, 1);
    return error("ERR reached lua stack limit");
  }
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
      value = bulk(lua_text(lua, -1));
      break;
    case LUA_TBOOLEAN:
      value = lua_toboolean(lua, -1) != 0 ? integer(1) : nil();
      break;
    case LUA_TTABLE:
      value = taken_table(lua, depth);
      break;
    case LUA_TNUMBER: {
      // As x86 does it, which Redis relies on: what does not fit becomes the least number.
      const double number = lua_tonumber(lua, -1);
      const bool fits = number >= -9223372036854775808.0 && number < 9223372036854775808.0;
      value = integer(fits ? static_cast<std::int64_t>(number) : INT64_MIN);
      break;
    }
    default:
      break;
  }
  lua_pop(lua, 1);
  return value;
}

}  // namespace kron::testing::fake_redis
