#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "kron/env/redis_protocol.h"

namespace {

constexpr kron::RedisReplyLimits kLimits{.bytes = 1 << 16, .items = 1000, .line_bytes = 4096, .nesting = 5};

struct Seen {
  std::vector<kron::RedisValue> values;
  bool is_refused = false;

  bool operator==(const Seen&) const = default;
};

Seen read_in_pieces(std::string_view bytes, std::size_t piece) {
  kron::RedisReplyReader reader(kLimits);
  Seen seen;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      auto value = reader.next();
      if (!value) {
        seen.is_refused = true;
        return seen;
      }
      if (!*value) break;
      seen.values.push_back(std::move(**value));
    }
  }
  return seen;
}

}  // namespace

// However the bytes are cut, they are the same replies, and the same refusal ends them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 4000));
  const Seen whole = read_in_pieces(bytes, bytes.size() + 1);
  if (read_in_pieces(bytes, 1) != whole || read_in_pieces(bytes, 13) != whole) std::abort();
  return 0;
}
