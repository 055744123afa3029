#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kron/base/result.h"

namespace kron::cli {

// Lines longer than this are answered with an error.
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// The loop of every command that works on JSON lines: each line of standard input, an empty one included, is answered
// with exactly one line on standard output, an error as {"error":{…}}. What has been answered is written before more
// input is waited for, so a program can hold a conversation over two pipes. Returns the exit status: 0, 1 when there
// was a bad line, 2 when standard input or output failed.
int answer_lines(const std::function<Result<std::string>(std::string_view line)>& answer);

// "kron next: column 3: minute: …" on standard error; the exit status of the error's code.
int complain(std::string_view verb, const Error& error);

// The same in the format that was asked for: as JSON, an error object on standard output.
int refuse(std::string_view verb, const Error& error, bool json);

}  // namespace kron::cli
