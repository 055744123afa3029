#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <lua.hpp>
#include <optional>

#include "kron/env/fake/fake_redis_cjson.h"

namespace kron::testing::fake_redis {
namespace {

void append_json_text(std::string& json, std::string_view text) {
  json += '"';
  for (const char letter : text) {
    switch (letter) {
      case '"':
        json += "\\\"";
        break;
      case '\\':
        json += "\\\\";
        break;
      case '/':
        json += "\\/";
        break;
      case '\b':
        json += "\\b";
        break;
      case '\t':
        json += "\\t";
        break;
      case '\n':
        json += "\\n";
        break;
      case '\f':
        json += "\\f";
        break;
      case '\r':
        json += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(letter) < 32 || letter == 127) {
          std::array<char, 8> escape{};
          std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(letter));
          json += escape.data();
        } else {
          json += letter;
        }
    }
  }
  json += '"';
}

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.14g", number);
  return text.data();
}

std::string_view json_text(lua_State* lua, int index) {
  std::size_t length = 0;
  const char* const text = lua_tolstring(lua, index, &length);
  return {text, length};
}

// How long the table on top is as an array; 0: it is an object. Nothing: an array with too many holes.
std::optional<int> array_length(lua_State* lua) {
  double greatest = 0;
  int items = 0;
  lua_pushnil(lua);
  while (lua_next(lua, -2) != 0) {
    const double key = lua_type(lua, -2) == LUA_TNUMBER ? lua_tonumber(lua, -2) : 0;
    if (key < 1 || std::floor(key) != key) {
      lua_pop(lua, 2);
      return 0;
    }
    greatest = std::max(greatest, key);
    items += 1;
    lua_pop(lua, 1);
  }
  if (greatest > 2.0 * items && greatest > 10) return std::nullopt;
  return static_cast<int>(greatest);
}

bool append_value(lua_State* lua, std::string& json, int depth);

bool append_array(lua_State* lua, std::string& json, int length, int depth) {
  json += '[';
  for (int i = 1; i <= length; ++i) {
    if (i > 1) json += ',';
    lua_rawgeti(lua, -1, i);
    if (!append_value(lua, json, depth)) return false;
    lua_pop(lua, 1);
  }
  json += ']';
  return true;
}

bool append_object(lua_State* lua, std::string& json, int depth) {
  json += '{';
  bool is_first = true;
  lua_pushnil(lua);
  while (lua_next(lua, -2) != 0) {
    if (!is_first) json += ',';
    is_first = false;
    if (lua_type(lua, -2) == LUA_TNUMBER) {
      json += '"' + number_text(lua_tonumber(lua, -2)) + '"';
    } else if (lua_type(lua, -2) == LUA_TSTRING) {
      append_json_text(json, json_text(lua, -2));
    } else {
      return refuse(lua, std::string("Cannot serialise ") + lua_typename(lua, lua_type(lua, -2)) +
                             ": table key must be a number or string");
    }
    json += ':';
    if (!append_value(lua, json, depth)) return false;
    lua_pop(lua, 1);
  }
  json += '}';
  return true;
}

bool append_table(lua_State* lua, std::string& json, int depth) {
  if (depth > kDeepestJson || lua_checkstack(lua, 3) == 0) {
    return refuse(lua, "Cannot serialise, excessive nesting (" + std::to_string(depth) + ")");
  }
  const std::optional<int> length = array_length(lua);
  if (!length) return refuse(lua, "Cannot serialise table: excessively sparse array");
  return *length > 0 ? append_array(lua, json, *length, depth) : append_object(lua, json, depth);
}

// What is on top.
bool append_value(lua_State* lua, std::string& json, int depth) {
  const int type = lua_type(lua, -1);
  if (type == LUA_TSTRING) {
    append_json_text(json, json_text(lua, -1));
  } else if (type == LUA_TNUMBER) {
    const double number = lua_tonumber(lua, -1);
    if (std::isnan(number) || std::isinf(number)) {
      return refuse(lua, "Cannot serialise number: must not be NaN or Inf");
    }
    json += number_text(number);
  } else if (type == LUA_TBOOLEAN) {
    json += lua_toboolean(lua, -1) != 0 ? "true" : "false";
  } else if (type == LUA_TTABLE) {
    return append_table(lua, json, depth + 1);
  } else if (type == LUA_TNIL || (type == LUA_TLIGHTUSERDATA && lua_touserdata(lua, -1) == nullptr)) {
    json += "null";
  } else {
    return refuse(lua, std::string("Cannot serialise ") + lua_typename(lua, type) + ": type not supported");
  }
  return true;
}

}  // namespace

bool encoded(lua_State* lua) {
  std::string json;
  if (!append_value(lua, json, 0)) return false;
  lua_pushlstring(lua, json.data(), json.size());
  return true;
}

}  // namespace kron::testing::fake_redis
