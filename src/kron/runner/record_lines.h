#pragma once

#include <charconv>
#include <optional>
#include <string_view>

// How the records that kron-exec leaves are taken apart.
namespace kron::runner {

// The text up to the first `end`, which is dropped, and what follows it in `rest`; nothing when there is no `end`.
inline std::optional<std::string_view> cut_before(std::string_view& rest, char end) {
  const std::size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  return part;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

}  // namespace kron::runner
