#include "kron/env/random_hex.h"

#include <algorithm>
#include <string_view>
#include <sys/random.h>

namespace kron {

std::string random_hex() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : random_bytes(10)) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

std::string random_bytes(std::size_t count) {
  std::string random(std::min<std::size_t>(count, 256), '\0');
  // So few bytes come whole, and only a machine that has just been switched on makes us wait for them.
  while (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) continue;
  return random;
}

}  // namespace kron
