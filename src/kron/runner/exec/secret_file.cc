#include "kron/runner/exec/secret_file.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/base/secret_files.h"

namespace kron::exec {
namespace {

constexpr mode_t kNotOthers = S_IWGRP | S_IRWXO;

bool only_root_can_change(const struct stat& directory) {
  return directory.st_uid == 0 && (directory.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Component by component, none of them a link. `is_roots`: nobody but root can have put a name into the path. Not
// blocking: a FIFO is opened, and then refused.
int open_by_steps(const char* path, bool& is_roots) {
  int at = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  is_roots = true;
  while (at >= 0) {
    struct stat about {};
    is_roots = is_roots && ::fstat(at, &about) == 0 && only_root_can_change(about);
    while (*path == '/') ++path;
    const std::size_t size = std::strcspn(path, "/");
    char name[NAME_MAX + 1];
    if (size == 0 || size > NAME_MAX) errno = size == 0 ? EISDIR : ENAMETOOLONG;
    if (size == 0 || size > NAME_MAX) break;
    std::memcpy(name, path, size);
    name[size] = 0;
    path += size;
    const bool is_last = *path == 0;
    const int flags = is_last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    const int next = ::openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    ::close(at);
    errno = error;
    if (is_last) return next;
    at = next;
  }
  if (at >= 0) {
    const int error = errno;
    ::close(at);
    errno = error;
  }
  return -1;
}

const char* refusal_of_file(const struct stat& about, uid_t user, bool is_trusted) {
  if (!S_ISREG(about.st_mode)) return "it is no regular file";
  if (about.st_uid != 0 && about.st_uid != user) return "it belongs neither to root nor to the user of the job";
  if ((about.st_mode & kNotOthers) != 0) {
    return "others can read or write it, or its group can write it; chmod 0600 it, or 0640";
  }
  if (about.st_uid != user && !is_trusted) {
    return "it is root's, and others than root can change a directory above it; put it below /etc";
  }
  if (static_cast<std::uint64_t>(about.st_size) > kMostSecretFile) return "the file is longer than 64 KiB";
  return nullptr;
}

const char* error_text() {
  // A link in the path, where none may be. Of a directory in the path the kernel says ENOTDIR.
  if (errno == ELOOP || errno == ENOTDIR) return "a part of its path is a symbolic link, or no directory";
  const char* const text = strerrordesc_np(errno);
  return text != nullptr ? text : "it cannot be read";
}

}  // namespace

SecretText::~SecretText() {
  if (bytes_ == nullptr) return;
  ::explicit_bzero(bytes_, kMostSecretFile + 2);
  std::free(bytes_);
}

const char* SecretText::read(const char* path, uid_t user) {
  bool is_trusted = true;
  const bool is_ours = user == ::geteuid();
  const int file =
      is_ours ? ::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : open_by_steps(path, is_trusted);
  if (file < 0) return is_ours ? strerrordesc_np(errno) : error_text();
  struct stat about {};
  const char* problem = ::fstat(file, &about) != 0 ? strerrordesc_np(errno) : refusal_of_file(about, user, is_trusted);
  // One byte more than a file may have, so that one that grows is seen; and one for a NUL.
  if (problem == nullptr && bytes_ == nullptr) bytes_ = static_cast<char*>(std::malloc(kMostSecretFile + 2));
  if (problem == nullptr && bytes_ == nullptr) problem = "there is no memory for it";
  size_ = 0;
  while (problem == nullptr && size_ <= kMostSecretFile) {
    const ssize_t got = ::read(file, bytes_ + size_, kMostSecretFile + 1 - size_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) problem = strerrordesc_np(errno);
    if (got <= 0) break;
    size_ += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (problem == nullptr && size_ > kMostSecretFile) problem = "the file is longer than 64 KiB";
  if (problem != nullptr) size_ = 0;
  return problem;
}

}  // namespace kron::exec
