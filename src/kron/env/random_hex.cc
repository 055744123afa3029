#include "kron/env/random_hex.h"

#include <array>
#include <string_view>
#include <sys/random.h>

namespace kron {

std::string random_hex() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 10> random{};
  // So few bytes come whole, and only a machine that has just been switched on makes us wait for them.
  while (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) continue;
  std::string text;
  for (const unsigned char byte : random) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace kron
