#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace kron {

// Numbers of things that are kept elsewhere, by the hash of their key: some ten bytes a thing, and no allocation for
// each. The caller compares the keys.
class HashIndex {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  void reserve(std::size_t count) {
    if (2 * count > places_.size()) rehash(std::bit_ceil(2 * count));
  }

  // The number among those of this hash for which `is_wanted(number)`.
  template <class IsWanted>
  [[nodiscard]] std::optional<std::uint32_t> find(std::size_t hash, IsWanted is_wanted) const {
    if (places_.empty()) return std::nullopt;
    for (std::size_t at = home(tag_of(hash)); places_[at].tag != kFree; at = next(at)) {
      if (places_[at].tag == tag_of(hash) && is_wanted(places_[at].number)) return places_[at].number;
    }
    return std::nullopt;
  }

  void insert(std::size_t hash, std::uint32_t number) {
    reserve(size_ + 1);
    put({tag_of(hash), number});
    ++size_;
  }

  // `number` was inserted with this hash.
  void erase(std::size_t hash, std::uint32_t number) {
    std::size_t hole = home(tag_of(hash));
    while (places_[hole].tag != tag_of(hash) || places_[hole].number != number) hole = next(hole);
    // What was pushed away from its home by the one that goes moves up, so that no search ends too early.
    for (std::size_t at = next(hole); places_[at].tag != kFree; at = next(at)) {
      const std::size_t distance = (at - home(places_[at].tag)) & (places_.size() - 1);
      if (distance < ((at - hole) & (places_.size() - 1))) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = {};
    --size_;
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  struct Place {
    std::uint32_t tag = kFree;  // of the key's hash; never kFree when taken
    std::uint32_t number = 0;
  };

  static std::uint32_t tag_of(std::size_t hash) {
    const auto tag = static_cast<std::uint32_t>(hash ^ hash >> 32);
    return tag == kFree ? 1 : tag;
  }
  [[nodiscard]] std::size_t home(std::uint32_t tag) const { return tag & (places_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }

  void put(const Place& place) {
    std::size_t at = home(place.tag);
    while (places_[at].tag != kFree) at = next(at);
    places_[at] = place;
  }
  void rehash(std::size_t count) {
    std::vector<Place> before(count);
    before.swap(places_);
    for (const Place& place : before) {
      if (place.tag != kFree) put(place);
    }
  }

  std::vector<Place> places_;  // a power of two, at most half of them taken
  std::size_t size_ = 0;
};

inline std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }

}  // namespace kron
