#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {
namespace {

RedisValue delete_keys(Call& call) {
  std::size_t deleted = 0;
  for (const std::string& key : call.args.subspan(1)) {
    if (call.find(key) == nullptr) continue;
    call.database().erase(key);
    call.changed();
    deleted += 1;
  }
  return count(deleted);
}

RedisValue count_existing(Call& call) {
  const auto keys = call.args.subspan(1);
  return integer(std::count_if(keys.begin(), keys.end(), [&](const auto& key) { return call.find(key) != nullptr; }));
}

RedisValue type_of_key(Call& call) {
  const Entry* const entry = call.find(call.args[1]);
  return status(entry == nullptr ? "none" : std::string(name_of_type(entry->value)));
}

RedisValue list_keys(Call& call) {
  std::vector<RedisValue> keys;
  for (const auto& [key, entry] : call.database().all(call.engine.now())) {
    if (matches(call.args[1], key)) keys.push_back(bulk(key));
  }
  return array(std::move(keys));
}

RedisValue scan_keys(Call& call) {
  const ScanArguments wanted = scan_arguments(call.args, 1);
  if (wanted.refusal) return *wanted.refusal;
  std::vector<std::string_view> names;
  for (const auto& [key, entry] : call.database().all(call.engine.now())) names.push_back(key);
  const Page page = page_of(names, wanted.cursor, wanted.most, false);
  std::vector<RedisValue> keys;
  for (const std::size_t item : page.items) {
    if (matches(wanted.match, names[item])) keys.push_back(bulk(std::string(names[item])));
  }
  return array({bulk(std::to_string(page.next)), array(std::move(keys))});
}

struct ExpireConditions {
  bool only_without = false;
  bool only_with = false;
  bool only_greater = false;
  bool only_less = false;
  std::optional<RedisValue> refusal = {};
};

ExpireConditions expire_conditions(std::span<const std::string> options) {
  ExpireConditions wanted;
  for (const std::string& option : options) {
    if (equals_ignoring_case(option, "NX"))
      wanted.only_without = true;
    else if (equals_ignoring_case(option, "XX"))
      wanted.only_with = true;
    else if (equals_ignoring_case(option, "GT"))
      wanted.only_greater = true;
    else if (equals_ignoring_case(option, "LT"))
      wanted.only_less = true;
    else {
      wanted.refusal = error("ERR Unsupported option " + option.substr(0, option.find('\0')));
      return wanted;
    }
  }
  if (wanted.only_without && (wanted.only_with || wanted.only_greater || wanted.only_less)) {
    wanted.refusal = error("ERR NX and XX, GT or LT options at the same time are not compatible");
  } else if (wanted.only_greater && wanted.only_less) {
    wanted.refusal = error("ERR GT and LT options at the same time are not compatible");
  }
  return wanted;
}

bool are_met(const ExpireConditions& wanted, const std::optional<std::int64_t>& present, std::int64_t when) {
  if (wanted.only_without && present) return false;
  if (wanted.only_with && !present) return false;
  // No time at all is later than any.
  if (wanted.only_greater && (!present || when <= *present)) return false;
  return !(wanted.only_less && present && when >= *present);
}

RedisValue expire_at(Call& call, std::int64_t from, std::int64_t unit) {
  const ExpireConditions wanted = expire_conditions(call.args.subspan(3));
  if (wanted.refusal) return *wanted.refusal;
  const std::optional<std::int64_t> time = integer_in(call.args[2]);
  if (!time) return not_an_integer();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (*time > kMost / unit || *time < std::numeric_limits<std::int64_t>::min() / unit || *time * unit > kMost - from) {
    return error("ERR invalid expire time in '" + in_small_letters(call.args[0]) + "' command");
  }
  const std::int64_t when = *time * unit + from;
  Entry* const entry = call.find(call.args[1]);
  if (entry == nullptr || !are_met(wanted, entry->expires, when)) return integer(0);
  call.changed();
  if (when <= call.engine.now())
    call.database().erase(call.args[1]);
  else
    entry->expires = when;
  return integer(1);
}

RedisValue expire_in_seconds(Call& call) { return expire_at(call, call.engine.now(), 1000); }
RedisValue expire_in_milliseconds(Call& call) { return expire_at(call, call.engine.now(), 1); }
RedisValue expire_at_second(Call& call) { return expire_at(call, 0, 1000); }
RedisValue expire_at_millisecond(Call& call) { return expire_at(call, 0, 1); }

RedisValue time_left(Call& call, std::int64_t unit) {
  const Entry* const entry = call.find(call.args[1]);
  if (entry == nullptr) return integer(-2);
  if (!entry->expires) return integer(-1);
  const std::int64_t left = std::max<std::int64_t>(0, *entry->expires - call.engine.now());
  return integer(unit == 1 ? left : (left + unit / 2) / unit);
}

RedisValue seconds_left(Call& call) { return time_left(call, 1000); }
RedisValue milliseconds_left(Call& call) { return time_left(call, 1); }

RedisValue persist(Call& call) {
  Entry* const entry = call.find(call.args[1]);
  if (entry == nullptr || !entry->expires) return integer(0);
  entry->expires.reset();
  call.changed();
  return integer(1);
}

RedisValue rename_key(Call& call) {
  Entry* const entry = call.find(call.args[1]);
  if (entry == nullptr) return error("ERR no such key");
  if (call.args[1] == call.args[2]) return ok();
  Entry moved = std::move(*entry);
  call.database().erase(call.args[1]);
  call.database().put(call.args[2], std::move(moved));
  call.changed();
  return ok();
}

RedisValue database_size(Call& call) { return count(call.database().all(call.engine.now()).size()); }

std::optional<RedisValue> flush_refusal(const Call& call) {
  if (call.args.size() == 1) return std::nullopt;
  if (call.args.size() == 2 &&
      (equals_ignoring_case(call.args[1], "SYNC") || equals_ignoring_case(call.args[1], "ASYNC"))) {
    return std::nullopt;
  }
  return syntax_error();
}

RedisValue flush_all(Call& call) {
  if (const auto refusal = flush_refusal(call)) return *refusal;
  for (Database& database : call.engine.databases) database.clear();
  call.changed();
  return ok();
}

RedisValue flush_database(Call& call) {
  if (const auto refusal = flush_refusal(call)) return *refusal;
  call.database().clear();
  call.changed();
  return ok();
}

constexpr Command kKeyCommands[] = {
    {"DEL", -2, kWrites, delete_keys},
    {"UNLINK", -2, kWrites, delete_keys},
    {"EXISTS", -2, kReads, count_existing},
    {"TYPE", 2, kReads, type_of_key},
    {"KEYS", 2, kReads, list_keys},
    {"SCAN", -2, kReads, scan_keys},
    {"EXPIRE", -3, kWrites, expire_in_seconds},
    {"PEXPIRE", -3, kWrites, expire_in_milliseconds},
    {"EXPIREAT", -3, kWrites, expire_at_second},
    {"PEXPIREAT", -3, kWrites, expire_at_millisecond},
    {"TTL", 2, kReads, seconds_left},
    {"PTTL", 2, kReads, milliseconds_left},
    {"PERSIST", 2, kWrites, persist},
    {"RENAME", 3, kWrites, rename_key},
    {"DBSIZE", 1, kReads, database_size},
    {"FLUSHALL", -1, kWrites, flush_all},
    {"FLUSHDB", -1, kWrites, flush_database},
};

std::uint64_t position_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash >> 16U;
}

}  // namespace

std::span<const Command> key_commands() { return kKeyCommands; }

// In the order of a hash of the names, which stays when names come and go; the cursor is one more than the hash of the
// last that was returned.
Page page_of(const std::vector<std::string_view>& names, std::uint64_t cursor, std::size_t most, bool at_once) {
  std::vector<std::pair<std::uint64_t, std::size_t>> ahead;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t position = at_once ? 0 : position_of(names[i]);
    if (at_once || position >= cursor) ahead.emplace_back(position, i);
  }
  std::sort(ahead.begin(), ahead.end());
  Page page;
  for (const auto& [position, item] : ahead) {
    // Names with one hash come together, or a cursor could not tell them apart.
    if (!at_once && page.items.size() >= most && position >= page.next) return page;
    page.items.push_back(item);
    page.next = position + 1;
  }
  page.next = 0;
  return page;
}

ScanArguments scan_arguments(std::span<const std::string> args, std::size_t cursor_at) {
  ScanArguments wanted;
  // Redis lets strtoul read it, which takes an empty text for 0.
  const char* const cursor = args[cursor_at].c_str();
  char* end = nullptr;
  errno = 0;
  wanted.cursor = std::strtoul(cursor, &end, 10);
  if (std::isspace(static_cast<unsigned char>(cursor[0])) != 0 || *end != '\0' || errno == ERANGE) {
    wanted.refusal = error("ERR invalid cursor");
    return wanted;
  }
  for (std::size_t i = cursor_at + 1; i < args.size(); i += 2) {
    if (i + 1 == args.size()) {
      wanted.refusal = syntax_error();
    } else if (equals_ignoring_case(args[i], "COUNT")) {
      const std::optional<std::int64_t> most = integer_in(args[i + 1]);
      if (!most)
        wanted.refusal = not_an_integer();
      else if (*most < 1)
        wanted.refusal = syntax_error();
      else
        wanted.most = static_cast<std::size_t>(*most);
    } else if (equals_ignoring_case(args[i], "MATCH")) {
      wanted.match = args[i + 1];
    } else {
      wanted.refusal = syntax_error();
    }
    if (wanted.refusal) break;
  }
  return wanted;
}

}  // namespace kron::testing::fake_redis
