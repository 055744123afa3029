#pragma once

#include <cstddef>
#include <string>

namespace kron {

// 80 random bits: what nobody has used before.
std::string random_hex();

// Up to 256 random bytes of the kernel's: what nobody guesses.
std::string random_bytes(std::size_t count);

}  // namespace kron
