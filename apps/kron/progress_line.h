#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kron::cli {

// One line on standard error that is written over, five times a second at most.
class ProgressLine {
 public:
  // `is_wanted` false: nothing is ever shown.
  ProgressLine(std::string who, bool is_wanted) : who_(std::move(who)), is_wanted_(is_wanted) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::string_view progress);
  // Makes room for other lines.
  void clear();

 private:
  std::string who_;
  bool is_wanted_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::size_t width_ = 0;  // of what is shown
};

}  // namespace kron::cli
