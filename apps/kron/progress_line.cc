#include "progress_line.h"

#include <cstdio>

namespace kron::cli {

void ProgressLine::show(std::string_view progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_wanted_ || now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  const std::string line = who_ + ": " + std::string(progress);
  width_ = line.size();
  std::fprintf(stderr, "\r%s", line.c_str());
}

void ProgressLine::clear() {
  if (width_ > 0) std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
  width_ = 0;
}

}  // namespace kron::cli
