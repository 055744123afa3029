#include "kron/env/fake/fake_redis_equality.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace kron::testing {
namespace {

using Kind = RedisValue::Kind;

bool is_one_of(const RedisCommand& command, const std::set<std::string>& names) {
  std::string name = command.empty() ? "" : command[0];
  for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return names.contains(name);
}

void sort_items(RedisValue& value, std::size_t width) {
  if (value.kind != Kind::array || value.items.size() % width != 0) return;
  std::vector<std::vector<RedisValue>> groups;
  for (std::size_t i = 0; i < value.items.size(); i += width) {
    groups.emplace_back(value.items.begin() + static_cast<std::ptrdiff_t>(i),
                        value.items.begin() + static_cast<std::ptrdiff_t>(i + width));
  }
  std::sort(groups.begin(), groups.end(), [](const auto& left, const auto& right) {
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                        [](const RedisValue& a, const RedisValue& b) { return a.text < b.text; });
  });
  value.items.clear();
  for (const auto& group : groups) value.items.insert(value.items.end(), group.begin(), group.end());
}

// Ids of streams that the server made: longer than any that a test gives.
void hide_times(RedisValue& value) {
  if (value.kind == Kind::text && value.text.size() >= 15 && value.text.find('-') == 13 &&
      value.text.find_first_not_of("0123456789-") == std::string::npos) {
    value.text = "<id>";
  }
  for (RedisValue& item : value.items) hide_times(item);
}

RedisValue normalised(const RedisCommand& command, RedisValue value) {
  if (is_one_of(command, {"HGETALL"})) sort_items(value, 2);
  if (is_one_of(command, {"HKEYS", "HVALS", "SMEMBERS", "KEYS"})) sort_items(value, 1);
  if (is_one_of(command, {"HSCAN", "ZSCAN"}) && value.items.size() == 2) sort_items(value.items[1], 2);
  if (is_one_of(command, {"SCAN", "SSCAN"}) && value.items.size() == 2) sort_items(value.items[1], 1);
  if (is_one_of(command, {"XADD", "XRANGE", "XREVRANGE", "XREAD"})) hide_times(value);
  return value;
}

// The server was asked a moment before.
constexpr std::int64_t kMilliseconds = 5'000;
constexpr std::int64_t kSeconds = 5;

bool are_near(std::int64_t real, std::int64_t fake, std::int64_t most) {
  return real >= 0 && fake >= 0 && std::abs(real - fake) <= most;
}

bool are_near(const RedisValue& real, const RedisValue& fake, std::int64_t most) {
  return real.kind == Kind::integer && fake.kind == Kind::integer && are_near(real.integer, fake.integer, most);
}

// {'held', …, how long the lock still lasts, as text}
bool are_near_answers(const RedisValue& real, const RedisValue& fake) {
  if (real.items.empty() || real.items.size() != fake.items.size() || real.items[0].text != "held") return false;
  const std::size_t last = real.items.size() - 1;
  if (!std::equal(real.items.begin(), real.items.end() - 1, fake.items.begin())) return false;
  return are_near(std::atoll(real.items[last].text.c_str()), std::atoll(fake.items[last].text.c_str()), kMilliseconds);
}

bool are_alike(const RedisCommand& command, const RedisValue& real, const RedisValue& fake) {
  if (real == fake) return true;
  if (is_one_of(command, {"TTL"})) return are_near(real, fake, kSeconds);
  if (is_one_of(command, {"PTTL"})) return are_near(real, fake, kMilliseconds);
  if (is_one_of(command, {"EVAL", "EVALSHA"})) return are_near_answers(real, fake);
  return normalised(command, real) == normalised(command, fake);
}

WallTime machine_time() { return std::chrono::system_clock::now(); }

RedisValue value_of(const RedisReply& reply) {
  if (reply.is_reply()) return reply.value;
  return {.kind = Kind::error, .text = reply.why};
}

// How to read all of a key.
std::vector<RedisCommand> reading(const std::string& key, const std::string& type) {
  if (type == "string") return {{"GET", key}, {"PTTL", key}};
  if (type == "hash") return {{"HGETALL", key}, {"PTTL", key}};
  if (type == "set") return {{"SMEMBERS", key}, {"PTTL", key}};
  if (type == "zset") return {{"ZRANGE", key, "0", "-1", "WITHSCORES"}, {"PTTL", key}};
  if (type == "list") return {{"LRANGE", key, "0", "-1"}, {"PTTL", key}};
  return {{"XRANGE", key, "-", "+"}, {"XLEN", key}, {"PTTL", key}};
}

}  // namespace

std::string shown(const RedisValue& value) {
  switch (value.kind) {
    case Kind::nil:
      return "nil";
    case Kind::integer:
      return ":" + std::to_string(value.integer);
    case Kind::status:
      return "+" + value.text;
    case Kind::error:
      return "-" + value.text;
    case Kind::text:
      return "'" + value.text + "'";
    case Kind::array:
      break;
  }
  std::string text = "[";
  for (const RedisValue& item : value.items) text += shown(item) + " ";
  return text + "]";
}

std::string shown(const RedisCommand& command) {
  std::string text;
  for (const std::string& word : command) text += "'" + word + "' ";
  return text;
}

Twins::Twins()
    : real_(RedisProcess::start({"--stream-node-max-bytes", "0"})),
      fake_(machine_time),
      connection_(fake_.connection()) {
  (void)connection_->connect(Nanoseconds(0));
}

std::string Twins::difference(const std::vector<RedisCommand>& commands) {
  const std::vector<RedisValue> real = real_->call(commands);
  if (real.size() != commands.size()) return "the real one is gone after " + std::to_string(real.size()) + " answers";
  const std::vector<RedisReply> fake = connection_->call(commands, Nanoseconds(0));
  if (!real.empty()) answer_ = real.back();
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (are_alike(commands[i], real[i], value_of(fake[i]))) continue;
    std::string before;
    for (std::size_t j = i < 5 ? 0 : i - 5; j < i; ++j) before += "  before: " + shown(commands[j]) + "\n";
    return before + shown(commands[i]) + "\n  real: " + shown(real[i]) + "\n  fake: " + shown(value_of(fake[i]));
  }
  return {};
}

std::string Twins::difference_of_data() {
  std::string found = difference({{"KEYS", "*"}, {"DBSIZE"}});
  const RedisValue keys = real_->call({"KEYS", "*"});
  for (const RedisValue& key : keys.items) {
    if (!found.empty()) break;
    found = difference({{"TYPE", key.text}});
    if (found.empty()) found = difference(reading(key.text, real_->call({"TYPE", key.text}).text));
  }
  return found;
}

void Twins::empty() {
  real_->call({"FLUSHALL"});
  (void)fake_.execute({"FLUSHALL"});
}

std::size_t below(Random& random, std::size_t limit) { return static_cast<std::size_t>(random() % limit); }
bool chance(Random& random, int percent) { return below(random, 100) < static_cast<std::size_t>(percent); }

}  // namespace kron::testing
