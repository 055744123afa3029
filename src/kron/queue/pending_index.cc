#include "kron/queue/pending_index.h"

#include <algorithm>
#include <tuple>

#include "kron/queue/transitions.h"

namespace kron {

std::size_t PendingIndex::probe_start(std::string_view id) const {
  return std::hash<std::string_view>()(id) & (table_.size() - 1);
}

PendingIndex::Slot PendingIndex::find(std::string_view id) const {
  if (table_.empty()) return kNone;
  for (std::size_t at = probe_start(id);; at = (at + 1) & (table_.size() - 1)) {
    const Slot slot = table_[at];
    if (slot == kNone) return kNone;
    if (slot != kDeleted && entries_[slot].id_text() == id) return slot;
  }
}

void PendingIndex::grow_table() {
  if (occupied_ * 4 < table_.size() * 3) return;
  std::size_t wanted = 64;
  while (wanted * 3 < (size_ + 1) * 5) wanted *= 2;
  table_.assign(wanted, kNone);
  occupied_ = 0;
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    if (entries_[slot].id == nullptr) continue;
    std::size_t at = probe_start(entries_[slot].id_text());
    while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
    table_[at] = slot;
    ++occupied_;
  }
}

void PendingIndex::erase_from_table(Slot slot) {
  std::size_t at = probe_start(entries_[slot].id_text());
  while (table_[at] != slot) at = (at + 1) & (table_.size() - 1);
  table_[at] = kDeleted;
}

std::uint32_t PendingIndex::type_index(std::string_view name) {
  const auto [found, is_new] = type_numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(types_.size()));
  if (is_new) types_.push_back({found->first, {}, {}});
  return found->second;
}

bool PendingIndex::add(const Item& item) {
  if (contains(item.id)) return false;
  grow_table();
  Slot slot = static_cast<Slot>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[slot];
  entry.id = ids_.keep(item.id);
  entry.id_bytes = static_cast<std::uint8_t>(item.id.size());
  entry.ready_at = epoch_seconds(item.ready_at);
  entry.sequence = item.sequence;
  entry.type = type_index(item.type);
  entry.priority = static_cast<std::int16_t>(item.priority);
  entry.is_ready = false;
  std::size_t at = probe_start(item.id);
  while (table_[at] != kNone && table_[at] != kDeleted) at = (at + 1) & (table_.size() - 1);
  occupied_ += table_[at] == kNone ? 1 : 0;
  table_[at] = slot;
  ++size_;
  push(slot);
  return true;
}

bool PendingIndex::remove(std::string_view id) {
  const Slot slot = find(id);
  if (slot == kNone) return false;
  release(slot);
  return true;
}

void PendingIndex::release(Slot slot) {
  remove_from_heap(slot);
  erase_from_table(slot);
  ids_.drop(entries_[slot].id_bytes);
  entries_[slot].id = nullptr;
  free_.push_back(slot);
  --size_;
  if (ids_.is_mostly_waste()) compact_ids();
}

void PendingIndex::compact_ids() {
  IdArena kept;
  for (Entry& entry : entries_) {
    if (entry.id != nullptr) entry.id = kept.keep(entry.id_text());
  }
  ids_ = std::move(kept);
}

std::optional<std::string> PendingIndex::take(Instant now, const TypeFilter& may_run) {
  Slot best = kNone;
  for (Type& type : types_) {
    wake(type, now);
    if (type.ready.empty() || !may_run(type.name)) continue;
    if (best == kNone || goes_before(type.ready.front(), best)) best = type.ready.front();
  }
  if (best == kNone) return std::nullopt;
  std::string id(entries_[best].id_text());
  release(best);
  return id;
}

std::optional<Instant> PendingIndex::next_ready() const {
  std::optional<Instant> earliest;
  for (const Type& type : types_) {
    if (type.delayed.empty()) continue;
    const Instant ready = instant_of(entries_[type.delayed.front()].ready_at);
    if (!earliest || ready < *earliest) earliest = ready;
  }
  return earliest;
}

std::map<std::string, std::size_t> PendingIndex::count_of_types() const {
  std::map<std::string, std::size_t> counts;
  for (const Type& type : types_) {
    if (const std::size_t count = type.ready.size() + type.delayed.size()) counts.emplace(type.name, count);
  }
  return counts;
}

std::optional<Instant> PendingIndex::earliest_ready() const {
  std::optional<std::int64_t> earliest;
  for (const Entry& entry : entries_) {
    if (entry.id != nullptr && (!earliest || entry.ready_at < *earliest)) earliest = entry.ready_at;
  }
  return earliest ? std::optional(instant_of(*earliest)) : std::nullopt;
}

void PendingIndex::each_id(const std::function<void(std::string_view)>& visit) const {
  for (const Entry& entry : entries_) {
    if (entry.id != nullptr) visit(entry.id_text());
  }
}

std::vector<std::string> PendingIndex::ids() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    if (entry.id != nullptr) result.emplace_back(entry.id_text());
  }
  return result;
}

std::vector<std::string> PendingIndex::delayed_ids() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) {
    if (entry.id != nullptr && !entry.is_ready) result.emplace_back(entry.id_text());
  }
  return result;
}

void PendingIndex::wake(Type& type, Instant now) {
  while (!type.delayed.empty() && entries_[type.delayed.front()].ready_at <= epoch_seconds(now)) {
    const Slot slot = type.delayed.front();
    remove_from_heap(slot);
    entries_[slot].is_ready = true;
    push(slot);
  }
}

std::vector<PendingIndex::Slot>& PendingIndex::heap_of(const Entry& entry) {
  Type& type = types_[entry.type];
  return entry.is_ready ? type.ready : type.delayed;
}

// Within one heap all are ready, or none is; across the types only ready ones are compared.
bool PendingIndex::goes_before(Slot a, Slot b) const {
  const auto key = [&](const Entry& e) {
    const Instant ready = instant_of(e.ready_at);
    return std::tuple(e.is_ready ? rank_of(ready, e.priority, ageing_) : e.ready_at, e.ready_at, e.sequence,
                      e.id_text());
  };
  return key(entries_[a]) < key(entries_[b]);
}

void PendingIndex::place(std::vector<Slot>& heap, std::size_t at, Slot slot) {
  heap[at] = slot;
  entries_[slot].position = static_cast<std::uint32_t>(at);
}

void PendingIndex::push(Slot slot) {
  auto& heap = heap_of(entries_[slot]);
  heap.push_back(slot);
  place(heap, heap.size() - 1, slot);
  sift_up(heap, heap.size() - 1);
}

void PendingIndex::remove_from_heap(Slot slot) {
  auto& heap = heap_of(entries_[slot]);
  const std::size_t at = entries_[slot].position;
  const Slot last = heap.back();
  heap.pop_back();
  if (last == slot) return;
  place(heap, at, last);
  sift_up(heap, at);
  sift_down(heap, entries_[last].position);
}

void PendingIndex::sift_up(std::vector<Slot>& heap, std::size_t at) {
  const Slot slot = heap[at];
  while (at > 0 && goes_before(slot, heap[(at - 1) / 2])) {
    place(heap, at, heap[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  place(heap, at, slot);
}

void PendingIndex::sift_down(std::vector<Slot>& heap, std::size_t at) {
  const Slot slot = heap[at];
  while (2 * at + 1 < heap.size()) {
    std::size_t child = 2 * at + 1;
    if (child + 1 < heap.size() && goes_before(heap[child + 1], heap[child])) ++child;
    if (!goes_before(heap[child], slot)) break;
    place(heap, at, heap[child]);
    at = child;
  }
  place(heap, at, slot);
}

}  // namespace kron
