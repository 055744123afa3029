#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kron/base/hash_index.h"
#include "kron/queue/id_arena.h"

namespace kron {

// Ids in the order they came, and whether one is among them: for the names of a directory with millions.
class IdList {
 public:
  // False, and nothing is added, when it is there.
  bool add(std::string_view id) {
    if (contains(id)) return false;
    index_.insert(hash_of(id), static_cast<std::uint32_t>(ids_.size()));
    ids_.emplace_back(arena_.keep(id), id.size());
    return true;
  }

  bool contains(std::string_view id) const {
    return index_.find(hash_of(id), [&](std::uint32_t number) { return ids_[number] == id; }).has_value();
  }

  // The views live as long as the list.
  const std::vector<std::string_view>& ids() const { return ids_; }

 private:
  IdArena arena_;
  std::vector<std::string_view> ids_;
  HashIndex index_;
};

}  // namespace kron
