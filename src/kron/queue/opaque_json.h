#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kron {

// For JSON that passes through unread: numbers and escapes keep the spelling of whoever wrote them.

// Without the blanks between tokens. `json` must be valid.
std::string without_blanks(std::string_view json);

// The whole value that begins at `offset` of valid JSON without blanks.
std::string_view value_at(std::string_view json, std::size_t offset);

}  // namespace kron
