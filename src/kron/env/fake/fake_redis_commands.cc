#include "kron/env/fake/fake_redis_commands.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "kron/env/fake/fake_redis_lua.h"

namespace kron::testing::fake_redis {
namespace {

constexpr std::array<std::string_view, 4> kContainers{"CLIENT", "CONFIG", "PUBSUB", "SCRIPT"};

bool is_container(std::string_view name) {
  return std::find(kContainers.begin(), kContainers.end(), name) != kContainers.end();
}

// As Redis quotes what it does not know: cut at a NUL and at so many bytes.
std::string quotable(std::string_view text, std::size_t most) {
  return std::string(text.substr(0, text.find('\0')).substr(0, most));
}

RedisValue unknown_command(std::span<const std::string> args) {
  const std::string name = in_capitals(args[0]);
  if (is_container(name)) {
    if (args.size() == 1) return wrong_arity(in_small_letters(name));
    return error("ERR unknown subcommand '" + quotable(args[1], 128) + "'. Try " + name + " HELP.");
  }
  std::string shown;
  for (const std::string& arg : args.subspan(1)) {
    if (shown.size() >= 128) break;
    shown += "'" + quotable(arg, 128 - shown.size()) + "' ";
  }
  return error("ERR unknown command '" + quotable(args[0], 128) + "', with args beginning with: " + shown);
}

const std::unordered_map<std::string_view, Command>& command_table() {
  static const auto* const table = [] {
    auto* made_table = new std::unordered_map<std::string_view, Command>;
    for (const Command& command : all_commands()) made_table->emplace(command.name, command);
    return made_table;
  }();
  return *table;
}

// One character or a set of them, at the front of a pattern.
struct Accepts {
  bool is_accepted = false;
  std::size_t length = 0;  // in the pattern
};

Accepts accepts_from_set(std::string_view pattern, unsigned char letter) {
  std::size_t at = 1;
  const bool is_inverted = at < pattern.size() && pattern[at] == '^';
  if (is_inverted) ++at;
  bool is_in = false;
  while (at < pattern.size() && pattern[at] != ']') {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) {
      ++at;
      is_in |= static_cast<unsigned char>(pattern[at]) == letter;
    } else if (at + 2 < pattern.size() && pattern[at + 1] == '-') {
      const auto first = static_cast<unsigned char>(pattern[at]);
      const auto last = static_cast<unsigned char>(pattern[at + 2]);
      is_in |= std::min(first, last) <= letter && letter <= std::max(first, last);
      at += 2;
    } else {
      is_in |= static_cast<unsigned char>(pattern[at]) == letter;
    }
    ++at;
  }
  return {is_in != is_inverted, std::min(at + 1, pattern.size())};
}

Accepts accepts_letter(std::string_view pattern, unsigned char letter) {
  if (pattern[0] == '?') return {true, 1};
  if (pattern[0] == '[') return accepts_from_set(pattern, letter);
  if (pattern[0] == '\\' && pattern.size() > 1) return {static_cast<unsigned char>(pattern[1]) == letter, 2};
  return {static_cast<unsigned char>(pattern[0]) == letter, 1};
}

bool matches_rest(std::string_view pattern, std::string_view text) {
  while (!pattern.empty()) {
    if (pattern[0] == '*') {
      pattern.remove_prefix(1);
      for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
        if (matches_rest(pattern, text.substr(skipped))) return true;
      }
      return false;
    }
    if (text.empty()) return false;
    const Accepts answer = accepts_letter(pattern, static_cast<unsigned char>(text[0]));
    if (!answer.is_accepted) return false;
    pattern.remove_prefix(answer.length);
    text.remove_prefix(1);
  }
  return text.empty();
}

}  // namespace

std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (const auto& table : {key_commands(), string_commands(), hash_commands(), set_commands(), list_commands(),
                            sorted_set_commands(), stream_commands(), server_commands(), script_commands()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

const Command* find_command(std::span<const std::string> args) {
  std::string name = in_capitals(args[0]);
  if (is_container(name)) {
    if (args.size() == 1) return nullptr;
    name += '|';
    name += in_capitals(args[1]);
  }
  const auto found = command_table().find(name);
  return found == command_table().end() ? nullptr : &found->second;
}

bool has_right_arity(const Command& command, std::size_t arguments) {
  const auto given = static_cast<std::int64_t>(arguments);
  return command.arity > 0 ? given == command.arity : given >= -command.arity;
}

bool is_denied(const Condition& condition, const Command& command) {
  return condition.denied.contains(command.name) ||
         condition.denied.contains(command.name.substr(0, command.name.find('|')));
}

std::optional<RedisValue> forbidden(const Engine& engine, const Command& command) {
  const Condition& condition = engine.condition;
  if (condition.is_full && (command.flags & kDeniedWhenFull) != 0) {
    return error("OOM command not allowed when used memory > 'maxmemory'.");
  }
  if (condition.is_read_only && (command.flags & kWrites) != 0) {
    return error("READONLY You can't write against a read only replica.");
  }
  return std::nullopt;
}

RedisValue handled(const Command& command, Call& call) {
  const std::uint64_t changes = call.engine.changes;
  RedisValue value = command.handler(call);
  const bool is_change = (command.flags & kWrites) != 0 && call.engine.changes != changes;
  if (is_change && call.engine.on_change) call.engine.on_change(call.session.database, call.args);
  return value;
}

Engine::Engine() : lua(std::make_unique<Lua>(*this)) {}
Engine::~Engine() = default;

RedisValue Engine::execute(Session& session, const RedisCommand& command, std::int64_t at) {
  microseconds = at;
  const Command* const found = find_command(command);
  if (found == nullptr) return unknown_command(command);
  if (!has_right_arity(*found, command.size())) return wrong_arity(in_small_letters(found->name));
  if (is_denied(condition, *found)) {
    return error("NOPERM this user has no permissions to run the '" + in_small_letters(found->name) + "' command");
  }
  if (std::optional<RedisValue> refusal = forbidden(*this, *found)) return *std::move(refusal);
  Call call{*this, session, command};
  return handled(*found, call);
}

RedisValue bulk(double number) {
  if (std::isinf(number)) return bulk(std::string(number > 0 ? "inf" : "-inf"));
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.17g", number);
  return bulk(std::string(text.data(), static_cast<std::size_t>(length)));
}

std::string on_one_line(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of("\r\n"), text.size());
  std::string line(text.substr(first, text.find_last_not_of("\r\n") + 1 - first));
  std::replace_if(
      line.begin(), line.end(), [](char letter) { return letter == '\r' || letter == '\n'; }, ' ');
  return line;
}

RedisValue wrong_type() { return error("WRONGTYPE Operation against a key holding the wrong kind of value"); }
RedisValue not_an_integer() { return error("ERR value is not an integer or out of range"); }
RedisValue syntax_error() { return error("ERR syntax error"); }
RedisValue wrong_arity(std::string_view command) {
  return error("ERR wrong number of arguments for '" + std::string(command) + "' command");
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Only the spelling that Redis itself would use.
  if (std::to_string(number) != text) return std::nullopt;
  return number;
}

std::optional<double> number_in(const std::string& text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  errno = 0;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (static_cast<std::size_t>(end - text.c_str()) != text.size() || std::isnan(number)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(number) || std::fpclassify(number) == FP_ZERO)) return std::nullopt;
  return number;
}

bool equals_ignoring_case(std::string_view text, std::string_view capitals) { return in_capitals(text) == capitals; }

std::string in_capitals(std::string_view text) {
  std::string changed(text);
  for (char& letter : changed) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return changed;
}

std::string in_small_letters(std::string_view text) {
  std::string changed(text);
  for (char& letter : changed) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return changed;
}

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern == "*") return true;
  return text.empty() ? pattern.empty() : matches_rest(pattern, text);  // so that "**" is not for an empty text
}

std::optional<std::pair<std::size_t, std::size_t>> ranks(std::int64_t start, std::int64_t stop, std::size_t size) {
  const auto length = static_cast<std::int64_t>(size);
  if (start < 0) start = std::max<std::int64_t>(0, start + length);
  if (stop < 0) stop += length;
  if (start > stop || start >= length) return std::nullopt;
  stop = std::min(stop, length - 1);
  return std::pair(static_cast<std::size_t>(start), static_cast<std::size_t>(stop));
}

void drop_if_empty(const Call& call, const std::string& key) {
  const Entry* const entry = call.find(key);
  if (entry != nullptr && is_empty(entry->value)) call.database().erase(key);
}

}  // namespace kron::testing::fake_redis
