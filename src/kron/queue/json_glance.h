#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kron {

// What one pass over a text tells, without anything being built of it.
enum class JsonGlance : std::uint8_t {
  unsure,      // broken, or of a rare kind: parse_json decides, and says what is wrong
  compact,     // parse_json takes it, and there is no blank between its tokens
  has_blanks,  // parse_json takes it
};

// By the rules of parse_json, with lists and maps at most so deep within each other. Of what is good, unsure are: a
// byte order mark, an escape in a key, half of a surrogate pair, numbers of more than 18 digits or with exponents
// beyond 99.
JsonGlance glance_at_json(std::string_view text, std::size_t most_depth);

}  // namespace kron
