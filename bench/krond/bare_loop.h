#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kron::bench {

// When the commands of a crowd began, in seconds since one moment.
struct Started {
  double first = 0, median = 0, last = 0;
  std::size_t count = 0;
};
Started started(const std::vector<std::int64_t>& stamps, std::int64_t since);

// What starting processes costs without a krond: the same helper with the same command, its gate opened at once, by
// nobody who remembers anything. A command in a shell takes one process more.
Started bare_loop(int count, bool in_shell = false);

}  // namespace kron::bench
