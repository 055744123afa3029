#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/fake/fake_redis_data.h"
#include "kron/env/redis_connection.h"

// The commands of a FakeRedis. Texts of errors are Redis 7.0's, to the letter.
namespace kron::testing::fake_redis {

class Lua;

// Of a connection.
struct Session {
  int database = 0;
  std::string name = {};
};

// What a server is told by the test.
struct Condition {
  bool is_read_only = false;
  bool is_full = false;
  std::set<std::string, std::less<>> denied = {};
  std::int64_t replicas = 0;
  std::map<std::string, std::string, std::less<>> info = {};
  std::map<std::string, std::string, std::less<>> config = {};
};

// A server without connections: data, scripts, and commands executed on them. Not for several threads.
class Engine {
 public:
  using Publish = std::function<std::int64_t(const std::string& channel, const std::string& payload)>;

  // A command that has changed something; each one that a script calls.
  using Change = std::function<void(int database, std::span<const std::string> command)>;

  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Time stands still in a command. `microseconds` since the epoch.
  RedisValue execute(Session& session, const RedisCommand& command, std::int64_t microseconds);

  [[nodiscard]] std::int64_t now() const { return microseconds / 1000; }  // milliseconds

  Databases databases;
  Condition condition;
  Publish publish;                                               // none: nobody listens
  Change on_change;                                              // none: nobody keeps a log
  std::map<std::string, std::string, std::less<>> scripts = {};  // SHA-1 in lower case -> text
  std::uint64_t changes = 0;                                     // how often a command changed something
  std::int64_t microseconds = 0;                                 // of the command that is being executed
  std::unique_ptr<Lua> lua;
};

struct Call {
  Engine& engine;
  Session& session;
  std::span<const std::string> args;  // with the name
  bool is_from_script = false;

  [[nodiscard]] Database& database() const { return engine.databases.at(static_cast<std::size_t>(session.database)); }
  [[nodiscard]] Entry* find(std::string_view key) const { return database().find(key, engine.now()); }
  void changed() const { engine.changes += 1; }
};

enum Flag : unsigned { kReads = 0, kWrites = 1, kDeniedWhenFull = 2, kNotInScripts = 4 };

struct Command {
  std::string_view name;  // in capitals; a subcommand as "SCRIPT|LOAD"
  int arity = 0;          // with the name; negative: at least
  unsigned flags = kReads;
  RedisValue (*handler)(Call&) = nullptr;
};

// Calls its handler, and tells who keeps a log.
RedisValue handled(const Command& command, Call& call);

// Each file of commands has its table.
std::span<const Command> key_commands();
std::span<const Command> string_commands();
std::span<const Command> hash_commands();
std::span<const Command> set_commands();
std::span<const Command> list_commands();
std::span<const Command> sorted_set_commands();
std::span<const Command> stream_commands();
std::span<const Command> server_commands();
std::span<const Command> script_commands();
std::vector<Command> all_commands();

// `subcommand` counts only if there is one of that name.
const Command* find_command(std::span<const std::string> args);
bool has_right_arity(const Command& command, std::size_t arguments);
bool is_denied(const Condition& condition, const Command& command);
// Whether the server is full or read-only, and the command is not for such a one: an error.
std::optional<RedisValue> forbidden(const Engine& engine, const Command& command);

// Answers.
inline RedisValue nil() { return {}; }
inline RedisValue ok() { return {.kind = RedisValue::Kind::status, .text = "OK"}; }
inline RedisValue status(std::string text) { return {.kind = RedisValue::Kind::status, .text = std::move(text)}; }
inline RedisValue integer(std::int64_t number) { return {.kind = RedisValue::Kind::integer, .integer = number}; }
inline RedisValue count(std::size_t number) { return integer(static_cast<std::int64_t>(number)); }
inline RedisValue bulk(std::string text) { return {.kind = RedisValue::Kind::text, .text = std::move(text)}; }
inline RedisValue array(std::vector<RedisValue> items = {}) {
  return {.kind = RedisValue::Kind::array, .items = std::move(items)};
}
inline RedisValue error(std::string text) { return {.kind = RedisValue::Kind::error, .text = std::move(text)}; }
RedisValue bulk(double number);

// As the protocol needs the text of an error: no line ends, neither around nor in it.
std::string on_one_line(std::string_view text);

// Refusals that many share.
RedisValue wrong_type();
RedisValue not_an_integer();
RedisValue syntax_error();
RedisValue wrong_arity(std::string_view command);  // as called, in small letters

// Arguments, read as Redis reads them.
std::optional<std::int64_t> integer_in(std::string_view text);
std::optional<double> number_in(const std::string& text);
bool equals_ignoring_case(std::string_view text, std::string_view capitals);
std::string in_capitals(std::string_view text);
std::string in_small_letters(std::string_view text);
bool matches(std::string_view pattern, std::string_view text);  // as KEYS does
// Start and stop as ranks of `size` things, negative ones from the end; nothing: an empty range.
std::optional<std::pair<std::size_t, std::size_t>> ranks(std::int64_t start, std::int64_t stop, std::size_t size);

// A key that should hold a T.
template <class T>
struct Held {
  T* value = nullptr;  // none: no such key
  bool is_wrong_type = false;
};
template <class T>
Held<T> held(const Call& call, std::string_view key) {
  Entry* entry = call.find(key);
  if (entry == nullptr) return {};
  T* value = std::get_if<T>(&entry->value);
  return {value, value == nullptr};
}
// The one that is there, or a new one; only after held() has said that the type is right.
template <class T>
T& made(const Call& call, const std::string& key) {
  if (Entry* entry = call.find(key)) return std::get<T>(entry->value);
  call.database().put(key, Entry{T{}});
  return std::get<T>(call.find(key)->value);
}
void drop_if_empty(const Call& call, const std::string& key);

// A page of what is called `names`, for SCAN and its kin: positions into `names`, and the next cursor. What is there
// all the time comes, whatever is added and removed between pages. `at_once`: it is small, and comes in one page.
struct Page {
  std::uint64_t next = 0;
  std::vector<std::size_t> items;
};
Page page_of(const std::vector<std::string_view>& names, std::uint64_t cursor, std::size_t most, bool at_once);
struct ScanArguments {
  std::uint64_t cursor = 0;
  std::size_t most = 10;
  std::string match = "*";
  std::optional<RedisValue> refusal = {};
};
ScanArguments scan_arguments(std::span<const std::string> args, std::size_t cursor_at);

// HSCAN, SSCAN and ZSCAN: a page of the elements of a T. `is_compact`: Redis keeps it so that it comes in one page.
inline const Hash& elements_of(const Hash& hash) { return hash; }
inline const Set& elements_of(const Set& set) { return set; }
inline const SortedSet::Order& elements_of(const SortedSet& set) { return set.order(); }
inline std::string_view name_of(const Hash::value_type& field) { return field.first; }
inline std::string_view name_of(const Set::value_type& member) { return member; }
inline std::string_view name_of(const SortedSet::Order::value_type& member) { return member.second; }
template <class T, class Element>
RedisValue scan_value(Call& call, bool (*is_compact)(const T&),
                      void (*tell)(const Element&, std::vector<RedisValue>& items)) {
  const ScanArguments wanted = scan_arguments(call.args, 2);
  if (wanted.refusal && wanted.refusal->text == "ERR invalid cursor") return *wanted.refusal;
  const auto all = held<T>(call, call.args[1]);
  if (all.is_wrong_type) return wrong_type();
  if (all.value == nullptr) return array({bulk(std::string("0")), array()});
  if (wanted.refusal) return *wanted.refusal;
  std::vector<const Element*> elements;
  std::vector<std::string_view> names;
  for (const Element& element : elements_of(*all.value)) {
    elements.push_back(&element);
    names.push_back(name_of(element));
  }
  const Page page = page_of(names, wanted.cursor, wanted.most, is_compact(*all.value));
  std::vector<RedisValue> items;
  for (const std::size_t item : page.items) {
    if (matches(wanted.match, names[item])) tell(*elements[item], items);
  }
  return array({bulk(std::to_string(page.next)), array(std::move(items))});
}

}  // namespace kron::testing::fake_redis
