#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/descriptor.h"

namespace kron::runner {

// The line that stands where `bytes` of a run's output are missing, with its newline.
std::string cut_line(std::uint64_t bytes);

// What a run writes, as it comes. The file that holds it is replaced when it has grown too large, by one that holds its
// newest part (docs/formats.md), and long after the end of the run by a compressed one. Positions count what the
// command wrote, whatever has been cut since. For one thread.
class OutputTail {
 public:
  // `runs_directory`: <state-dir>/runs; the run need not have written anything yet. What it wrote before `from` is not
  // given.
  OutputTail(std::string_view runs_directory, std::string_view run_id, std::uint64_t from = 0);

  struct Piece {
    std::string bytes;
    std::uint64_t lost = 0;  // bytes that were cut before we came to read them: they are missing before these …
    std::uint64_t cut = 0;   // … and if any are, what was cut from the start of the output in all
  };
  // What comes next, at most so much; no bytes: nothing has come since.
  Piece read(std::size_t most);

  // What there is to read now, of what the command wrote: from the first byte that was not cut, up to the last.
  struct Extent {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  Extent extent();

  // The position after what was read.
  [[nodiscard]] std::uint64_t position() const { return position_; }

 private:
  bool open_newest();
  [[nodiscard]] std::string read_file(std::size_t most) const;

  std::string directory_;
  Descriptor file_;
  bool is_last_ = false;    // it will not be replaced
  std::uint64_t mark_ = 0;  // bytes of the line that says how much was cut, at the file's start
  std::uint64_t cut_ = 0;   // what the command wrote before the first byte after that line
  std::uint64_t position_ = 0;
};

inline constexpr std::size_t kMostTailLine = std::size_t{64} << 10;  // a longer line comes in pieces

// The same as whole lines. For one thread.
class LineTail {
 public:
  // `from` is the end of a line that was given before.
  LineTail(std::string_view runs_directory, std::string_view run_id, std::uint64_t from = 0);

  struct Line {
    std::string text;       // with its newline; without one: a piece of a line, or the end of all
    std::uint64_t end = 0;  // the position after it

    bool operator==(const Line&) const = default;
  };
  // The next lines, at least one if there is one, else so many or so many bytes at most. `is_over`: nothing more will
  // be written, so a last line without a newline is one, too.
  std::vector<Line> next(std::size_t most_lines, std::size_t most_bytes, bool is_over);
  // Whether next() would give any.
  bool has_more(bool is_over);

 private:
  bool fill();
  [[nodiscard]] std::size_t size_of_next(bool is_over) const;

  OutputTail tail_;
  std::string buffer_;       // read, and not given
  std::size_t used_ = 0;     // of its front, given
  std::vector<Line> ready_;  // to be given before the buffer
};

}  // namespace kron::runner
