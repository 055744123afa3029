#include "kron/api/byte_range.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace kron::api {
namespace {

// Digits only; a number that no file reaches counts as the largest there is.
std::optional<std::uint64_t> number_in(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? value : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

ByteRange byte_range(std::optional<std::string_view> header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const ByteRange whole{ByteRange::Kind::whole, 0, size};
  const ByteRange none{ByteRange::Kind::none, 0, 0};
  if (!header || !header->starts_with(kUnit)) return whole;
  const std::string_view range = header->substr(kUnit.size());
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = number_in(range.substr(0, dash));
  const auto last = number_in(range.substr(dash + 1));
  if (dash == 0) {
    if (!last) return whole;
    if (*last == 0 || size == 0) return none;
    return {ByteRange::Kind::part, size - std::min(*last, size), size};
  }
  const bool is_open = dash + 1 == range.size();
  if (!first || (!last && !is_open) || (last && *last < *first)) return whole;
  if (*first >= size) return none;
  return {ByteRange::Kind::part, *first, last ? std::min(*last, size - 1) + 1 : size};
}

}  // namespace kron::api
