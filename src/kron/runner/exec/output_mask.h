#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kron/base/secret_files.h"

namespace kron::exec {

// The values that a run masks. At each place the longest that fits is found by its first four bytes: a value that is
// shorter than that is not masked, and what does not begin like a value costs one look at a table.
class MaskedValues {
 public:
  MaskedValues() = default;
  ~MaskedValues();
  MaskedValues(const MaskedValues&) = delete;
  MaskedValues& operator=(const MaskedValues&) = delete;

  // Every line of the text, without blanks around it, unless it is too short; the text outlives this. False: there are
  // too many of them, or there is no memory.
  bool add_lines_of(std::string_view text);
  // To be called when all are there. False: there is no memory.
  bool finish();

  bool empty() const { return count_ == 0; }
  std::size_t longest() const { return longest_; }

  struct Match {
    std::size_t size = 0;      // of the longest value that the text begins with; 0: none
    bool may_be_more = false;  // the whole text is the beginning of a longer one
  };
  Match match(std::string_view text) const;

 private:
  static constexpr std::size_t kHeads = 1 << 16;

  static std::uint32_t head_of(const char* bytes);
  static std::size_t slot_of(std::uint32_t head) { return (head * 2654435761U) >> 16; }

  std::string_view* values_ = nullptr;  // sorted by their bytes
  std::size_t count_ = 0;
  std::size_t longest_ = 0;
  std::size_t* lengths_ = nullptr;  // that values have, each once, the shortest first
  std::size_t length_count_ = 0;
  std::uint8_t* heads_ = nullptr;  // a bit for each slot that some value's head has
};

// Replaces the values in a stream of bytes that comes in pieces. Keeps back what may be the beginning of one, which is
// less than the longest, until more comes or the stream ends.
class OutputMask {
 public:
  // At once; `bytes` are copied. Calls take(context, bytes, size) for what may be stored, in order.
  using Take = void (*)(void* context, const char* bytes, std::size_t size);
  void append(const MaskedValues& values, const char* bytes, std::size_t size, Take take, void* context);
  // The stream has ended, or pauses for good.
  void finish(const MaskedValues& values, Take take, void* context);

  ~OutputMask();
  OutputMask() = default;
  OutputMask(const OutputMask&) = delete;
  OutputMask& operator=(const OutputMask&) = delete;

 private:
  void work(const MaskedValues& values, bool is_end, Take take, void* context);

  char* kept_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace kron::exec
