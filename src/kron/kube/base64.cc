#include "kron/kube/base64.h"

#include <algorithm>
#include <cstdint>

namespace kron::kube {
namespace {

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    const int digit = c == '=' ? 0 : digit_of(c);
    const bool is_padding = c == '=';
    if (digit < 0 || (padding > 0 && !is_padding) || (is_padding && digits < 2)) {
      return fail(Code::invalid, "this is not base64");
    }
    padding += is_padding ? 1 : 0;
    group = group << 6U | static_cast<std::uint32_t>(digit);
    if (++digits < 4) continue;
    bytes.push_back(static_cast<char>(group >> 16U & 0xFFU));
    if (padding < 2) bytes.push_back(static_cast<char>(group >> 8U & 0xFFU));
    if (padding < 1) bytes.push_back(static_cast<char>(group & 0xFFU));
    const std::uint32_t unused = padding == 2 ? group & 0xFFFFU : padding == 1 ? group & 0xFFU : 0;
    if (unused != 0) return fail(Code::invalid, "this is not base64: bits are left over");
    group = 0;
    digits = 0;
  }
  if (digits != 0) return fail(Code::invalid, "this is not base64: its end is missing");
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text.push_back(k > left ? '=' : kDigits[group >> (18U - 6U * k) & 63U]);
  }
  return text;
}

}  // namespace kron::kube
