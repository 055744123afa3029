#include "kron/base/hmac.h"

#include <algorithm>
#include <array>
#include <string>

namespace kron {
namespace {

constexpr std::size_t kBlock = 64;

std::string_view bytes_of(const Sha256& hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }

}  // namespace

Sha256 hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
  std::array<char, kBlock> inner{};
  if (key.size() > kBlock) {
    const Sha256 hash = sha256({key});
    std::ranges::copy(bytes_of(hash), inner.begin());
  } else {
    std::ranges::copy(key, inner.begin());
  }
  std::array<char, kBlock> outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5C);
  std::string message(inner.data(), inner.size());
  for (const std::string_view part : parts) message.append(part);
  const Sha256 hash = sha256({message});
  return sha256({{outer.data(), outer.size()}, bytes_of(hash)});
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler finds out that it could stop at the first difference.
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

}  // namespace kron
