#pragma once

#include <string>
#include <string_view>

namespace kron::cluster {

// 40 hex digits. What Redis names its scripts by, and cronken its locks; no secret depends on it.
std::string sha1_hex(std::string_view text);

}  // namespace kron::cluster
