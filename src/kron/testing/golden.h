#pragma once

#include <string>
#include <vector>

namespace kron::testing {

// Where a file of tests/data is; `../..` leads to the root of the source tree.
std::string data_path(const std::string& file);

// The whole file, or its lines without the empty ones; a test that cannot read its data fails loudly.
std::string read_file(const std::string& path);
std::vector<std::string> read_lines(const std::string& path);

}  // namespace kron::testing
