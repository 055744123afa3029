#pragma once

#include <initializer_list>
#include <string_view>

#include "kron/base/sha256.h"

namespace kron {

// HMAC-SHA-256 (RFC 2104) of the parts, one after the other.
Sha256 hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

// In a time that depends on their lengths alone, so that nobody finds a secret out piece by piece.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace kron
