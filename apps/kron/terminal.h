#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kron/jobs/problem.h"

namespace kron::cli {

// "1 job", "2 jobs".
std::string counted(std::size_t count, std::string_view noun);

// A terminal, and the reader has not asked for plain text by NO_COLOR.
bool wants_colour(int descriptor);

// The same text with plain characters for arrows, dots and bars where the locale (LC_ALL, LC_CTYPE, LANG) names another
// encoding than UTF-8. Where none of them is set, as in most containers, it is taken to be UTF-8.
std::string for_locale(std::string_view text);

// As text_of(problem); coloured, the severity stands out.
std::string shown(const jobs::Problem& problem, bool coloured);

// Each of them on standard error, coloured if that is a terminal.
void show_aside(std::span<const jobs::Problem> problems);

}  // namespace kron::cli
