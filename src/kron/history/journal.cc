#include "kron/history/journal.h"

#include <algorithm>
#include <charconv>

#include "kron/base/rfc3339.h"

namespace kron::history {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDayLength = 10;  // 2026-03-01
constexpr std::size_t kChunk = 256 << 10;

// Gathers lines from pieces of a file. One beyond kMostLine is passed over.
class LineGatherer {
 public:
  LineGatherer(std::uint64_t position, const Journal::Visit& visit) : position_(position), visit_(visit) {}

  // False: enough.
  bool take(std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
      keep(piece.substr(0, end));
      ++position_;
      if (!finish()) return false;
      piece.remove_prefix(end + 1);
    }
    keep(piece);
    return true;
  }

  bool finish() {
    const bool more = too_long_ || line_.empty() || visit_(line_, position_);
    line_.clear();
    too_long_ = false;
    return more;
  }

 private:
  void keep(std::string_view piece) {
    too_long_ = too_long_ || line_.size() + piece.size() > kMostLine;
    if (!too_long_) line_ += piece;
    position_ += piece.size();
  }

  std::string line_;
  bool too_long_ = false;
  std::uint64_t position_;
  const Journal::Visit& visit_;
};

}  // namespace

std::string segment_name(const Segment& segment) {
  std::string name = rfc3339(Instant(segment.day)).substr(0, kDayLength);
  if (segment.part != 1) name += "." + std::to_string(segment.part);
  return name.append(kSuffix);
}

std::optional<Segment> parse_segment_name(std::string_view name) {
  if (name.size() < kDayLength + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  const Result<Instant> midnight = parse_rfc3339(std::string(name.substr(0, kDayLength)) + "T00:00:00Z");
  if (!midnight) return std::nullopt;
  Segment segment{std::chrono::floor<std::chrono::days>(*midnight)};
  std::string_view part = name.substr(kDayLength, name.size() - kDayLength - kSuffix.size());
  if (!part.empty()) std::from_chars(part.data() + 1, part.data() + part.size(), segment.part);
  if (segment_name(segment) != name) return std::nullopt;
  return segment;
}

Result<std::unique_ptr<Journal>> Journal::open(FileSystem& file_system, const std::string& path) {
  std::unique_ptr<Journal> journal(new Journal(file_system));
  Result<std::unique_ptr<Directory>> directory = open_or_make_directory(file_system, path, 0700);
  if (!directory) return fail(directory.error());
  journal->directory_ = *std::move(directory);
  return journal;
}

Result<std::vector<SegmentInfo>> Journal::segments() const {
  std::vector<SegmentInfo> found;
  const Status listed = directory_->list([&](std::string_view name, FileType type) {
    const std::optional<Segment> segment = parse_segment_name(name);
    if (segment && type == FileType::regular) found.push_back({*segment, 0, {}});
  });
  if (!listed) return fail(listed.error());
  for (SegmentInfo& segment : found) {
    const Result<FileInfo> info = directory_->info(segment_name(segment.segment));
    if (!info) return fail(info.error());
    segment.size = info->size;
    segment.modified = info->modified;
  }
  std::ranges::sort(found, {}, &SegmentInfo::segment);
  return found;
}

Result<Segment> Journal::choose(Instant now) {
  const auto day = std::chrono::floor<std::chrono::days>(now);
  if (file_ && chosen_.day == day && size_ < kMostSegment) return chosen_;
  Result<std::vector<SegmentInfo>> known = segments();
  if (!known) return fail(known.error());
  Segment segment{day};
  for (const SegmentInfo& info : *known) {
    if (info.segment.day != day) continue;
    segment.part = info.segment.part + (info.size < kMostSegment ? 0U : 1U);
  }
  if (Status opened = open_segment(segment); !opened) return fail(opened.error());
  return chosen_;
}

Status Journal::open_segment(const Segment& segment) {
  Result<std::unique_ptr<File>> file = directory_->append(segment_name(segment), 0600);
  if (!file) return fail(file.error());
  file_ = *std::move(file);
  chosen_ = segment;
  Status ready = end_torn_line();
  if (ready) ready = directory_->sync();
  if (!ready) file_.reset();
  return ready;
}

Status Journal::end_torn_line() {
  const std::string name = segment_name(chosen_);
  const Result<FileInfo> info = directory_->info(name);
  if (!info) return fail(info.error());
  size_ = info->size;
  if (size_ == 0) return {};
  const Result<std::string> last = directory_->read_part(name, size_ - 1, 1);
  if (!last) return fail(last.error());
  if (*last == "\n") return {};
  if (Status written = write_all(*file_, "\n"); !written) return written;
  ++size_;
  return {};
}

Status Journal::sync_file() {
  File* const files[] = {file_.get()};
  return file_system_.sync_together(files).front();
}

Result<std::uint64_t> Journal::append(std::string_view lines) {
  if (lines.empty()) return size_;
  Status durable = write_all(*file_, lines);
  if (durable) durable = sync_file();
  if (!durable) {
    file_.reset();
    return fail(durable.error());
  }
  size_ += lines.size();
  return size_;
}

Status Journal::read(const Segment& segment, std::uint64_t from, const Visit& visit) const {
  return read_lines(*directory_, segment_name(segment), from, visit);
}

Status read_lines(Directory& directory, std::string_view name, std::uint64_t from, const VisitLine& visit) {
  LineGatherer lines(from, visit);
  for (std::uint64_t at = from;;) {
    const Result<std::string> chunk = directory.read_part(name, at, kChunk);
    if (!chunk) return fail(chunk.error());
    if (chunk->empty()) lines.finish();
    if (chunk->empty() || !lines.take(*chunk)) return {};
    at += chunk->size();
  }
}

Status Journal::remove(const Segment& segment) {
  if (file_ && segment == chosen_) file_.reset();
  return directory_->remove(segment_name(segment));
}

}  // namespace kron::history
