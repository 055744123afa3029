#pragma once

#include <string>
#include <vector>

namespace kron::testing {

// The whole file, or its lines without the empty ones; a test that cannot read its data fails loudly.
std::string read_file(const std::string& path);
std::vector<std::string> read_lines(const std::string& path);

}  // namespace kron::testing
