#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kron/json/document.h"
#include "kron/queue/json_glance.h"
#include "kron/queue/opaque_json.h"

// What a glance is sure of, a parser says too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::size_t depth : {std::size_t{3}, std::size_t{64}}) {
    const kron::JsonGlance glance = kron::glance_at_json(text, depth);
    if (glance == kron::JsonGlance::unsure) continue;
    const bool is_compact = kron::without_blanks(text) == text;
    if (!kron::parse_json(text, {.size = size, .depth = depth}) ||
        is_compact != (glance == kron::JsonGlance::compact)) {
      std::abort();
    }
  }
  return 0;
}
