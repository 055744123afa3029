#include "kron/jobs/logical_lines.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

// Nothing but what ASCII can print: true for almost every line, and told by eight bytes at a time. Of a byte that is
// below 0x20, above 0x7E, or has its top bit set, one of the three terms has it set; of any other, none.
bool is_printable_ascii(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101'0101'0101'0101;
  std::uint64_t bytes = 0;
  std::uint64_t bad = 0;
  const auto look = [&] { bad |= (bytes - kEach * 0x20) | (bytes + kEach) | bytes; };
  for (; text.size() >= sizeof bytes; text.remove_prefix(sizeof bytes)) {
    std::memcpy(&bytes, text.data(), sizeof bytes);
    look();
  }
  bytes = kEach * ' ';
  std::memcpy(&bytes, text.data(), text.size());
  look();
  return (bad & kEach * 0x80) == 0;
}

}  // namespace

Position LogicalLine::position_of(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(pieces, offset, {}, &Piece::start);
  const Piece& piece = *std::prev(after);
  return {piece.at.line, piece.at.column + (offset - piece.start)};
}

std::string_view without_bom(std::string_view text, Report& report) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    report.error({1, 1}, "", "this file is UTF-16", "save it as UTF-8");
    return {};
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

LogicalLines::LogicalLines(std::string_view text, std::size_t most_bytes, Report& report)
    : rest_(without_bom(text, report)), most_bytes_(most_bytes), report_(report) {}

std::string_view LogicalLines::take_physical() {
  ++line_number_;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

const LogicalLine* LogicalLines::next() {
  while (!rest_.empty()) {
    const std::string_view first = take_physical();
    const std::size_t start = first.find_first_not_of(" \t");
    if (start == std::string_view::npos || first[start] == '#') continue;
    take_logical(first);
    if (is_readable()) return &line_;
  }
  return nullptr;
}

void LogicalLines::take_logical(std::string_view first) {
  line_.pieces.assign(1, {0, {line_number_, 1}});
  line_.text = first;
  if (!first.ends_with('\\')) return;
  joined_ = first.substr(0, first.size() - 1);
  for (bool goes_on = true; goes_on && !rest_.empty();) {
    std::string_view more = take_physical();
    goes_on = more.ends_with('\\');
    if (goes_on) more.remove_suffix(1);
    line_.pieces.push_back({joined_.size(), {line_number_, 1}});
    if (joined_.size() <= most_bytes_) joined_ += more;
  }
  line_.text = joined_;
}

bool LogicalLines::is_readable() {
  const Position start = line_.pieces.front().at;
  if (line_.text.size() > most_bytes_) {
    report_.error(start, "", "the line is longer than " + std::to_string(most_bytes_ >> 10) + " KiB",
                  "put the command into a script");
    return false;
  }
  if (is_printable_ascii(line_.text)) return true;
  const auto is_bad = [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; };
  const auto bad = std::ranges::find_if(line_.text, is_bad);
  if (bad != line_.text.end()) {
    const auto offset = static_cast<std::size_t>(bad - line_.text.begin());
    report_.error(line_.position_of(offset), "",
                  *bad == '\0' ? "a NUL byte" : "a control character " + quoted(line_.text.substr(offset, 1)),
                  "job files are plain text in UTF-8; YAML can say control characters");
    return false;
  }
  if (!is_valid_utf8(line_.text)) {
    report_.error(start, "", "the line is not valid UTF-8", "convert the file, for example with iconv -t UTF-8");
    return false;
  }
  return true;
}

}  // namespace kron::jobs
