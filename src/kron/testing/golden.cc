#include "kron/testing/golden.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kron::testing {

std::string data_path(const std::string& file) { return std::string(KRON_TEST_DATA) + "/" + file; }

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "test data missing: %s\n", path.c_str());
    std::abort();
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::istringstream in(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace kron::testing
