#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kron/base/token_text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// What passes for a token has the form of one, and no other text with the same checksum does; what is made of any bytes
// is one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto id = kron::token_id_in(text)) {
    require(text.size() == kron::kTokenSize && text.starts_with(kron::kTokenPrefix));
    require(kron::is_token_id(*id) && id->data() == text.data() + kron::kTokenPrefix.size());
  }
  kron::TokenIdBytes id{};
  kron::TokenSecretBytes secret{};
  std::copy_n(data, std::min(size, id.size()), id.begin());
  std::copy_n(data, std::min(size, secret.size()), secret.begin());
  std::string made = kron::token_text(id, secret);
  require(kron::token_id_in(made).has_value());
  if (size > 2) {
    char& c = made[data[0] % made.size()];
    const char before = c;
    c = static_cast<char>(data[1]);
    require(c == before || !kron::token_id_in(made).has_value());
  }
  return 0;
}
