#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kron/base/duration.h"

// Whatever is accepted must print as a text that reads back the same; whatever is not must say where.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const kron::Result<kron::Nanoseconds> duration = kron::parse_duration(text);
  if (!duration) {
    if (duration.error().column == 0 || duration.error().column > size + 1) std::abort();
    return 0;
  }
  if (duration->count() < 0 || kron::parse_duration(kron::duration_text(*duration)).value() != *duration) std::abort();
  return 0;
}
