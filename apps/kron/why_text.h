#pragma once

#include <string>
#include <string_view>

#include "kron/json/document.h"
#include "screen_times.h"

namespace kron::cli {

// A sentence of a report, with each of its times as the screen spells them.
std::string with_screen_times(std::string_view sentence, const ScreenTimes& times);

// The answer to "why": the verdict, what led to it, and what would have had to be different.
void print_why(const Node& answer, const ScreenTimes& times);

}  // namespace kron::cli
