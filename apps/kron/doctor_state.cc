#include <cerrno>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "doctor.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/env/file_locks.h"
#include "kron/env/real_file_system.h"
#include "kron/env/safe_place.h"
#include "kron/env/system_error.h"
#include "kron/state/names.h"

namespace kron::cli {
namespace {

constexpr char kState[] = "state";
constexpr std::uint64_t kLittleSpace = std::uint64_t{100} << 20;
constexpr std::uint64_t kNoSpace = std::uint64_t{10} << 20;
constexpr std::uint64_t kFewFiles = 10'000;
constexpr Seconds kSlack{60};  // a file may be a little ahead of a clock that is being corrected

class StateExamination {
 public:
  StateExamination(const std::string& path, const ConfiguredJobs& jobs, Instant now, Findings& findings)
      : path_(path), jobs_(jobs), now_(now), findings_(findings) {}

  void run() {
    struct stat info {};
    if (::lstat(path_.c_str(), &info) != 0) {
      const bool is_missing = errno == ENOENT;
      return find(is_missing ? Verdict::warning : Verdict::problem, system_error("look at", path_, errno).message,
                  is_missing ? "krond makes it when it first starts; --state-dir names another" : "");
    }
    if (!S_ISDIR(info.st_mode)) return find(Verdict::problem, path_ + " is no directory", "name another: --state-dir");
    examine_permissions(info);
    if (const Status safe = check_place(path_); !safe) find(Verdict::problem, path_ + ": " + safe.error().message);
    auto opened = files_.open_directory(path_);
    if (!opened) return find(Verdict::problem, opened.error().message, "ask as root, or as krond's user");
    directory_ = *std::move(opened);
    examine_lock(info);
    examine_space();
    const std::size_t bad_records = examine_records(*directory_, jobs_, now_, findings_);
    examine_files(bad_records);
  }

 private:
  void find(Verdict verdict, std::string what, std::string cure = {}) {
    findings_.push_back({verdict, kState, std::move(what), std::move(cure)});
  }

  void examine_permissions(const struct stat& info) {
    const bool is_own = info.st_uid == ::geteuid() || ::geteuid() == 0;
    if (!is_own) {
      find(Verdict::problem, path_ + " belongs to user " + std::to_string(info.st_uid),
           "ask as that user or as root, or chown it");
    } else if ((info.st_mode & 077) != 0) {
      find((info.st_mode & 022) != 0 ? Verdict::problem : Verdict::warning,
           path_ + " is open to others, and holds what jobs print", "chmod 700 " + path_);
    } else {
      find(Verdict::ok, path_ + " belongs to user " + std::to_string(info.st_uid) + " alone");
    }
  }

  // Asked of the kernel, because trying to lock could keep a krond from starting.
  void examine_lock(const struct stat& directory) {
    const std::string path = path_ + "/" + std::string(kLockName);
    const auto contents = directory_->read(kLockName, 64);
    struct stat info {};
    const bool is_there = contents && ::lstat(path.c_str(), &info) == 0;
    const std::string of_file = is_there ? flock_holder(info.st_ino) : "";
    const std::string of_directory = flock_holder(directory.st_ino);
    const std::string pid = is_there ? std::string(trimmed(contents->bytes)) : "";
    if (!of_file.empty()) {
      find(Verdict::ok, "process " + pid + " works on it");
    } else if (!of_directory.empty()) {
      find(Verdict::warning, "process " + of_directory + " works on it, and its lock file was removed",
           "start krond again when it suits; nobody else gets in meanwhile");
    } else if (!is_there) {
      find(Verdict::ok, "no krond has worked here yet");
    } else {
      find(Verdict::warning, "no krond works on it now; the last was process " + pid, "start krond");
    }
  }

  void examine_space() {
    struct statvfs disk {};
    if (::statvfs(path_.c_str(), &disk) != 0) {
      return find(Verdict::warning, system_error("ask for the free space of", path_, errno).message);
    }
    const std::uint64_t bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    const std::string free = std::to_string(bytes >> 20) + " MiB and " + std::to_string(disk.f_favail) + " files free";
    const char* cure = "make room: what cannot be recorded is not run";
    if ((disk.f_flag & ST_RDONLY) != 0) {
      find(Verdict::problem, "the file system is mounted read-only", "mount it for writing");
    } else if (bytes < kNoSpace || (disk.f_files > 0 && disk.f_favail == 0)) {
      find(Verdict::problem, free, cure);
    } else if (bytes < kLittleSpace || (disk.f_files > 0 && disk.f_favail < kFewFiles)) {
      find(Verdict::warning, free, cure);
    } else {
      find(Verdict::ok, free);
    }
  }

  void note(Directory& directory, std::string_view name, FileType type) {
    if (name.find(".corrupt.") != std::string_view::npos) {
      if (corrupt_++ == 0) first_corrupt_ = entry_path(directory.path(), name);
    }
    if (type != FileType::regular) return;
    const auto info = directory.info(name);
    if (!info || info->modified <= now_ + kSlack) return;
    if (future_++ == 0) first_future_ = entry_path(directory.path(), name) + " of " + rfc3339(info->modified);
  }

  void look_through(Directory& directory) {
    static_cast<void>(directory.list([&](std::string_view name, FileType type) { note(directory, name, type); }));
  }

  void examine_files(std::size_t bad_records) {
    look_through(*directory_);
    for (const char* place : {"pending", "running", "completed"}) {
      const auto tasks = files_.open_directory(path_ + "/data/tasks/" + place);
      if (tasks) look_through(**tasks);
    }
    if (corrupt_ > 0) {
      find(Verdict::warning, std::to_string(corrupt_) + " damaged files were set aside, the first is " + first_corrupt_,
           "look what they held, then remove them; check the disk if there are more");
    }
    if (future_ > 0) {
      find(Verdict::warning, std::to_string(future_) + " files are from the future, the first is " + first_future_,
           "the clock has been ahead, or is behind now: see that it is right");
    }
    if (corrupt_ + future_ + bad_records == 0) find(Verdict::ok, "all records are readable");
  }

  const std::string& path_;
  const ConfiguredJobs& jobs_;
  Instant now_;
  Findings& findings_;
  RealFileSystem files_;
  std::unique_ptr<Directory> directory_;
  std::size_t corrupt_ = 0, future_ = 0;
  std::string first_corrupt_, first_future_;
};

}  // namespace

void examine_state(const std::string& state_directory, const ConfiguredJobs& jobs, Instant now, Findings& findings) {
  StateExamination(state_directory, jobs, now, findings).run();
}

}  // namespace kron::cli
