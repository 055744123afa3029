#include "kron/env/fake/fake_redis_lua.h"

#include <array>
#include <cstdlib>
#include <lua.hpp>
#include <openssl/sha.h>

#include "kron/env/fake/fake_redis_lua_library.h"
#include "kron/env/fake/fake_redis_lua_memory.h"
#include "kron/env/fake/fake_redis_lua_values.h"

namespace kron::testing::fake_redis {

struct Lua::State {
  Engine& engine;
  LuaMemory memory = {};
  lua_State* lua = nullptr;
  int globals = LUA_NOREF;    // what a script sees as global variables
  int functions = LUA_NOREF;  // SHA-1 -> compiled script
};

namespace {

void push_texts(lua_State* lua, std::span<const std::string> texts) {
  lua_createtable(lua, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    push_text(lua, texts[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
}

// What describe_error() left on the stack.
RedisValue described(lua_State* lua, const std::string& sha1) {
  if (!lua_istable(lua, -1)) return error("ERR " + lua_text(lua, -1));  // not even that was possible: no memory
  std::string text = on_one_line(text_field(lua, "err").value_or("ERR unknown error"));
  lua_getfield(lua, -1, "line");
  const std::string line = lua_text(lua, -1);
  lua_pop(lua, 1);
  if (const auto source = text_field(lua, "source"); source && !line.empty()) {
    text += " script: " + sha1 + ", on " + *source + ":" + line + ".";
  }
  return error(std::move(text));
}

}  // namespace

Lua::Lua(Engine& engine) : state_(std::make_unique<State>(State{engine})) {
  lua_State* const lua = lua_newstate(LuaMemory::allocate, &state_->memory);
  if (lua == nullptr) std::abort();
  state_->lua = lua;
  push_globals(lua);
  lua_pushvalue(lua, -1);
  state_->globals = luaL_ref(lua, LUA_REGISTRYINDEX);
  make_read_only(lua);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, state_->globals);
  lua_pushvalue(lua, -2);
  lua_setfield(lua, -2, "_G");
  lua_pop(lua, 1);
  lua_replace(lua, LUA_GLOBALSINDEX);
  lua_newtable(lua);
  state_->functions = luaL_ref(lua, LUA_REGISTRYINDEX);
}

Lua::~Lua() { lua_close(state_->lua); }

std::optional<RedisValue> Lua::load(const std::string& sha1, std::string_view text) {
  lua_State* const lua = state_->lua;
  if (text.substr(0, 2) == "#!") return error("ERR FakeRedis does not know scripts that begin with #!");
  // One that was flushed is still compiled.
  lua_rawgeti(lua, LUA_REGISTRYINDEX, state_->functions);
  lua_getfield(lua, -1, sha1.c_str());
  const bool is_compiled = lua_isfunction(lua, -1);
  lua_pop(lua, 2);
  if (is_compiled) return std::nullopt;
  if (luaL_loadbuffer(lua, text.data(), text.size(), "@user_script") != 0) {
    RedisValue refusal = error(on_one_line("ERR Error compiling script (new function): " + lua_text(lua, -1)));
    lua_pop(lua, 1);
    return refusal;
  }
  lua_rawgeti(lua, LUA_REGISTRYINDEX, state_->functions);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, sha1.c_str());
  lua_pop(lua, 1);
  return std::nullopt;
}

RedisValue Lua::run(Session& session, const std::string& sha1, std::span<const std::string> keys,
                    std::span<const std::string> args) {
  lua_State* const lua = state_->lua;
  // A script that selects another database does so for itself.
  Session own = session;
  ScriptContext context{&state_->engine, &own};
  set_context(lua, &context);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, state_->globals);
  push_texts(lua, keys);
  lua_setfield(lua, -2, "KEYS");
  push_texts(lua, args);
  lua_setfield(lua, -2, "ARGV");
  lua_pop(lua, 1);

  lua_pushcfunction(lua, describe_error);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, state_->functions);
  lua_getfield(lua, -1, sha1.c_str());
  lua_remove(lua, -2);
  RedisValue value;
  if (lua_pcall(lua, 0, 1, -2) == 0) {
    value = taken(lua, 1);
  } else {
    value = described(lua, sha1);
  }
  lua_settop(lua, 0);
  return value;
}

std::string sha1_of(std::string_view text) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

}  // namespace kron::testing::fake_redis
