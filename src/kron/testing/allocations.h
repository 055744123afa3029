#pragma once

#include <cstddef>

namespace kron::testing {

// How often this thread has called operator new. A program that asks has its operator new replaced by a counting one.
std::size_t allocations();

}  // namespace kron::testing
