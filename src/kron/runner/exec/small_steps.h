#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "kron/runner/protocol.h"

// What the C library would do as well. Each page of memory that a kron-exec touches is one that the kernel has to give
// it and to take back, for a few microseconds: of printf alone six, and a process is made for every run.
namespace kron::exec {

// By the system call, which touches no page; the C library asks the kernel's shared page, of two.
inline timespec time_now(clockid_t clock) {
  timespec now{};
#if defined(__LP64__)
  ::syscall(SYS_clock_gettime, clock, &now);
#else
  ::clock_gettime(clock, &now);
#endif
  return now;
}

// A record for krond, in memory that is the same for all: one at a time. What does not fit is cut.
class RecordText {
 public:
  RecordText& text(std::string_view more) {
    for (const char c : more) push(c);
    return *this;
  }

  RecordText& number(std::uint64_t value, int digits = 1) {
    char reversed[20];
    int size = 0;
    for (; value > 0 || size < digits; value /= 10) reversed[size++] = static_cast<char>('0' + value % 10);
    while (size > 0) push(reversed[--size]);
    return *this;
  }

  // Always has room: a record ends with a whole line.
  void end_line() { bytes_[size_++] = '\n'; }

  // Of one part.
  void line(std::string_view key, std::string_view value = {}) { text(key).text(value).end_line(); }
  void line(std::string_view key, std::uint64_t value) { text(key).number(value).end_line(); }

  [[nodiscard]] std::string_view all() const { return {bytes_, size_}; }

 private:
  static constexpr std::size_t kLines = 32;  // more than any record has

  void push(char c) {
    if (size_ < sizeof bytes_ - kLines) bytes_[size_++] = c;
  }

  static inline char bytes_[runner::kMostRecord];
  std::size_t size_ = 0;
};

}  // namespace kron::exec
