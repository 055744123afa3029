#pragma once

#include <string_view>

namespace kron {

// Whether an RFC 3339 time names no whole second: parse_rfc3339 floors such a fraction away, and some readers may not.
bool has_fraction(std::string_view time);

}  // namespace kron
