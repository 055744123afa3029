#pragma once

#include <span>
#include <string>

#include "kron/jobs/problem.h"

namespace kron::cli {

// A terminal, and the reader has not asked for plain text by NO_COLOR.
bool wants_colour(int descriptor);

// As text_of(problem); coloured, the severity stands out.
std::string shown(const jobs::Problem& problem, bool coloured);

// Each of them on standard error, coloured if that is a terminal.
void show_aside(std::span<const jobs::Problem> problems);

}  // namespace kron::cli
