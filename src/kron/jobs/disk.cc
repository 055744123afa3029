#include "kron/jobs/disk.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace kron::jobs {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{256} << 20;

tl::unexpected<Error> cannot(std::string_view what) {
  return fail(Code::io, "cannot " + std::string(what) + ": " + std::strerror(errno));
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr char kOthersWriteFile[] = "refused: others can write it, and so decide what runs; chmod go-w it";

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Who can write a directory can put another file in the place of one, unless the sticky bit keeps him from it.
bool others_can_replace_in(const struct stat& directory) {
  return (directory.st_mode & kOthersWrite) != 0 && (directory.st_mode & S_ISVTX) == 0;
}

std::string others_write_directory(const std::string& directory) {
  return "refused: others can write its directory " + directory +
         ", and so decide what runs; chown it to root or to the daemon's user and chmod go-w it";
}

// Of what is open, so that nobody can exchange it between the look and the reading.
Status check_trust(int descriptor, Trust trust) {
  if (trust == Trust::anyone) return {};
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return cannot("look at it");
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return fail(Code::refused, "refused: it is no plain file");
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return fail(Code::refused, "refused: it belongs to user " + std::to_string(info.st_uid) +
                                   ", who could so decide what runs; chown it to root or to the daemon's user");
  }
  if ((info.st_mode & kOthersWrite) != 0) return fail(Code::refused, kOthersWriteFile);
  return {};
}

// Who can write the directory can put another file in the place of this one, unless the sticky bit keeps him from it.
Status check_directory(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return cannot("look at its directory");
  const bool is_own = info.st_uid == 0 || info.st_uid == ::geteuid();
  if (is_own && !others_can_replace_in(info)) return {};
  return fail(Code::refused, others_write_directory(directory));
}

// Whoever looks at a file need not be the daemon's user, so whose it is says nothing.
std::string refusal_of(const std::string& path, const struct stat& info) {
  if ((info.st_mode & kOthersWrite) != 0) return kOthersWriteFile;
  const std::string directory = directory_of(path);
  struct stat above {};
  if (::stat(directory.c_str(), &above) != 0 || !others_can_replace_in(above)) return "";
  return others_write_directory(directory);
}

// The directory of the file, and of every link on the way to it.
Status check_directories_of(std::string path, Trust trust) {
  constexpr int kMostLinks = 40;  // as the kernel
  if (trust == Trust::anyone) return {};
  for (int links = 0; links <= kMostLinks; ++links) {
    const std::string directory = directory_of(path);
    if (Status trusted = check_directory(directory); !trusted) return trusted;
    std::vector<char> target(4096);
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0 && errno == EINVAL) return {};  // no link
    if (size < 0) return cannot("look at it");
    const std::string named(target.data(), static_cast<std::size_t>(size));
    path = named.starts_with('/') ? named : directory + "/" + named;
  }
  return fail(Code::refused, "refused: too many links lead to it; name the file itself");
}

Result<FileAccess::Facts> look_at(const std::string& path) {
  if (path == kStandardInput) return FileAccess::Facts{};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return cannot("read it");
  FileAccess::Facts facts{.is_directory = S_ISDIR(info.st_mode)};
  if (!S_ISREG(info.st_mode)) return facts;
  facts.others_can_write = (info.st_mode & S_IWOTH) != 0;
  facts.refusal = refusal_of(path, info);
  return facts;
}

Result<std::vector<std::string>> names_in(const std::string& path, Trust trust) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return cannot("read the directory");
  if (Status trusted = check_trust(::dirfd(directory.get()), trust); !trusted) return fail(trusted.error());
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(directory.get());) names.emplace_back(entry->d_name);
  if (errno != 0) return cannot("read the directory");
  return names;
}

Result<std::string> read_all(int descriptor) {
  std::string bytes;
  std::vector<char> chunk(std::size_t{1} << 16);
  for (;;) {
    const ssize_t size = ::read(descriptor, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot("read it");
    if (size == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(size));
    if (bytes.size() > kMostFileBytes) {
      return fail(Code::io, "larger than " + std::to_string(kMostFileBytes >> 20) + " MiB; split it");
    }
  }
}

}  // namespace

Result<std::string> contents_of(const std::string& path, Trust trust) {
  if (path == kStandardInput) return read_all(STDIN_FILENO);
  // A planted FIFO must not hold a daemon up; a person may well give one.
  const int waits = trust == Trust::anyone ? 0 : O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | waits);
  if (descriptor < 0) return cannot("read it");
  Status trusted = check_trust(descriptor, trust);
  if (trusted) trusted = check_directories_of(path, trust);
  Result<std::string> bytes = trusted ? read_all(descriptor) : fail(trusted.error());
  ::close(descriptor);
  return bytes;
}

FileAccess disk_files(Trust trust) {
  return {look_at, [trust](const std::string& path) { return names_in(path, trust); },
          [trust](const std::string& path) { return contents_of(path, trust); }};
}

}  // namespace kron::jobs
