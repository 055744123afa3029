#include <algorithm>

#include "kron/env/fake/fake_redis_commands.h"

// Sets and lists.
namespace kron::testing::fake_redis {
namespace {

RedisValue add_members(Call& call) {
  if (held<Set>(call, call.args[1]).is_wrong_type) return wrong_type();
  Set& set = made<Set>(call, call.args[1]);
  std::size_t added = 0;
  for (const std::string& member : call.args.subspan(2)) added += set.insert(member).second ? 1 : 0;
  if (added > 0) call.changed();
  return count(added);
}

RedisValue remove_members(Call& call) {
  const auto set = held<Set>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  if (set.value == nullptr) return integer(0);
  std::size_t removed = 0;
  for (const std::string& member : call.args.subspan(2)) removed += set.value->erase(member);
  if (removed > 0) call.changed();
  drop_if_empty(call, call.args[1]);
  return count(removed);
}

RedisValue is_member(Call& call) {
  const auto set = held<Set>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  return integer(set.value != nullptr && set.value->contains(call.args[2]) ? 1 : 0);
}

RedisValue list_members(Call& call) {
  const auto set = held<Set>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  std::vector<RedisValue> members;
  if (set.value != nullptr) {
    for (const std::string& member : *set.value) members.push_back(bulk(member));
  }
  return array(std::move(members));
}

RedisValue count_members(Call& call) {
  const auto set = held<Set>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  return count(set.value == nullptr ? 0 : set.value->size());
}

// A set of a few numbers, and of nothing else, comes at once.
bool is_compact_set(const Set& set) {
  return set.size() <= 512 &&
         std::all_of(set.begin(), set.end(), [](const auto& member) { return integer_in(member).has_value(); });
}

void tell_member(const Set::value_type& member, std::vector<RedisValue>& items) { items.push_back(bulk(member)); }

RedisValue scan_set(Call& call) { return scan_value(call, is_compact_set, tell_member); }

RedisValue push(Call& call, bool at_the_front) {
  if (held<List>(call, call.args[1]).is_wrong_type) return wrong_type();
  List& list = made<List>(call, call.args[1]);
  for (const std::string& item : call.args.subspan(2)) {
    if (at_the_front)
      list.push_front(item);
    else
      list.push_back(item);
    call.changed();
  }
  return count(list.size());
}

RedisValue push_front(Call& call) { return push(call, true); }
RedisValue push_back(Call& call) { return push(call, false); }

RedisValue list_items(Call& call) {
  const std::optional<std::int64_t> start = integer_in(call.args[2]);
  const std::optional<std::int64_t> stop = integer_in(call.args[3]);
  if (!start || !stop) return not_an_integer();
  const auto list = held<List>(call, call.args[1]);
  if (list.is_wrong_type) return wrong_type();
  std::vector<RedisValue> items;
  const auto range = ranks(*start, *stop, list.value == nullptr ? 0 : list.value->size());
  if (range) {
    for (std::size_t i = range->first; i <= range->second; ++i) items.push_back(bulk((*list.value)[i]));
  }
  return array(std::move(items));
}

RedisValue trim_list(Call& call) {
  const std::optional<std::int64_t> start = integer_in(call.args[2]);
  const std::optional<std::int64_t> stop = integer_in(call.args[3]);
  if (!start || !stop) return not_an_integer();
  const auto list = held<List>(call, call.args[1]);
  if (list.is_wrong_type) return wrong_type();
  if (list.value == nullptr) return ok();
  const auto range = ranks(*start, *stop, list.value->size());
  List kept;
  if (range) {
    kept.assign(list.value->begin() + static_cast<std::ptrdiff_t>(range->first),
                list.value->begin() + static_cast<std::ptrdiff_t>(range->second) + 1);
  }
  *list.value = std::move(kept);
  call.changed();
  drop_if_empty(call, call.args[1]);
  return ok();
}

RedisValue length_of_list(Call& call) {
  const auto list = held<List>(call, call.args[1]);
  if (list.is_wrong_type) return wrong_type();
  return count(list.value == nullptr ? 0 : list.value->size());
}

constexpr unsigned kSetGrows = kWrites | kDeniedWhenFull;

constexpr Command kSetCommands[] = {
    {"SADD", -3, kSetGrows, add_members},  {"SREM", -3, kWrites, remove_members}, {"SISMEMBER", 3, kReads, is_member},
    {"SMEMBERS", 2, kReads, list_members}, {"SCARD", 2, kReads, count_members},   {"SSCAN", -3, kReads, scan_set},
};

constexpr Command kListCommands[] = {
    {"RPUSH", -3, kSetGrows, push_back}, {"LPUSH", -3, kSetGrows, push_front}, {"LRANGE", 4, kReads, list_items},
    {"LTRIM", 4, kWrites, trim_list},    {"LLEN", 2, kReads, length_of_list},
};

}  // namespace

std::span<const Command> set_commands() { return kSetCommands; }
std::span<const Command> list_commands() { return kListCommands; }

}  // namespace kron::testing::fake_redis
