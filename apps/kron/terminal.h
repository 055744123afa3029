#pragma once

#include <span>
#include <string>

#include "kron/jobs/problem.h"

namespace kron::cli {

// "1 job", "2 jobs".
std::string counted(std::size_t count, const std::string& noun);

// A terminal, and the reader has not asked for plain text by NO_COLOR.
bool wants_colour(int descriptor);

// As text_of(problem); coloured, the severity stands out.
std::string shown(const jobs::Problem& problem, bool coloured);

// Each of them on standard error, coloured if that is a terminal.
void show_aside(std::span<const jobs::Problem> problems);

}  // namespace kron::cli
