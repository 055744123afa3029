#include "kron/base/sha256.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <openssl/evp.h>

namespace kron {
namespace {

// Fetching the algorithm costs three times as much as hashing a seed, so each thread keeps it with its context.
class Hasher {
 public:
  Hasher() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    require(algorithm_ != nullptr && context_ != nullptr);
    require(EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1);
  }

  Sha256 digest(std::initializer_list<std::string_view> parts) {
    require(EVP_DigestInit_ex2(context_.get(), nullptr, nullptr) == 1);
    for (const std::string_view part : parts) {
      require(EVP_DigestUpdate(context_.get(), part.data(), part.size()) == 1);
    }
    Sha256 hash{};
    require(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1);
    return hash;
  }

 private:
  static void require(bool ok) {
    if (ok) return;
    std::fputs("kron: the SHA-256 of the OpenSSL library is unusable\n", stderr);
    std::abort();
  }

  struct Free {
    void operator()(EVP_MD* md) const { EVP_MD_free(md); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD, Free> algorithm_;
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

Sha256 sha256(std::initializer_list<std::string_view> parts) {
  thread_local Hasher hasher;
  return hasher.digest(parts);
}

std::uint64_t leading_u64(const Sha256& hash) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | hash[static_cast<std::size_t>(i)];
  return value;
}

std::string hex(const Sha256& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(hash.size() * 2);
  for (const std::uint8_t byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<Sha256> sha256_in(std::string_view hex) {
  Sha256 hash{};
  if (hex.size() != hash.size() * 2) return std::nullopt;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const std::size_t digit = kDigits.find(hex[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    hash[i / 2] = static_cast<std::uint8_t>(std::size_t{hash[i / 2]} << 4 | digit);
  }
  return hash;
}

}  // namespace kron
