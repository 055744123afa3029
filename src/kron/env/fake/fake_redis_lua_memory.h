#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace kron::testing::fake_redis {

// The memory of one Lua, which allocates for every string and every table of a script: small blocks come from lists of
// blocks of one size, because malloc is slow where each call of it is watched. Not for several threads.
class LuaMemory {
 public:
  // A lua_Alloc; `self` is a LuaMemory.
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t new_size) {
    return static_cast<LuaMemory*>(self)->resized(block, old_size, new_size);
  }

 private:
  static constexpr std::size_t kStep = 16;
  static constexpr std::size_t kSmall = 1024;
  static constexpr std::size_t kChunk = std::size_t{64} * 1024;

  struct Free {
    Free* next;
  };

  static std::size_t list_of(std::size_t size) { return (size - 1) / kStep; }

  void* taken(std::size_t size) {
    if (size > kSmall) return std::malloc(size);
    Free*& list = free_[list_of(size)];
    if (list == nullptr) refill(list, (list_of(size) + 1) * kStep);
    return std::exchange(list, list->next);
  }

  void give_back(void* block, std::size_t size) {
    if (size > kSmall) return std::free(block);
    Free*& list = free_[list_of(size)];
    list = new (block) Free{list};
  }

  void refill(Free*& list, std::size_t size) {
    chunks_.push_back(std::make_unique<std::byte[]>(kChunk));
    std::byte* const chunk = chunks_.back().get();
    for (std::size_t at = 0; at + size <= kChunk; at += size) list = new (chunk + at) Free{list};
  }

  void* resized(void* block, std::size_t old_size, std::size_t new_size) {
    if (block == nullptr) return new_size == 0 ? nullptr : taken(new_size);
    if (new_size == 0) {
      give_back(block, old_size);
      return nullptr;
    }
    if (old_size > kSmall && new_size > kSmall) return std::realloc(block, new_size);
    if (old_size <= kSmall && new_size <= kSmall && list_of(old_size) == list_of(new_size)) return block;
    void* const moved = taken(new_size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(old_size, new_size));
    give_back(block, old_size);
    return moved;
  }

  std::array<Free*, kSmall / kStep> free_ = {};
  std::vector<std::unique_ptr<std::byte[]>> chunks_ = {};
};

}  // namespace kron::testing::fake_redis
