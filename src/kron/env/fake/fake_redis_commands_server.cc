#include <algorithm>
#include <array>

#include "kron/env/fake/fake_redis_commands.h"
#include "kron/env/fake/fake_redis_lua.h"

namespace kron::testing::fake_redis {
namespace {

RedisValue ping(Call& call) {
  if (call.args.size() > 2) return wrong_arity("ping");
  return call.args.size() == 2 ? bulk(call.args[1]) : status("PONG");
}

RedisValue echo(Call& call) { return bulk(call.args[1]); }

RedisValue tell_time(Call& call) {
  constexpr std::int64_t kSecond = 1'000'000;
  return array({bulk(std::to_string(call.engine.microseconds / kSecond)),
                bulk(std::to_string(call.engine.microseconds % kSecond))});
}

RedisValue select_database(Call& call) {
  const std::optional<std::int64_t> number = integer_in(call.args[1]);
  if (!number) return not_an_integer();
  if (*number < 0 || *number >= kDatabases) return error("ERR DB index is out of range");
  call.session.database = static_cast<int>(*number);
  return ok();
}

// Nobody has a password here; who wants to see one refused uses refuse_connections().
RedisValue authenticate(Call& call) {
  if (call.args.size() > 3) return syntax_error();
  if (call.args.size() == 3) return error("WRONGPASS invalid username-password pair or user is disabled.");
  return error(
      "ERR AUTH <password> called without any password configured for the default user. Are you sure your "
      "configuration is correct?");
}

RedisValue greet(Call& call) {
  if (call.args.size() > 1 && call.args[1] != "2") return error("NOPROTO unsupported protocol version");
  const std::string role = call.engine.condition.is_read_only ? "replica" : "master";
  return array({bulk(std::string("server")), bulk(std::string("redis")), bulk(std::string("version")),
                bulk(std::string("7.0.15")), bulk(std::string("proto")), integer(2), bulk(std::string("id")),
                integer(1), bulk(std::string("mode")), bulk(std::string("standalone")), bulk(std::string("role")),
                bulk(role), bulk(std::string("modules")), array()});
}

RedisValue set_client_name(Call& call) {
  const std::string& name = call.args[2];
  if (std::any_of(name.begin(), name.end(), [](char letter) { return letter < '!' || letter > '~'; })) {
    return error("ERR Client names cannot contain spaces, newlines or special characters.");
  }
  call.session.name = name;
  return ok();
}

RedisValue get_client_name(Call& call) { return call.session.name.empty() ? nil() : bulk(call.session.name); }
RedisValue get_client_id(Call&) { return integer(1); }

RedisValue tell_role(Call& call) {
  if (!call.engine.condition.is_read_only) return array({bulk(std::string("master")), integer(0), array()});
  return array({bulk(std::string("slave")), bulk(std::string("127.0.0.1")), integer(1), bulk(std::string("connect")),
                integer(-1)});
}

struct InfoLine {
  std::string_view section;
  std::string_view field;
  std::string_view value;
};

constexpr InfoLine kInfo[] = {
    {"Server", "redis_version", "7.0.15"},
    {"Server", "redis_mode", "standalone"},
    {"Server", "run_id", "0000000000000000000000000000000000000001"},
    {"Clients", "connected_clients", "1"},
    {"Memory", "used_memory", "1000000"},
    {"Memory", "maxmemory", "0"},
    {"Memory", "maxmemory_policy", "noeviction"},
    {"Persistence", "loading", "0"},
    {"Persistence", "aof_enabled", "1"},
    {"Persistence", "aof_last_write_status", "ok"},
    {"Replication", "role", "master"},
    {"Replication", "connected_slaves", "0"},
    {"Replication", "master_replid", "0000000000000000000000000000000000000002"},
    {"Replication", "master_repl_offset", "0"},
    {"Cluster", "cluster_enabled", "0"},
};

RedisValue tell_info(Call& call) {
  const auto wanted = call.args.subspan(1);
  const auto is_wanted = [&](std::string_view section) {
    return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
             const std::string name = in_small_letters(word);
             return name == in_small_letters(section) || name == "all" || name == "default" || name == "everything";
           });
  };
  std::string text;
  std::string_view section;
  for (const InfoLine& line : kInfo) {
    if (!is_wanted(line.section)) continue;
    if (line.section != section) {
      if (!text.empty()) text += "\r\n";
      text += "# " + std::string(line.section) + "\r\n";
      section = line.section;
    }
    std::string value(line.value);
    if (line.field == "role" && call.engine.condition.is_read_only) value = "slave";
    if (line.field == "connected_slaves") value = std::to_string(call.engine.condition.replicas);
    const auto told = call.engine.condition.info.find(line.field);
    if (told != call.engine.condition.info.end()) value = told->second;
    text += std::string(line.field) + ":" + value + "\r\n";
  }
  return bulk(std::move(text));
}

constexpr std::pair<std::string_view, std::string_view> kConfig[] = {
    {"appendfsync", "everysec"},
    {"appendonly", "yes"},
    {"cluster-enabled", "no"},
    {"databases", "16"},
    {"maxmemory", "0"},
    {"maxmemory-policy", "noeviction"},
    {"min-replicas-to-write", "0"},
    {"save", ""},
    {"stream-node-max-entries", "100"},
};

RedisValue get_config(Call& call) {
  std::vector<RedisValue> items;
  for (const auto& [name, value] : kConfig) {
    const auto patterns = call.args.subspan(2);
    if (std::none_of(patterns.begin(), patterns.end(), [&](const auto& one) { return matches(one, name); })) continue;
    const auto told = call.engine.condition.config.find(name);
    items.push_back(bulk(std::string(name)));
    items.push_back(bulk(told == call.engine.condition.config.end() ? std::string(value) : told->second));
  }
  return array(std::move(items));
}

// The replicas are up to date, or they are not there.
RedisValue wait_for_replicas(Call& call) {
  const std::optional<std::int64_t> timeout = integer_in(call.args[2]);
  if (!timeout) return error("ERR timeout is not an integer or out of range");
  if (*timeout < 0) return error("ERR timeout is negative");
  if (!integer_in(call.args[1])) return not_an_integer();
  if (call.engine.condition.is_read_only) {
    return error(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
        "configured to be writable (which is not the default) writes to replicas are just local and are not "
        "propagated.");
  }
  return integer(call.engine.condition.replicas);
}

RedisValue publish_message(Call& call) {
  return integer(call.engine.publish ? call.engine.publish(call.args[1], call.args[2]) : 0);
}

RedisValue not_here(Call&) { return error("ERR FakeRedis listens by FakeRedis::subscription() only"); }

constexpr Command kServerCommands[] = {
    {"PING", -1, kReads, ping},
    {"ECHO", 2, kReads, echo},
    {"TIME", 1, kReads, tell_time},
    {"SELECT", 2, kReads, select_database},
    {"AUTH", -2, kNotInScripts, authenticate},
    {"HELLO", -1, kNotInScripts, greet},
    {"CLIENT|SETNAME", 3, kNotInScripts, set_client_name},
    {"CLIENT|GETNAME", 2, kNotInScripts, get_client_name},
    {"CLIENT|ID", 2, kNotInScripts, get_client_id},
    {"ROLE", 1, kNotInScripts, tell_role},
    {"INFO", -1, kReads, tell_info},
    {"CONFIG|GET", -3, kNotInScripts, get_config},
    {"WAIT", 3, kNotInScripts, wait_for_replicas},
    {"PUBLISH", 3, kReads, publish_message},
    {"SUBSCRIBE", -2, kNotInScripts, not_here},
};

RedisValue no_script() { return error("NOSCRIPT No matching script. Please use EVAL."); }

// From the number of keys on.
RedisValue run_script(Call& call, const std::string& sha1) {
  const std::optional<std::int64_t> keys = integer_in(call.args[2]);
  if (!keys) return not_an_integer();
  const auto rest = call.args.subspan(3);
  if (*keys > static_cast<std::int64_t>(rest.size())) {
    return error("ERR Number of keys can't be greater than number of args");
  }
  if (*keys < 0) return error("ERR Number of keys can't be negative");
  if (!call.engine.scripts.contains(sha1)) return no_script();
  const auto split = static_cast<std::size_t>(*keys);
  return call.engine.lua->run(call.session, sha1, rest.first(split), rest.subspan(split));
}

std::optional<RedisValue> remember_script(Engine& engine, const std::string& sha1, const std::string& text) {
  if (engine.scripts.contains(sha1)) return std::nullopt;
  if (auto refusal = engine.lua->load(sha1, text)) return refusal;
  engine.scripts.emplace(sha1, text);
  return std::nullopt;
}

RedisValue evaluate(Call& call) {
  // The number of keys is looked at before the script is compiled.
  const std::optional<std::int64_t> keys = integer_in(call.args[2]);
  const std::string sha1 = sha1_of(call.args[1]);
  if (keys && *keys >= 0 && *keys <= static_cast<std::int64_t>(call.args.size()) - 3) {
    if (auto refusal = remember_script(call.engine, sha1, call.args[1])) return *std::move(refusal);
  }
  return run_script(call, sha1);
}

RedisValue evaluate_by_sha1(Call& call) {
  if (call.args[1].size() != 40) return no_script();
  return run_script(call, in_small_letters(call.args[1]));
}

RedisValue load_script(Call& call) {
  std::string sha1 = sha1_of(call.args[2]);
  if (auto refusal = remember_script(call.engine, sha1, call.args[2])) return *std::move(refusal);
  return bulk(std::move(sha1));
}

RedisValue have_scripts(Call& call) {
  std::vector<RedisValue> answers;
  for (const std::string& sha1 : call.args.subspan(2)) {
    answers.push_back(integer(call.engine.scripts.contains(in_small_letters(sha1)) ? 1 : 0));
  }
  return array(std::move(answers));
}

RedisValue flush_scripts_now(Call& call) {
  if (call.args.size() > 3 || (call.args.size() == 3 && !equals_ignoring_case(call.args[2], "SYNC") &&
                               !equals_ignoring_case(call.args[2], "ASYNC"))) {
    return error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  }
  call.engine.scripts.clear();
  return ok();
}

constexpr Command kScriptCommands[] = {
    {"EVAL", -3, kNotInScripts, evaluate},
    {"EVALSHA", -3, kNotInScripts, evaluate_by_sha1},
    {"SCRIPT|LOAD", 3, kNotInScripts, load_script},
    {"SCRIPT|EXISTS", -3, kNotInScripts, have_scripts},
    {"SCRIPT|FLUSH", -2, kNotInScripts, flush_scripts_now},
};

}  // namespace

std::span<const Command> server_commands() { return kServerCommands; }
std::span<const Command> script_commands() { return kScriptCommands; }

}  // namespace kron::testing::fake_redis
