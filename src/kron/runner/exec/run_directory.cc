#include "kron/runner/exec/run_directory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/runner/protocol.h"

namespace kron::exec {

RunDirectory::~RunDirectory() {
  if (fd_ >= 0) ::close(fd_);
  if (started_ >= 0) ::close(started_);
}

int RunDirectory::get() {
  if (fd_ >= 0) return fd_;
  was_there_ = ::mkdirat(runs_, name_, 0700) != 0;
  if (was_there_ && errno != EEXIST) return -1;
  fd_ = ::openat(runs_, name_, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  return fd_;
}

void RunDirectory::note_start() {
  const int directory = get();
  if (was_there_) ::unlinkat(directory, runner::kExitName, 0);
  started_ = ::openat(directory, runner::kStartedName, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  // Only where there may be something: ext4 waits for the disk when a file is closed that was truncated and written.
  if (was_there_ && started_ >= 0) (void)!::ftruncate(started_, 0);
}

void RunDirectory::forget_processes() const {
  if (started_ < 0) return;
  (void)!::ftruncate(started_, 0);
  ::lseek(started_, 0, SEEK_SET);
}

}  // namespace kron::exec
