#pragma once

#include <cstdint>

namespace kron::cluster {

// Where cronken 0.1.20 departs from its own specification, a cluster writes as the one or as the other.
enum class Dialect : std::uint8_t { seed, cronken };

}  // namespace kron::cluster
