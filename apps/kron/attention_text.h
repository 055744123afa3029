#pragma once

#include <string>
#include <string_view>

#include "kron/json/document.h"
#include "screen_times.h"

namespace kron::cli {

// What needs somebody, as `kron status` shows it; nothing when nothing does. What the status itself tells is left out:
// files that were refused, a reload that failed, jobs that are not scheduled.
void print_attention(const Node& attention, const ScreenTimes& times);

// The status with what needs somebody as its last member.
std::string with_attention(std::string_view status, std::string_view attention);

}  // namespace kron::cli
