#include "kron/runner/exec/credential_directory.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kron::exec {
namespace {

constexpr int kOpenPlace = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr int kAttempts = 16;  // at what others may take away in between
constexpr int kDeepest = 16;   // of directories that the job made below it
constexpr int kRounds = 64;    // through a directory to which somebody may still be adding
constexpr const char* kCannotMake = "make the directory for the credentials";

// As the kernel has it; opendir() would ask for memory.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

// A directory that the job has made in its own, which it may have closed to itself.
void remove_below(int directory, const char* name, int depth) {
  const int below = ::openat(directory, name, kOpenPlace);
  if (below >= 0) {
    (void)::fchmod(below, 0700);
    (void)empty_directory(below, depth + 1);
    ::close(below);
  }
  (void)::unlinkat(directory, name, AT_REMOVEDIR);
}

}  // namespace

bool empty_directory(int directory, int depth) {
  if (depth > kDeepest) return false;
  alignas(Entry) char entries[4096];
  for (int round = 0; round < kRounds; ++round) {
    ::lseek(directory, 0, SEEK_SET);
    const long size = ::syscall(SYS_getdents64, directory, entries, sizeof entries);
    if (size <= 0) return size == 0;
    std::size_t found = 0;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      const char* name = entries + at + offsetof(Entry, name);
      at += entry->size;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      ++found;
      if (::unlinkat(directory, name, 0) != 0 && (errno == EISDIR || errno == EPERM))
        remove_below(directory, name, depth);
    }
    if (found == 0) return true;
  }
  return false;
}

const char* CredentialDirectory::make(const char* above, const char* run_id) {
  const int size = std::snprintf(path_, sizeof path_, "%s/%s", above, run_id);
  name_ = run_id;
  above_path_ = above;
  errno = ENAMETOOLONG;
  if (size < 0 || static_cast<std::size_t>(size) >= sizeof path_) return kCannotMake;
  // Whoever leaves it empty removes it, a run that ends beside us, too.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (above_ >= 0) ::close(above_);
    if (::mkdir(above, 0711) != 0 && errno != EEXIST) return kCannotMake;
    above_ = ::open(above, kOpenPlace);
    struct stat about {};
    if (above_ < 0 && errno == ENOENT) continue;
    if (above_ < 0 || ::fstat(above_, &about) != 0) return kCannotMake;
    errno = EPERM;
    if (about.st_uid != ::geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) return kCannotMake;
    // The mask that we were started with may have taken from it; who enters by name can list nothing.
    (void)::fchmod(above_, 0711);
    if (::mkdirat(above_, name_, 0700) != 0 && errno != EEXIST) {
      if (errno == ENOENT) continue;
      return kCannotMake;
    }
    directory_ = ::openat(above_, name_, kOpenPlace);
    if (directory_ < 0 && errno == ENOENT) continue;
    if (directory_ < 0 || ::flock(directory_, LOCK_EX | LOCK_NB) != 0) break;
    // Between the two somebody may have taken it for a left-over one.
    struct stat own {};
    const bool is_there = ::fstat(directory_, &own) == 0 && own.st_nlink > 0;
    // What an earlier helper of this run has left is not this run's.
    if (is_there && ::fchmod(directory_, 0700) == 0 && empty_directory(directory_)) return nullptr;
    ::close(directory_);
    directory_ = -1;
  }
  if (directory_ >= 0) ::close(directory_);
  directory_ = -1;
  return kCannotMake;
}

const char* CredentialDirectory::add(const char* name, std::string_view content, uid_t user, gid_t group) const {
  const int file = ::openat(directory_, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
  if (file < 0) return "write the credential";
  bool is_whole = ::fchmod(file, 0400) == 0 && (::geteuid() == user || ::fchown(file, user, group) == 0);
  while (is_whole && !content.empty()) {
    const ssize_t taken = ::write(file, content.data(), content.size());
    is_whole = taken > 0 || (taken < 0 && errno == EINTR);
    if (taken > 0) content.remove_prefix(static_cast<std::size_t>(taken));
  }
  const int error = errno;
  ::close(file);
  errno = error;
  return is_whole ? nullptr : "write the credential";
}

const char* CredentialDirectory::give_to(uid_t user, gid_t group) const {
  const bool is_given =
      ::fchmod(directory_, 0500) == 0 && (::geteuid() == user || ::fchown(directory_, user, group) == 0);
  return is_given ? nullptr : "hand over the credentials";
}

void CredentialDirectory::remove() {
  if (directory_ >= 0) {
    (void)::fchmod(directory_, 0700);
    (void)empty_directory(directory_);
    (void)::unlinkat(above_, name_, AT_REMOVEDIR);
    ::close(directory_);
    directory_ = -1;
    (void)::rmdir(above_path_);  // unless others have theirs in it
  }
  if (above_ >= 0) ::close(above_);
  above_ = -1;
}

}  // namespace kron::exec
