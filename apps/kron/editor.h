#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kron/base/result.h"

// The reader's editor, started without a shell.
namespace kron::cli {

// The words of a command as $EDITOR has it: parted by blanks, with quotes and backslashes for blanks within a word.
// Nothing is expanded. Code invalid: a quote is open, or there is no word.
Result<std::vector<std::string>> editor_words(const std::string& command);

// What is started to edit `file` at `line` (0: nowhere): the words, the line for those editors that are known to take
// it, and the file, which is never taken for an option.
std::vector<std::string> editor_command(std::vector<std::string> editor, const std::string& file, std::size_t line);

// The candidates in order: $VISUAL, $EDITOR, else sensible-editor, editor, vi.
std::vector<std::string> editors();

// Starts the first of these that there is, on the terminal of this process, and waits for its end. Code not_found:
// there is none; invalid: it ended with another status than 0.
Status edit_file(const std::vector<std::string>& editors, const std::string& file, std::size_t line);

}  // namespace kron::cli
