#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>

#include "kron/base/result.h"

namespace kron {

// What a file holds that somebody named: a certificate, a key, a token.
struct SmallFile {
  std::string text;
  mode_t mode = 0;  // as stat(2) has it
};

// A pipe is read to its end. Code invalid: it holds more than `most` bytes, or is a directory; otherwise as
// system_error() says.
Result<SmallFile> read_small_file(const std::string& path, std::size_t most);

}  // namespace kron
