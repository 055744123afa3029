#include "kron/cluster/sha1.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <openssl/evp.h>

namespace kron::cluster {

std::string sha1_hex(std::string_view text) {
  constexpr std::size_t kSha1Size = 20;
  std::array<unsigned char, kSha1Size> digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1) {
    std::fputs("kron: the SHA-1 of the OpenSSL library is unusable\n", stderr);
    std::abort();
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

}  // namespace kron::cluster
