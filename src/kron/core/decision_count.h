#pragma once

#include <cstdint>

namespace kron {

// How many decisions this thread has made: what a test or a benchmark of those who decide counts.
std::uint64_t decisions_made();

}  // namespace kron
