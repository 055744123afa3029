#include "kron/runner/output_tail.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>
#include <zlib.h>

#include "kron/runner/compression.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

constexpr std::string_view kCutBefore = "[kron: ";
constexpr std::string_view kCutAfter = " bytes cut here]\n";
constexpr std::size_t kTailPiece = std::size_t{64} << 10;

// The line at the start of a file whose oldest bytes were dropped.
struct CutMark {
  std::uint64_t size = 0;
  std::uint64_t cut = 0;
};
CutMark cut_mark_of(int file) {
  std::array<char, 80> head{};
  const ssize_t size = uninterrupted([&] { return ::pread(file, head.data(), head.size(), 0); });
  std::string_view text(head.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  if (!text.starts_with(kCutBefore)) return {};
  CutMark mark;
  const char* const number = head.data() + kCutBefore.size();
  const auto [end, error] = std::from_chars(number, head.data() + text.size(), mark.cut);
  text.remove_prefix(static_cast<std::size_t>(end - head.data()));
  if (error != std::errc() || !text.starts_with(kCutAfter)) return {};
  mark.size = static_cast<std::size_t>(end - head.data()) + kCutAfter.size();
  return mark;
}

// All of a compressed output, in memory: it is not larger than what a run may keep.
Descriptor decompressed(const std::string& path) {
  Descriptor packed(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!packed) return Descriptor();
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzdopen(packed.get(), "rb"), gzclose);
  if (!file) return Descriptor();
  (void)packed.release();  // closed with the file
  Descriptor plain(::memfd_create("kron-output", MFD_CLOEXEC));
  std::string part(kTailPiece, '\0');
  while (plain) {
    const int got = gzread(file.get(), part.data(), static_cast<unsigned>(part.size()));
    if (got <= 0) break;
    const auto size = static_cast<std::size_t>(got);
    if (uninterrupted([&] { return ::write(plain.get(), part.data(), size); }) != static_cast<ssize_t>(size)) break;
  }
  return plain;
}

}  // namespace

std::string cut_line(std::uint64_t bytes) {
  return std::string(kCutBefore) + std::to_string(bytes) + std::string(kCutAfter);
}

OutputTail::OutputTail(std::string_view runs_directory, std::string_view run_id, std::uint64_t from)
    : directory_(std::string(runs_directory) + "/" + std::string(run_id) + "/"), position_(from) {}

OutputTail::Piece OutputTail::read(std::size_t most) {
  if (!file_ && !open_newest()) return {};
  Piece piece;
  const auto read_on = [&] {
    if (position_ < cut_) {
      piece.lost = cut_ - position_;
      piece.cut = cut_;
      position_ = cut_;
    }
    piece.bytes = read_file(most);
  };
  read_on();
  // Only what is whole is replaced: all of the old file is read before the new one is looked for.
  if (piece.bytes.empty() && open_newest()) read_on();
  position_ += piece.bytes.size();
  return piece;
}

OutputTail::Extent OutputTail::extent() {
  open_newest();
  struct stat info {};
  if (!file_ || ::fstat(file_.get(), &info) != 0) return {};
  const auto size = static_cast<std::uint64_t>(info.st_size);
  return {cut_, cut_ + (size > mark_ ? size - mark_ : 0)};
}

std::string OutputTail::read_file(std::size_t most) const {
  std::string bytes(most, '\0');
  const auto at = static_cast<off_t>(mark_ + (position_ - cut_));
  const ssize_t size = uninterrupted([&] { return ::pread(file_.get(), bytes.data(), bytes.size(), at); });
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

// True when there is a file that was not open.
bool OutputTail::open_newest() {
  if (is_last_) return false;
  Descriptor file(::open((directory_ + kOutputName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  // While we have a plain file open, the compressed one holds the same.
  const bool is_packed = !file && !file_ && errno == ENOENT;
  if (is_packed) file = decompressed(directory_ + kCompressedOutputName);
  struct stat now {};
  struct stat before {};
  if (!file || ::fstat(file.get(), &now) != 0 || !S_ISREG(now.st_mode)) return false;
  if (file_ && ::fstat(file_.get(), &before) == 0 && now.st_ino == before.st_ino) return false;
  is_last_ = is_packed;
  const CutMark mark = cut_mark_of(file.get());
  file_ = std::move(file);
  mark_ = mark.size;
  cut_ = mark.cut;
  return true;
}

LineTail::LineTail(std::string_view runs_directory, std::string_view run_id, std::uint64_t from)
    : tail_(runs_directory, run_id, from) {}

// False: there is no more.
bool LineTail::fill() {
  OutputTail::Piece piece = tail_.read(kTailPiece);
  if (piece.lost > 0) {
    const std::uint64_t from = tail_.position() - piece.bytes.size();
    // The rest of the line is gone.
    if (used_ < buffer_.size()) ready_.push_back({buffer_.substr(used_) + "\n", from - piece.lost});
    ready_.push_back({cut_line(piece.lost), from});
    buffer_.clear();
    used_ = 0;
  }
  if (used_ > 0) buffer_.erase(0, std::exchange(used_, 0));
  buffer_ += piece.bytes;
  return !piece.bytes.empty() || piece.lost > 0;
}

// Of the line at the front of the buffer; 0: it is not whole.
std::size_t LineTail::size_of_next(bool is_over) const {
  const std::string_view rest = std::string_view(buffer_).substr(used_);
  const std::size_t newline = rest.substr(0, kMostTailLine + 1).find('\n');
  if (newline != std::string_view::npos) return newline + 1;
  if (rest.size() > kMostTailLine) return kMostTailLine;
  return is_over ? rest.size() : 0;
}

bool LineTail::has_more(bool is_over) {
  while (ready_.empty() && size_of_next(false) == 0) {
    if (!fill()) return size_of_next(is_over) > 0;
  }
  return true;
}

std::vector<LineTail::Line> LineTail::next(std::size_t most_lines, std::size_t most_bytes, bool is_over) {
  std::vector<Line> lines;
  std::size_t bytes = 0;
  while (lines.size() < most_lines) {
    if (!has_more(is_over)) break;
    const std::size_t size = ready_.empty() ? size_of_next(is_over) : ready_.front().text.size();
    if (!lines.empty() && bytes + size > most_bytes) break;
    if (!ready_.empty()) {
      bytes += size;
      lines.push_back(std::move(ready_.front()));
      ready_.erase(ready_.begin());
      continue;
    }
    used_ += size;
    bytes += size;
    lines.push_back({buffer_.substr(used_ - size, size), tail_.position() - (buffer_.size() - used_)});
  }
  return lines;
}

}  // namespace kron::runner
