#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"

namespace kron::jobs {

// Splits a command like a shell splits words: blanks separate, '…' is literal, "…" keeps blanks and knows \" \\ \$ \`,
// a backslash outside quotes takes the next character literally. Nothing is expanded. Fails on an open quote, a
// backslash at the end, and when there is no word at all; the column is that of the culprit.
Result<std::vector<std::string>> words_of(std::string_view command);

// True for a command that words_of splits at its blanks alone, and that a shell would split the same way: no quotes, no
// backslashes, no special characters. Most commands are; the others may be in order all the same.
bool is_plain_command(std::string_view command);

// One line that words_of splits into exactly `words`.
std::string quoted_words(std::span<const std::string> words);

// The first character that only a shell would understand (a pipe, a redirection, a variable, a wildcard …) and that
// stands outside quotes, or npos: what a command that is executed directly passes on literally.
std::size_t first_shell_character(std::string_view command);

}  // namespace kron::jobs
