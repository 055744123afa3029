#include <algorithm>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {
namespace {

RedisValue put_fields(Call& call) {
  if (call.args.size() % 2 != 0) return wrong_arity(in_small_letters(call.args[0]));
  if (held<Hash>(call, call.args[1]).is_wrong_type) return wrong_type();
  Hash& hash = made<Hash>(call, call.args[1]);
  std::size_t added = 0;
  for (std::size_t i = 2; i < call.args.size(); i += 2) {
    added += hash.insert_or_assign(call.args[i], call.args[i + 1]).second ? 1 : 0;
    call.changed();
  }
  return equals_ignoring_case(call.args[0], "HMSET") ? ok() : count(added);
}

RedisValue put_new_field(Call& call) {
  if (held<Hash>(call, call.args[1]).is_wrong_type) return wrong_type();
  if (!made<Hash>(call, call.args[1]).emplace(call.args[2], call.args[3]).second) return integer(0);
  call.changed();
  return integer(1);
}

RedisValue value_of_field(const Hash* hash, const std::string& field) {
  if (hash == nullptr) return nil();
  const auto found = hash->find(field);
  return found == hash->end() ? nil() : bulk(found->second);
}

RedisValue get_field(Call& call) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  return value_of_field(hash.value, call.args[2]);
}

RedisValue get_fields(Call& call) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  std::vector<RedisValue> values;
  for (const std::string& field : call.args.subspan(2)) values.push_back(value_of_field(hash.value, field));
  return array(std::move(values));
}

RedisValue list_hash(Call& call, bool with_fields, bool with_values) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  std::vector<RedisValue> items;
  if (hash.value != nullptr) {
    for (const auto& [field, value] : *hash.value) {
      if (with_fields) items.push_back(bulk(field));
      if (with_values) items.push_back(bulk(value));
    }
  }
  return array(std::move(items));
}

RedisValue get_hash(Call& call) { return list_hash(call, true, true); }
RedisValue list_fields(Call& call) { return list_hash(call, true, false); }
RedisValue list_values(Call& call) { return list_hash(call, false, true); }

RedisValue delete_fields(Call& call) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  if (hash.value == nullptr) return integer(0);
  std::size_t deleted = 0;
  for (const std::string& field : call.args.subspan(2)) deleted += hash.value->erase(field);
  if (deleted > 0) call.changed();
  drop_if_empty(call, call.args[1]);
  return count(deleted);
}

RedisValue has_field(Call& call) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  return integer(hash.value != nullptr && hash.value->contains(call.args[2]) ? 1 : 0);
}

RedisValue count_fields(Call& call) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  return count(hash.value == nullptr ? 0 : hash.value->size());
}

RedisValue length_of_field(Call& call) {
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  return count(value_of_field(hash.value, call.args[2]).text.size());
}

RedisValue add_to_field(Call& call) {
  const std::optional<std::int64_t> step = integer_in(call.args[3]);
  if (!step) return not_an_integer();
  const auto hash = held<Hash>(call, call.args[1]);
  if (hash.is_wrong_type) return wrong_type();
  const RedisValue present = value_of_field(hash.value, call.args[2]);
  const std::optional<std::int64_t> number = present.kind == RedisValue::Kind::nil ? 0 : integer_in(present.text);
  if (!number) return error("ERR hash value is not an integer");
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*number, *step, &sum)) return error("ERR increment or decrement would overflow");
  made<Hash>(call, call.args[1]).insert_or_assign(call.args[2], std::to_string(sum));
  call.changed();
  return integer(sum);
}

// A small hash comes at once, whatever was asked for.
bool is_compact_hash(const Hash& hash) {
  return hash.size() <= 128 && std::all_of(hash.begin(), hash.end(), [](const auto& item) {
           return item.first.size() <= 64 && item.second.size() <= 64;
         });
}

void tell_field(const Hash::value_type& field, std::vector<RedisValue>& items) {
  items.push_back(bulk(field.first));
  items.push_back(bulk(field.second));
}

RedisValue scan_hash(Call& call) { return scan_value(call, is_compact_hash, tell_field); }

constexpr unsigned kHashGrows = kWrites | kDeniedWhenFull;

constexpr Command kHashCommands[] = {
    {"HSET", -4, kHashGrows, put_fields},     {"HMSET", -4, kHashGrows, put_fields},
    {"HSETNX", 4, kHashGrows, put_new_field}, {"HGET", 3, kReads, get_field},
    {"HMGET", -3, kReads, get_fields},        {"HGETALL", 2, kReads, get_hash},
    {"HKEYS", 2, kReads, list_fields},        {"HVALS", 2, kReads, list_values},
    {"HDEL", -3, kWrites, delete_fields},     {"HEXISTS", 3, kReads, has_field},
    {"HLEN", 2, kReads, count_fields},        {"HSTRLEN", 3, kReads, length_of_field},
    {"HINCRBY", 4, kHashGrows, add_to_field}, {"HSCAN", -3, kReads, scan_hash},
};

}  // namespace

std::span<const Command> hash_commands() { return kHashCommands; }

}  // namespace kron::testing::fake_redis
