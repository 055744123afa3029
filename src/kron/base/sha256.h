#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace kron {

using Sha256 = std::array<std::uint8_t, 32>;

// SHA-256 of the parts, one after the other. Allocates nothing after the first call on a thread.
Sha256 sha256(std::initializer_list<std::string_view> parts);

// The first eight bytes as a big-endian number: how a hash becomes a seed or a slot everywhere in Kron.
std::uint64_t leading_u64(const Sha256& hash);

std::string hex(const Sha256& hash);
// None: the text is not what hex() writes.
std::optional<Sha256> sha256_in(std::string_view hex);

}  // namespace kron
