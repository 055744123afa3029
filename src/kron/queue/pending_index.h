#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kron/base/instant.h"
#include "kron/queue/id_arena.h"

namespace kron {

// The tasks that wait, in the order in which they should run: what is needed to choose, not the tasks. Made for
// millions: about 55 bytes and the id for each.
class PendingIndex {
 public:
  struct Item {
    std::string_view id;  // at most 128 bytes; copied
    std::string_view type;
    int priority = 0;  // fits 16 bits
    Instant ready_at;
    std::uint64_t sequence = 0;  // breaks ties
  };

  explicit PendingIndex(Seconds ageing) : ageing_(ageing) {}

  bool contains(std::string_view id) const { return find(id) != kNone; }
  std::size_t size() const { return size_; }

  // Adding what is there, or removing what is not, is false and changes nothing.
  bool add(const Item& item);
  bool remove(std::string_view id);

  // Takes out the most urgent task that is ready at `now` and whose type `may_run`; nothing when there is none. A task
  // that was ready once stays so when the clock is set back.
  using TypeFilter = std::function<bool(std::string_view type)>;
  std::optional<std::string> take(Instant now, const TypeFilter& may_run);

  // The earliest time at which a task becomes ready that was not at the last `take`.
  std::optional<Instant> next_ready() const;

  // For those who watch; both look at everything.
  std::map<std::string, std::size_t> count_of_types() const;
  std::optional<Instant> earliest_ready() const;  // of all, whether it has come or not

  std::vector<std::string> ids() const;
  void each_id(const std::function<void(std::string_view id)>& visit) const;
  std::vector<std::string> delayed_ids() const;  // those that were not ready at the last `take`

 private:
  using Slot = std::uint32_t;
  static constexpr Slot kNone = ~Slot{0};
  static constexpr Slot kDeleted = kNone - 1;

  struct Entry {
    const char* id = nullptr;  // null: the slot is free
    std::int64_t ready_at = 0;
    std::uint64_t sequence = 0;
    std::uint32_t position = 0;  // in its heap
    std::uint32_t type = 0;
    std::int16_t priority = 0;
    std::uint8_t id_bytes = 0;
    bool is_ready = false;

    std::string_view id_text() const { return {id, id_bytes}; }
  };

  struct Type {
    std::string name;
    std::vector<Slot> ready;    // a heap by rank
    std::vector<Slot> delayed;  // a heap by time
  };

  Slot find(std::string_view id) const;
  std::size_t probe_start(std::string_view id) const;
  void grow_table();
  void erase_from_table(Slot slot);
  std::uint32_t type_index(std::string_view name);
  void compact_ids();

  std::vector<Slot>& heap_of(const Entry& entry);
  bool goes_before(Slot a, Slot b) const;
  void push(Slot slot);
  void remove_from_heap(Slot slot);
  void sift_up(std::vector<Slot>& heap, std::size_t at);
  void sift_down(std::vector<Slot>& heap, std::size_t at);
  void place(std::vector<Slot>& heap, std::size_t at, Slot slot);
  void wake(Type& type, Instant now);
  void release(Slot slot);

  Seconds ageing_;
  std::deque<Entry> entries_;
  std::vector<Slot> free_;
  std::vector<Slot> table_;   // open addressing by the id's hash; a power of two
  std::size_t occupied_ = 0;  // of the table, deleted ones included
  std::size_t size_ = 0;
  std::vector<Type> types_;
  std::unordered_map<std::string, std::uint32_t> type_numbers_;
  IdArena ids_;
};

}  // namespace kron
