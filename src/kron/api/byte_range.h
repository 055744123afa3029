#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kron::api {

// What of a file of `size` bytes a Range header asks for (RFC 9110): [first, end).
struct ByteRange {
  enum class Kind : std::uint8_t { whole, part, none } kind = Kind::whole;  // none: no byte of it is there (416)
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  bool operator==(const ByteRange&) const = default;
};

// What is not understood (another unit, several ranges, nonsense) asks for the whole, as the RFC has it.
ByteRange byte_range(std::optional<std::string_view> header, std::uint64_t size);

}  // namespace kron::api
