#include "kron/cluster/keys.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <openssl/evp.h>

namespace kron::cluster {
namespace {

constexpr std::size_t kSha1Size = 20;

std::string sha1_hex(std::string_view text) {
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

}  // namespace

std::string Keys::lock(std::string_view lock_name) const { return of("locks:") += sha1_hex(lock_name); }

}  // namespace kron::cluster
