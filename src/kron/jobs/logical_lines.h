#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/problem.h"

namespace kron::jobs {

// One line of a .kron file with the lines that a backslash at its end joins to it.
struct LogicalLine {
  struct Piece {
    std::size_t start;  // first byte in `text`
    Position at;        // where that byte stands in the file
  };

  std::string_view text;
  std::vector<Piece> pieces;

  [[nodiscard]] Position position_of(std::size_t offset) const;
};

// Walks a text by logical lines; blank ones and comments (`#` first) are passed by, a BOM and CRLF are tolerated.
// Lines that cannot be read (NUL and control bytes, invalid UTF-8, too long) are reported and passed by.
class LogicalLines {
 public:
  LogicalLines(std::string_view text, std::size_t most_bytes, Report& report);

  // The next line, or null at the end. Valid until the next call.
  const LogicalLine* next();

 private:
  std::string_view take_physical();
  void take_logical(std::string_view first);
  bool is_readable();

  std::string_view rest_;
  std::size_t most_bytes_;
  Report& report_;
  std::size_t line_number_ = 0;
  std::string joined_;  // the text of a line that was continued
  LogicalLine line_;
};

// Cuts a UTF-8 BOM off; reports text that is plainly UTF-16 and gives nothing then.
std::string_view without_bom(std::string_view text, Report& report);

}  // namespace kron::jobs
