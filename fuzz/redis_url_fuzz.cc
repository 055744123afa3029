#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/env/redis_url.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// Whatever is accepted must print, without its password, as a text that reads back the same; whatever is not must say
// where.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto parse : {kron::parse_redis_url, kron::parse_redis_nodes}) {
    kron::Result<kron::RedisUrl> url = parse(text);
    if (!url) {
      require(url.error().column > 0 && url.error().column <= size + 1);
      continue;
    }
    require(!url->addresses.empty());
    const std::string printed = kron::printable(*url);
    if (!url->password.empty()) url->password = "***";
    // Escapes make a text longer than it was.
    if (printed.size() <= kron::kRedisUrlBytes) require(kron::parse_redis_url(printed).value() == *url);
  }
  return 0;
}
