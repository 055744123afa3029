#include "kron/runner/compression.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>
#include <vector>
#include <zlib.h>

#include "kron/env/system_error.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

constexpr char kUnfinishedName[] = ".output.gz";
constexpr std::size_t kChunk = 64 << 10;
// The format keeps the size modulo 2^32, and readers ask for the size.
constexpr off_t kMostSize = (off_t{1} << 32) - 1;

struct CloseGz {
  void operator()(gzFile file) const { gzclose(file); }
};

// An errno, or 0.
int copy_compressed(int from, int to) {
  std::unique_ptr<gzFile_s, CloseGz> out(gzdopen(::dup(to), "wb"));
  if (out == nullptr) return ENOMEM;
  std::vector<char> chunk(kChunk);
  for (;;) {
    const ssize_t got = uninterrupted([&] { return ::read(from, chunk.data(), chunk.size()); });
    if (got < 0) return errno;
    if (got == 0) break;
    if (gzwrite(out.get(), chunk.data(), static_cast<unsigned>(got)) != got) return errno != 0 ? errno : EIO;
  }
  if (gzclose(out.release()) != Z_OK) return errno != 0 ? errno : EIO;
  return ::fsync(to) == 0 ? 0 : errno;
}

// The directory of one run whose output is to be compressed.
class OldRun {
 public:
  OldRun(const RunFiles& files, const std::string& run_id)
      : path_(files.path() + "/" + run_id),
        directory_(::openat(files.descriptor(), run_id.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) {}

  Status compress() {
    struct stat before {};
    if (!directory_ || ::fstat(directory_.get(), &before) != 0) return failure("open");
    Status done = replace_output();
    const timespec times[] = {before.st_atim, before.st_mtim};
    ::futimens(directory_.get(), times);
    return done;
  }

 private:
  Status failure(std::string_view verb) const { return fail(system_error(verb, path_ + "/" + kOutputName, errno)); }

  // If we die before the rename, a leftover is overwritten the next time; if we die after it, both forms are there and
  // the plain one is compressed again.
  Status replace_output() {
    const int at = directory_.get();
    const Descriptor from(::openat(at, kOutputName, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!from) return failure("open");
    ::unlinkat(at, kUnfinishedName, 0);
    const Descriptor to(::openat(at, kUnfinishedName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!to) return failure("compress");
    errno = copy_compressed(from.get(), to.get());
    if (errno == 0 && ::renameat(at, kUnfinishedName, at, kCompressedOutputName) == 0 && ::fsync(at) == 0 &&
        ::unlinkat(at, kOutputName, 0) == 0) {
      return {};
    }
    Status failed = failure("compress");
    ::unlinkat(at, kUnfinishedName, 0);
    return failed;
  }

  std::string path_;
  Descriptor directory_;
};

bool is_worth_it(const RunFiles& files, const std::string& run_id, const Compression& compression, Instant now) {
  struct stat info {};
  const std::string name = run_id + "/" + kOutputName;
  if (::fstatat(files.descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  return S_ISREG(info.st_mode) && info.st_mtime < epoch_seconds(now - compression.after) &&
         info.st_size >= static_cast<off_t>(compression.least) && info.st_size <= kMostSize;
}

}  // namespace

Result<std::size_t> compress_old_output(RunFiles& files, const Compression& compression,
                                        const std::set<std::string>& active, Instant now, const std::stop_token& stop,
                                        Stayed* stayed) {
  std::vector<std::string> old;
  const Status listed = files.list([&](std::string_view run_id) {
    std::string id(run_id);
    if (!active.contains(id) && is_worth_it(files, id, compression, now)) old.push_back(std::move(id));
  });
  if (!listed) return fail(listed.error());
  std::size_t compressed = 0;
  for (const std::string& run_id : old) {
    if (stop.stop_requested()) break;
    if (const Status done = OldRun(files, run_id).compress(); done) {
      ++compressed;
    } else if (stayed != nullptr) {
      stayed->add(done.error());
    }
  }
  return compressed;
}

}  // namespace kron::runner
