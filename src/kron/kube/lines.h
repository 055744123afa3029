#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron::kube {

// The lines of a watch, out of bytes that come in any pieces. What is not ended by a newline when the stream ends was
// never said: the server cut it, and says it again to whoever asks from the last version.
class LineReader {
 public:
  // Larger than any object that a server stores, twice: in an event, and escaped.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  explicit LineReader(std::size_t most_bytes = kMostBytes) : most_(most_bytes) {}

  // Calls `visit` with each line that is complete now, without its newline; empty ones are left out. The view lives as
  // long as the call. Refused with code invalid: a line beyond the limit; the lines before it have been visited, and
  // every further call is refused.
  Status feed(std::string_view bytes, const std::function<void(std::string_view line)>& visit);

 private:
  std::size_t most_;
  std::string begun_;
  bool is_broken_ = false;
};

}  // namespace kron::kube
