#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/file_system.h"

namespace kron::history {

// One file of the journal. A day begins a new one, and so does a file that has become large:
// `2026-03-01.jsonl`, `2026-03-01.2.jsonl` …
struct Segment {
  std::chrono::sys_days day;
  std::uint32_t part = 1;

  auto operator<=>(const Segment&) const = default;
};
std::string segment_name(const Segment& segment);
std::optional<Segment> parse_segment_name(std::string_view name);

struct SegmentInfo {
  Segment segment;
  std::uint64_t size = 0;
  Instant modified;  // on the machine's clock
};

// Each line of a file that is not empty, as Journal::read has them.
using VisitLine = std::function<bool(std::string_view line, std::uint64_t end)>;
Status read_lines(Directory& directory, std::string_view name, std::uint64_t from, const VisitLine& visit);

inline constexpr std::uint64_t kMostSegment = 16 << 20;  // bytes, about: a file that has them gets no further line
inline constexpr std::size_t kMostLine = 1 << 20;

// Lines of text that are appended and never changed, in the files of one directory. Used by one thread.
class Journal {
 public:
  // Makes the directory (0700) when it is missing. `file_system` outlives the journal.
  static Result<std::unique_ptr<Journal>> open(FileSystem& file_system, const std::string& path);

  Result<std::vector<SegmentInfo>> segments() const;  // oldest first

  // The file that the next lines go to at this time. Lines that a crash cut off are ended in it.
  Result<Segment> choose(Instant now);
  // Whole lines, in one write, to the chosen file; durable when it returns its new size. After a failure some of them
  // may be there, and the next choose() puts that right.
  Result<std::uint64_t> append(std::string_view lines);

  // Each line that is not empty from a position on, without its newline, with the position after it; until `visit` says
  // false. The last one may be cut off: a crash can end it anywhere, its newline included.
  using Visit = VisitLine;
  Status read(const Segment& segment, std::uint64_t from, const Visit& visit) const;

  Status remove(const Segment& segment);

  Directory& directory() { return *directory_; }

 private:
  explicit Journal(FileSystem& file_system) : file_system_(file_system) {}

  Status open_segment(const Segment& segment);
  Status end_torn_line();
  Status sync_file();

  FileSystem& file_system_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<File> file_;  // of chosen_
  Segment chosen_;
  std::uint64_t size_ = 0;
};

}  // namespace kron::history
