#include "kron/base/token_text.h"

#include <algorithm>
#include <span>

namespace kron {
namespace {

constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::size_t kSecretSize = 43;
constexpr std::size_t kChecksumSize = 6;
static_assert(kTokenPrefix.size() + kTokenIdSize + 1 + kSecretSize + kChecksumSize == kTokenSize);

bool is_of(std::string_view text, std::string_view alphabet) {
  return std::ranges::all_of(text, [&](char c) { return alphabet.find(c) != std::string_view::npos; });
}

// CRC-32 as gzip and GitHub's tokens have it.
std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::string checksum_of(std::string_view text) {
  std::uint32_t crc = crc32(text);
  std::string digits(kChecksumSize, '0');
  for (std::size_t i = kChecksumSize; i-- > 0; crc /= 62U) digits[i] = kBase62[crc % 62U];
  return digits;
}

// The bytes as one number, the first of them its highest.
std::string base62(std::span<const std::uint8_t> bytes, std::size_t size) {
  std::string digits(size, '0');
  std::string number(bytes.begin(), bytes.end());
  for (std::size_t i = size; i-- > 0;) {
    unsigned rest = 0;
    for (char& byte : number) {
      const unsigned value = rest * 256 + static_cast<unsigned char>(byte);
      byte = static_cast<char>(value / 62);
      rest = value % 62;
    }
    digits[i] = kBase62[rest];
  }
  return digits;
}

std::string base32(const TokenIdBytes& bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8U | byte;
  std::string digits(kTokenIdSize, 'a');
  for (std::size_t i = kTokenIdSize; i-- > 0; number >>= 5U) digits[i] = kBase32[number & 31U];
  return digits;
}

}  // namespace

std::string token_text(const TokenIdBytes& id, const TokenSecretBytes& secret) {
  std::string text(kTokenPrefix);
  text.append(base32(id)).append("_").append(base62(secret, kSecretSize));
  return text.append(checksum_of(text));
}

std::optional<std::string_view> token_id_in(std::string_view text) {
  constexpr std::size_t kSecretAt = kTokenPrefix.size() + kTokenIdSize + 1;
  if (text.size() != kTokenSize || !text.starts_with(kTokenPrefix) || text[kSecretAt - 1] != '_') return std::nullopt;
  const std::string_view id = text.substr(kTokenPrefix.size(), kTokenIdSize);
  if (!is_token_id(id) || !is_of(text.substr(kSecretAt), kBase62)) return std::nullopt;
  const std::string_view checked = text.substr(0, kTokenSize - kChecksumSize);
  if (text.substr(checked.size()) != checksum_of(checked)) return std::nullopt;
  return id;
}

bool is_token_id(std::string_view text) { return text.size() == kTokenIdSize && is_of(text, kBase32); }

}  // namespace kron
