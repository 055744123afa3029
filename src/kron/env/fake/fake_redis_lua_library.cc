#include "kron/env/fake/fake_redis_lua_library.h"

#include <array>
#include <cstdio>
#include <lua.hpp>

#include "kron/env/fake/fake_redis_cjson.h"
#include "kron/env/fake/fake_redis_lua.h"
#include "kron/env/fake/fake_redis_lua_values.h"

// Lua's errors are longjmps. So no function here raises one while it, or a caller up to the last Lua frame, has a local
// variable with a destructor: what works with such variables returns whether to raise, and a caller without any does.
namespace kron::testing::fake_redis {
namespace {

// Its address is the key of the ScriptContext in the registry.
constexpr char kContextKey = 0;

ScriptContext* context_of(lua_State* lua) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kContextKey));
  lua_rawget(lua, LUA_REGISTRYINDEX);
  auto* context = static_cast<ScriptContext*>(lua_touserdata(lua, -1));
  lua_pop(lua, 1);
  return context;
}

// The arguments of redis.call; nothing: one is neither a string nor a number.
std::optional<RedisCommand> command_in(lua_State* lua) {
  RedisCommand command;
  for (int i = 1; i <= lua_gettop(lua); ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER) {
      std::array<char, 64> text{};
      const int length = std::snprintf(text.data(), text.size(), "%.17g", lua_tonumber(lua, i));
      command.emplace_back(text.data(), static_cast<std::size_t>(length));
    } else if (lua_type(lua, i) == LUA_TSTRING) {
      command.push_back(lua_text(lua, i));
    } else {
      return std::nullopt;
    }
  }
  return command;
}

RedisValue execute_from_script(ScriptContext& context, const RedisCommand& command) {
  const Command* const found = find_command(command);
  if (found == nullptr) return error("ERR Unknown Redis command called from script");
  if (!has_right_arity(*found, command.size())) {
    return error("ERR Wrong number of args calling Redis command from script");
  }
  if ((found->flags & kNotInScripts) != 0) return error("ERR This Redis command is not allowed from script");
  if (is_denied(context.engine->condition, *found)) {
    return error("ERR The user executing the script can't run this command or subcommand");
  }
  // Once a script has written it may go on, whatever that needs.
  if (!context.has_called_a_write || context.engine->condition.is_read_only) {
    if (std::optional<RedisValue> refusal = forbidden(*context.engine, *found)) return *std::move(refusal);
  }
  if ((found->flags & kWrites) != 0) context.has_called_a_write = true;
  Call call{*context.engine, *context.session, command, true};
  return handled(*found, call);
}

// Leaves its answer on the stack; whether it is an error.
bool called(lua_State* lua) {
  ScriptContext* const context = context_of(lua);
  if (lua_gettop(lua) == 0) {
    push_error(lua, "ERR Please specify at least one argument for this redis lib call");
    return true;
  }
  const std::optional<RedisCommand> command = command_in(lua);
  if (!command) {
    push_error(lua, "ERR Lua redis lib command arguments must be strings or integers");
    return true;
  }
  const RedisValue value = execute_from_script(*context, *command);
  push_value(lua, value);
  return value.kind == RedisValue::Kind::error;
}

int redis_call(lua_State* lua) {
  if (called(lua)) return lua_error(lua);
  return 1;
}

int redis_pcall(lua_State* lua) {
  called(lua);
  return 1;
}

// "-CODE text" or "CODE text"; a single word gets the code ERR.
void push_error_reply(lua_State* lua) {
  std::string text = lua_text(lua, 1);
  if (!text.empty() && text[0] == '-') text.erase(0, 1);
  push_error(lua, text.find(' ') == std::string::npos ? "ERR " + text : text);
}

int redis_error_reply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
    push_error(lua, "ERR wrong number or type of arguments");
  else
    push_error_reply(lua);
  return 1;
}

int redis_status_reply(lua_State* lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
    push_error(lua, "ERR wrong number or type of arguments");
    return 1;
  }
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

int redis_sha1hex(lua_State* lua) {
  if (lua_gettop(lua) != 1) {
    push_error(lua, "ERR wrong number of arguments");
    return lua_error(lua);
  }
  push_text(lua, sha1_of(lua_text(lua, 1)));
  return 1;
}

int says_nothing(lua_State*) { return 0; }

int says_yes(lua_State* lua) {
  lua_pushboolean(lua, 1);
  return 1;
}

// Redis's own pcall: an error table of redis.call becomes its text.
int protected_call(lua_State* lua) {
  if (lua_gettop(lua) == 0) {
    lua_pushboolean(lua, 0);
    return 1;
  }
  const int problem = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
  if (problem != 0 && lua_istable(lua, -1)) {
    lua_getfield(lua, -1, "err");
    if (lua_isstring(lua, -1) != 0)
      lua_remove(lua, -2);
    else
      lua_pop(lua, 1);
  }
  lua_pushboolean(lua, problem == 0 ? 1 : 0);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

int no_such_global(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", lua_tostring(lua, 2));
}

int read_only_table(lua_State* lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

void set_function(lua_State* lua, const char* name, lua_CFunction function) {
  lua_pushcfunction(lua, function);
  lua_setfield(lua, -2, name);
}

void push_redis(lua_State* lua) {
  lua_newtable(lua);
  set_function(lua, "call", redis_call);
  set_function(lua, "pcall", redis_pcall);
  set_function(lua, "error_reply", redis_error_reply);
  set_function(lua, "status_reply", redis_status_reply);
  set_function(lua, "sha1hex", redis_sha1hex);
  set_function(lua, "log", says_nothing);
  set_function(lua, "replicate_commands", says_yes);
  constexpr std::pair<const char*, int> kNumbers[] = {
      {"LOG_DEBUG", 0}, {"LOG_VERBOSE", 1}, {"LOG_NOTICE", 2}, {"LOG_WARNING", 3}, {"REDIS_VERSION_NUM", 0x0007000f}};
  for (const auto& [name, number] : kNumbers) {
    lua_pushinteger(lua, number);
    lua_setfield(lua, -2, name);
  }
  lua_pushliteral(lua, "7.0.15");
  lua_setfield(lua, -2, "REDIS_VERSION");
}

void open_library(lua_State* lua, lua_CFunction open, const char* name) {
  lua_pushcfunction(lua, open);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

}  // namespace

void set_context(lua_State* lua, ScriptContext* context) {
  lua_pushlightuserdata(lua, const_cast<char*>(&kContextKey));
  lua_pushlightuserdata(lua, context);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

void make_read_only(lua_State* lua) {
  lua_newtable(lua);
  lua_newtable(lua);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, read_only_table);
  lua_setfield(lua, -2, "__newindex");
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

void push_globals(lua_State* lua) {
  open_library(lua, luaopen_base, "");
  open_library(lua, luaopen_table, "table");
  open_library(lua, luaopen_string, "string");
  open_library(lua, luaopen_math, "math");
  lua_getglobal(lua, "math");
  for (const char* name : {"random", "randomseed"}) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  lua_pop(lua, 1);
  lua_newtable(lua);
  for (const char* name :
       {"_VERSION",     "assert",     "collectgarbage", "coroutine", "error",    "gcinfo", "getmetatable", "ipairs",
        "load",         "loadstring", "next",           "pairs",     "rawequal", "rawget", "rawset",       "select",
        "setmetatable", "tonumber",   "tostring",       "type",      "unpack",   "xpcall"}) {
    lua_getglobal(lua, name);
    lua_setfield(lua, -2, name);
  }
  set_function(lua, "pcall", protected_call);
  for (const char* name : {"math", "string", "table"}) {
    lua_getglobal(lua, name);
    make_read_only(lua);
    lua_setfield(lua, -2, name);
  }
  push_redis(lua);
  make_read_only(lua);
  lua_setfield(lua, -2, "redis");
  push_cjson(lua);
  make_read_only(lua);
  lua_setfield(lua, -2, "cjson");
  lua_newtable(lua);
  set_function(lua, "__index", no_such_global);
  lua_setmetatable(lua, -2);
}

int describe_error(lua_State* lua) {
  if (lua_istable(lua, 1) == 0) {
    lua_createtable(lua, 0, 3);
    lua_pushliteral(lua, "ERR ");
    lua_pushstring(lua, lua_isstring(lua, 1) != 0 ? lua_tostring(lua, 1) : lua_typename(lua, lua_type(lua, 1)));
    lua_concat(lua, 2);
    lua_setfield(lua, -2, "err");
  }
  lua_Debug place;
  bool is_known = lua_getstack(lua, 1, &place) != 0 && lua_getinfo(lua, "Sl", &place) != 0;
  if (is_known && place.what[0] == 'C')
    is_known = lua_getstack(lua, 2, &place) != 0 && lua_getinfo(lua, "Sl", &place) != 0;
  if (is_known) {
    lua_pushstring(lua, place.source);
    lua_setfield(lua, -2, "source");
    lua_pushinteger(lua, place.currentline);
    lua_setfield(lua, -2, "line");
  }
  return 1;
}

}  // namespace kron::testing::fake_redis
