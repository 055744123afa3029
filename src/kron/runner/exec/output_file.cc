#include "kron/runner/exec/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

constexpr char kNextOutput[] = ".output";
constexpr std::size_t kCopyAtOnce = 32 << 10;

int create(int directory, const char* name) {
  return ::openat(directory, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool write_all(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t taken = ::write(fd, bytes, size);
    if (taken < 0 && errno != EINTR) return false;
    bytes += std::max<ssize_t>(taken, 0);
    size -= static_cast<std::size_t>(std::max<ssize_t>(taken, 0));
  }
  return true;
}

}  // namespace

OutputFile::OutputFile(RunDirectory& directory, std::uint64_t most)
    : directory_(directory), most_(std::max(most, runner::kLeastCapture)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::append(const char* bytes, std::size_t size) {
  written_ += size;
  if (size > 0) last_ = bytes[size - 1];
  // A full disk must not stop the command: what cannot be kept is counted and dropped.
  while (size > 0 && error_ == 0) {
    const std::size_t stored = store(bytes, size);
    bytes += stored;
    size -= stored;
  }
}

std::size_t OutputFile::store(const char* bytes, std::size_t size) {
  if (fd_ < 0 && directory_.get() >= 0) fd_ = create(directory_.get(), runner::kOutputName);
  if (fd_ < 0 || (kept_ >= most_ && !start_over())) return give_up();
  const std::size_t part = std::min<std::uint64_t>(size, most_ - kept_);
  if (!write_all(fd_, bytes, part)) return give_up();
  kept_ += part;
  return part;
}

bool OutputFile::start_over() {
  const int directory = directory_.get();
  const int next = create(directory, kNextOutput);
  if (next < 0) return false;
  if (!copy_newest(fd_, next) || ::renameat(directory, kNextOutput, directory, runner::kOutputName) != 0) {
    const int error = errno;
    ::close(next);
    ::unlinkat(directory, kNextOutput, 0);
    errno = error;
    return false;
  }
  ::close(fd_);
  fd_ = next;
  return true;
}

// From the start of a line, if one starts in the first part.
bool OutputFile::copy_newest(int from, int to) {
  static char part[kCopyAtOnce];
  off_t at = static_cast<off_t>(mark_ + kept_ - most_ / 2);
  ssize_t got = ::pread(from, part, sizeof part, at);
  const char* start = part;
  if (got > 0) {
    const void* line_end = std::memchr(part, '\n', static_cast<std::size_t>(got));
    if (line_end != nullptr) start = static_cast<const char*>(line_end) + 1;
  }
  const std::uint64_t skipped = static_cast<std::uint64_t>(start - part);
  const std::uint64_t keeps = most_ / 2 - skipped;
  const std::uint64_t cut = cut_ + kept_ - keeps;
  char mark[80];
  const int mark_size =
      std::snprintf(mark, sizeof mark, "[kron: %llu bytes cut here]\n", static_cast<unsigned long long>(cut));
  if (!write_all(to, mark, static_cast<std::size_t>(mark_size))) return false;
  while (got > 0) {
    const char* const end = part + got;
    if (!write_all(to, start, static_cast<std::size_t>(end - start))) return false;
    at += got;
    got = ::pread(from, part, sizeof part, at);
    start = part;
  }
  if (got < 0) return false;
  mark_ = static_cast<std::uint64_t>(mark_size);
  kept_ = keeps;
  cut_ = cut;
  return true;
}

std::size_t OutputFile::give_up() {
  error_ = errno;
  return 0;
}

}  // namespace kron::exec
