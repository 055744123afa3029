#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// What a FakeRedis keeps: values of six types behind keys that may expire. Copyable, as a whole too.
namespace kron::testing::fake_redis {

using Hash = std::map<std::string, std::string, std::less<>>;
using Set = std::set<std::string, std::less<>>;
using List = std::deque<std::string>;

class SortedSet {
 public:
  using Order = std::set<std::pair<double, std::string>>;

  [[nodiscard]] std::optional<double> score(std::string_view member) const;
  void put(const std::string& member, double score);
  bool erase(std::string_view member);

  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] bool empty() const { return order_.empty(); }
  // By rank, from whichever end is nearer.
  [[nodiscard]] Order::const_iterator at(std::size_t rank) const;

 private:
  std::map<std::string, double, std::less<>> scores_;
  Order order_;
};

struct StreamId {
  std::uint64_t milliseconds = 0;
  std::uint64_t sequence = 0;

  auto operator<=>(const StreamId&) const = default;
};

struct StreamEntry {
  StreamId id;
  std::vector<std::string> fields;  // names and values in turn
};

// Kept in nodes as Redis does, because a trim with `~` removes whole ones.
class Stream {
 public:
  static constexpr std::size_t kNodeEntries = 100;

  void append(StreamEntry entry);
  // The oldest ones until `most` are left; with `whole_nodes` what that leaves, and at most `limit` (0: any number).
  std::size_t trim(std::size_t most, bool whole_nodes, std::size_t limit);

  [[nodiscard]] const StreamId& last() const { return last_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return false; }  // an empty stream stays

  // From `first` to `last`, both included; `most` of them.
  [[nodiscard]] std::vector<const StreamEntry*> range(StreamId first, StreamId last, bool backward,
                                                      std::size_t most) const;

 private:
  struct Node {
    std::size_t made = 0;  // entries, with those that were removed
    std::deque<StreamEntry> entries = {};
  };

  std::deque<Node> nodes_;
  StreamId last_;
  std::size_t size_ = 0;
};

using Value = std::variant<std::string, Hash, Set, SortedSet, List, Stream>;

struct Entry {
  Value value;
  std::optional<std::int64_t> expires = {};  // milliseconds since the epoch
};

// One numbered database. A key that has expired is gone as soon as somebody looks.
class Database {
 public:
  using Entries = std::map<std::string, Entry, std::less<>>;

  Entry* find(std::string_view key, std::int64_t now);
  void put(const std::string& key, Entry entry) { entries_.insert_or_assign(key, std::move(entry)); }
  bool erase(std::string_view key);
  void clear() { entries_.clear(); }
  const Entries& all(std::int64_t now);  // without what has expired

 private:
  Entries entries_;
};

inline constexpr int kDatabases = 16;
using Databases = std::array<Database, kDatabases>;

std::string_view name_of_type(const Value& value);
bool is_empty(const Value& value);

}  // namespace kron::testing::fake_redis
