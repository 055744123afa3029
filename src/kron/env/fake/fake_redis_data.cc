#include "kron/env/fake/fake_redis_data.h"

#include <algorithm>
#include <iterator>

namespace kron::testing::fake_redis {

std::optional<double> SortedSet::score(std::string_view member) const {
  const auto found = scores_.find(member);
  if (found == scores_.end()) return std::nullopt;
  return found->second;
}

void SortedSet::put(const std::string& member, double score) {
  const auto [found, is_new] = scores_.emplace(member, score);
  if (!is_new) {
    order_.erase({found->second, member});
    found->second = score;
  }
  order_.emplace(score, member);
}

bool SortedSet::erase(std::string_view member) {
  const auto found = scores_.find(member);
  if (found == scores_.end()) return false;
  order_.erase({found->second, found->first});
  scores_.erase(found);
  return true;
}

SortedSet::Order::const_iterator SortedSet::at(std::size_t rank) const {
  if (rank >= order_.size()) return order_.end();
  if (rank <= order_.size() / 2) return std::next(order_.begin(), static_cast<std::ptrdiff_t>(rank));
  return std::prev(order_.end(), static_cast<std::ptrdiff_t>(order_.size() - rank));
}

void Stream::append(StreamEntry entry) {
  if (nodes_.empty() || nodes_.back().made >= kNodeEntries) nodes_.emplace_back();
  last_ = entry.id;
  nodes_.back().made += 1;
  nodes_.back().entries.push_back(std::move(entry));
  size_ += 1;
}

std::size_t Stream::trim(std::size_t most, bool whole_nodes, std::size_t limit) {
  std::size_t removed = 0;
  while (size_ > most) {
    std::deque<StreamEntry>& oldest = nodes_.front().entries;
    if (limit != 0 && removed + oldest.size() > limit) break;
    if (size_ - oldest.size() >= most) {
      removed += oldest.size();
      size_ -= oldest.size();
      nodes_.pop_front();
      continue;
    }
    if (whole_nodes) break;
    const std::size_t surplus = size_ - most;
    oldest.erase(oldest.begin(), oldest.begin() + static_cast<std::ptrdiff_t>(surplus));
    removed += surplus;
    size_ -= surplus;
  }
  return removed;
}

std::vector<const StreamEntry*> Stream::range(StreamId first, StreamId last, bool backward, std::size_t most) const {
  std::vector<const StreamEntry*> found;
  const auto take = [&](const StreamEntry& entry) {
    if (entry.id >= first && entry.id <= last && found.size() < most) found.push_back(&entry);
    return found.size() < most;
  };
  const auto is_outside = [&](const Node& node) {
    return node.entries.empty() || node.entries.back().id < first || node.entries.front().id > last;
  };
  if (backward) {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (is_outside(*node)) continue;
      if (!std::all_of(node->entries.rbegin(), node->entries.rend(), take)) break;
    }
  } else {
    for (const Node& node : nodes_) {
      if (is_outside(node)) continue;
      if (!std::all_of(node.entries.begin(), node.entries.end(), take)) break;
    }
  }
  return found;
}

Entry* Database::find(std::string_view key, std::int64_t now) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  if (found->second.expires && now > *found->second.expires) {
    entries_.erase(found);
    return nullptr;
  }
  return &found->second;
}

bool Database::erase(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  entries_.erase(found);
  return true;
}

const Database::Entries& Database::all(std::int64_t now) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.expires && now > *entry.second.expires; });
  return entries_;
}

std::string_view name_of_type(const Value& value) {
  static constexpr std::array<std::string_view, 6> kNames{"string", "hash", "set", "zset", "list", "stream"};
  return kNames.at(value.index());
}

bool is_empty(const Value& value) {
  if (std::holds_alternative<std::string>(value)) return false;
  return std::visit([](const auto& held) { return held.empty(); }, value);
}

}  // namespace kron::testing::fake_redis
