#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kron {

bool is_valid_utf8(std::string_view text);

// Length of the valid UTF-8 sequence at the front of a non-empty text; 0 if there is none (overlong, surrogate, cut
// off).
std::size_t utf8_length(std::string_view text);

std::string_view trimmed(std::string_view text);

// ASCII only, independent of any locale.
char lower(char c);
std::string lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Text for an error message: control characters and invalid UTF-8 escaped, cut to `most` bytes (then it ends with …),
// within single quotes. Always valid UTF-8.
std::string quoted(std::string_view text, std::size_t most = 40);

// The word of `known` a reader most likely meant, whatever its case, or empty when none is near: a third of the letters
// may be wrong, missing or too many.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace kron
