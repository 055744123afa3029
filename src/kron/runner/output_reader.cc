#include "kron/runner/output_reader.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>
#include <zlib.h>

#include "kron/env/system_error.h"
#include "kron/runner/compression.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

constexpr off_t kTrailer = 4;       // the size, little-endian, ends the file
constexpr off_t kLeastGz = 18 + 2;  // head, an empty block, trailer

Result<Descriptor> open_regular(const RunFiles& files, const std::string& name) {
  Descriptor file(::openat(files.descriptor(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return fail(system_error("open", files.path() + "/" + name, errno));
  if (!S_ISREG(info.st_mode)) return fail(Code::refused, files.path() + "/" + name + " is no regular file");
  return file;
}

}  // namespace

void OutputReader::CloseGz::operator()(gzFile_s* file) const { gzclose(file); }

Result<OutputReader> OutputReader::open(const RunFiles& files, std::string_view run_id) {
  if (Status valid = check_run_id(run_id); !valid) return fail(valid.error());
  const std::string directory = std::string(run_id) + "/";
  // The plain one first: it goes only after the other is whole.
  Result<Descriptor> file = open_regular(files, directory + kOutputName);
  if (file) return OutputReader(files.path() + "/" + directory + kOutputName, *std::move(file));
  if (file.error().code != Code::not_found) return fail(file.error());
  file = open_regular(files, directory + kCompressedOutputName);
  if (!file && file.error().code == Code::not_found) {
    return fail(Code::not_found, "there is no output of the run " + std::string(run_id) +
                                     ": it has written nothing, or it is too old and was removed");
  }
  if (!file) return fail(file.error());
  OutputReader reader(files.path() + "/" + directory + kCompressedOutputName, *std::move(file));
  if (Status opened = reader.open_compressed(); !opened) return fail(opened.error());
  return reader;
}

Status OutputReader::open_compressed() {
  struct stat info {};
  unsigned char size[kTrailer] = {};
  if (::fstat(file_.get(), &info) != 0) return fail(system_error("look at", path_, errno));
  if (info.st_size < kLeastGz) return fail(Code::io, path_ + " is cut off; remove it");
  if (::pread(file_.get(), size, kTrailer, info.st_size - kTrailer) != kTrailer) {
    return fail(system_error("read", path_, errno));
  }
  for (int i = kTrailer - 1; i >= 0; --i) compressed_size_ = compressed_size_ << 8U | size[i];
  compressed_.reset(gzdopen(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0), "rb"));
  if (compressed_ == nullptr) return fail(system_error("open", path_, errno));
  return {};
}

Result<std::uint64_t> OutputReader::size() const {
  if (compressed_) return compressed_size_;
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) return fail(system_error("look at", path_, errno));
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::string> OutputReader::read(std::uint64_t offset, std::size_t length) {
  const Result<std::uint64_t> end = size();
  if (!end) return fail(end.error());
  if (offset >= *end) return std::string();
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>({length, kMostOutputRead, *end - offset})), '\0');
  const auto at = static_cast<off_t>(offset);
  ssize_t got = 0;
  if (compressed_) {
    const auto most = static_cast<unsigned>(bytes.size());
    got = gzseek(compressed_.get(), at, SEEK_SET) == at ? gzread(compressed_.get(), bytes.data(), most) : -1;
    if (got < 0) return fail(Code::io, "cannot read " + path_ + ": what was compressed is damaged; remove it");
  } else {
    got = uninterrupted([&] { return ::pread(file_.get(), bytes.data(), bytes.size(), at); });
    if (got < 0) return fail(system_error("read", path_, errno));
  }
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

bool OutputReader::is_current() const {
  struct stat own {};
  struct stat named {};
  return ::fstat(file_.get(), &own) == 0 && ::lstat(path_.c_str(), &named) == 0 && own.st_ino == named.st_ino &&
         own.st_dev == named.st_dev;
}

}  // namespace kron::runner
