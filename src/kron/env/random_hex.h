#pragma once

#include <string>

namespace kron {

// 80 random bits: what nobody has used before.
std::string random_hex();

}  // namespace kron
