#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace kron {

// Short texts side by side, without the cost of an allocation each. What is dropped is counted, not reused: the owner
// moves the rest to a new arena when too much is waste.
class IdArena {
 public:
  const char* keep(std::string_view text) {
    if (chunks_.empty() || used_ + text.size() > kChunk) {
      chunks_.push_back(std::make_unique<char[]>(kChunk));
      used_ = 0;
    }
    char* place = chunks_.back().get() + used_;
    std::memcpy(place, text.data(), text.size());
    used_ += text.size();
    kept_ += text.size();
    return place;
  }

  void drop(std::size_t bytes) {
    kept_ -= bytes;
    dropped_ += bytes;
  }

  bool is_mostly_waste() const { return dropped_ > kChunk && dropped_ > kept_; }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 16;  // far more than any text
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t used_ = 0;  // of the last chunk
  std::size_t kept_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace kron
