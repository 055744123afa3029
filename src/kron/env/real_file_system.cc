#include "kron/env/real_file_system.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "kron/env/descriptor.h"
#include "kron/env/file_locks.h"
#include "kron/env/system_error.h"

namespace kron {
namespace {

FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return FileType::regular;
  if (S_ISDIR(mode)) return FileType::directory;
  if (S_ISLNK(mode)) return FileType::symlink;
  return FileType::other;
}

FileType type_of_entry(const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return FileType::regular;
    case DT_DIR:
      return FileType::directory;
    case DT_LNK:
      return FileType::symlink;
    default:
      return FileType::other;
  }
}

FileInfo info_of(const struct stat& status) {
  return FileInfo{type_of(status.st_mode),
                  status.st_uid,
                  status.st_mode & 07777,
                  static_cast<std::uint64_t>(status.st_size),
                  instant_of(status.st_mtim.tv_sec),
                  static_cast<std::uint64_t>(status.st_dev)};
}

class RealFile : public File {
 public:
  // `length`: of a file that is written anew; the rest of it goes when it is synced.
  RealFile(Descriptor fd, std::string path, std::uint64_t length = 0)
      : fd_(std::move(fd)), path_(std::move(path)), length_(length) {}

  Result<std::size_t> write(std::string_view bytes) override {
    const ssize_t taken = ::write(fd_.get(), bytes.data(), bytes.size());
    if (taken >= 0) {
      written_ += static_cast<std::uint64_t>(taken);
      return static_cast<std::size_t>(taken);
    }
    if (errno == EINTR) return std::size_t{0};
    return fail(system_error("write", path_, errno));
  }

  // Hands the data to the disk without waiting; only a hint, so its failures show in the sync that follows.
  void start_sync() const { ::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

  Status sync() const {
    if (written_ < length_ && ::ftruncate(fd_.get(), static_cast<off_t>(written_)) != 0) {
      return fail(system_error("write", path_, errno));
    }
    if (uninterrupted([&] { return ::fsync(fd_.get()); }) == 0) return {};
    return fail(system_error("sync", path_, errno));
  }

 private:
  Descriptor fd_;
  std::string path_;
  std::uint64_t length_;
  std::uint64_t written_ = 0;
};

// On the file, and on the directory that it is in.
class RealLock : public Lock {
 public:
  RealLock(Descriptor file, std::shared_ptr<const Descriptor> directory)
      : file_(std::move(file)), directory_(std::move(directory)) {}
  // The directory stays open for those who use it.
  ~RealLock() override { ::flock(directory_->get(), LOCK_UN); }
  RealLock(const RealLock&) = delete;
  RealLock& operator=(const RealLock&) = delete;

 private:
  Descriptor file_;
  std::shared_ptr<const Descriptor> directory_;
};

// So many bytes from a position on, or what there is of them; nothing when a read failed (errno says why).
std::optional<std::string> read_bytes(int fd, std::uint64_t from, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const auto at = static_cast<off_t>(from + have);
    const ssize_t got = uninterrupted([&] { return ::pread(fd, bytes.data() + have, size - have, at); });
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

// The PID that whoever has the lock wrote into the file.
std::string holder_of(int fd) {
  std::string pid = "unknown";
  char text[20];
  const ssize_t size = uninterrupted([&] { return ::pread(fd, text, sizeof text, 0); });
  if (size > 0) pid.assign(text, static_cast<std::size_t>(size));
  return pid;
}

// A process that is killed while it starts another leaves its locks to that one until it executes its program: then
// nobody owns what is locked, and a moment later it is free.
bool has_died(const std::string& pid) {
  const long number = std::strtol(pid.c_str(), nullptr, 10);
  return number > 0 && ::kill(static_cast<pid_t>(number), 0) != 0 && errno == ESRCH;
}

class OpenNames : public NameReader {
 public:
  OpenNames(DIR* stream, std::string path) : stream_(stream, ::closedir), path_(std::move(path)) {}

  Result<bool> next(std::size_t most, const std::function<void(std::string_view)>& visit) override {
    while (most > 0) {
      errno = 0;
      const dirent* entry = ::readdir(stream_.get());
      if (entry == nullptr) {
        if (errno != 0) return fail(system_error("list", path_, errno));
        return false;
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      visit(name);
      --most;
    }
    return true;
  }

 private:
  std::unique_ptr<DIR, int (*)(DIR*)> stream_;
  std::string path_;
};

constexpr int kLookAgain = 200;
constexpr useconds_t kBetweenLooks = 10'000;

// Network file systems lock whole files only, and those only when they are open for writing.
bool cannot_lock_directories(int error) {
  return error == EBADF || error == EINVAL || error == EISDIR || error == EOPNOTSUPP || error == ENOSYS;
}

class RealDirectory : public Directory {
 public:
  RealDirectory(Descriptor fd, std::string path)
      : fd_(std::make_shared<Descriptor>(std::move(fd))), path_(std::move(path)) {}

  const std::string& path() const override { return path_; }

  Result<std::unique_ptr<File>> create(std::string_view name, mode_t mode) override {
    auto fd = open("create", name, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!fd) return fail(fd.error());
    return std::make_unique<RealFile>(std::move(*fd), path_of(name));
  }

  Result<std::unique_ptr<File>> append(std::string_view name, mode_t mode) override {
    auto file = open_regular("open", name, O_WRONLY | O_APPEND | O_CREAT, mode);
    if (!file) return fail(file.error());
    return std::make_unique<RealFile>(std::move(file->fd), path_of(name));
  }

  Result<std::unique_ptr<File>> overwrite(std::string_view name) override {
    auto file = open_regular("open", name, O_WRONLY, 0);
    if (!file) return fail(file.error());
    return std::make_unique<RealFile>(std::move(file->fd), path_of(name), file->info.size);
  }

  // A file that is replaced while we read it may be written anew (durable.h): then what we have is worth nothing, and
  // the name stands for another one.
  Result<FileContents> read(std::string_view name, std::size_t most) override {
    for (int attempt = 0;; ++attempt) {
      auto file = open_regular("read", name, O_RDONLY, 0);
      if (!file) return fail(file.error());
      Result<FileContents> contents = read_whole(*file, name, most);
      if (attempt == kLookAgain || is_unchanged(*file, name)) return contents;
    }
  }

  Result<std::string> read_part(std::string_view name, std::uint64_t from, std::size_t most) override {
    auto file = open_regular("read", name, O_RDONLY, 0);
    if (!file) return fail(file.error());
    auto bytes = read_bytes(file->fd.get(), from, most);
    if (!bytes) return failed("read", name);
    return *std::move(bytes);
  }

  Result<FileInfo> info(std::string_view name) override {
    if (Status good = check_name(path_, name); !good) return fail(good.error());
    struct stat status {};
    if (::fstatat(fd_->get(), std::string(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return failed("read", name);
    return info_of(status);
  }

  Status list(const std::function<void(std::string_view, FileType)>& visit) override {
    const auto stream = open_stream();
    if (!stream) return fail(stream.error());
    const std::unique_ptr<DIR, int (*)(DIR*)> closes(*stream, ::closedir);
    errno = 0;
    while (const dirent* entry = ::readdir(*stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") visit(name, type_of_entry(*entry));
      errno = 0;
    }
    if (errno != 0) return fail(system_error("list", path_, errno));
    return {};
  }

  Result<std::unique_ptr<NameReader>> read_names() override {
    const auto stream = open_stream();
    if (!stream) return fail(stream.error());
    return std::make_unique<OpenNames>(*stream, path_);
  }

  std::optional<DiskSpace> space() override {
    struct statvfs disk {};
    if (::fstatvfs(fd_->get(), &disk) != 0) return std::nullopt;
    const std::uint64_t blocks = ::geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
    return DiskSpace{blocks * disk.f_frsize, disk.f_blocks * disk.f_frsize};
  }

  Status rename(std::string_view name, Directory& to, std::string_view to_name, IfTaken if_taken) override {
    const auto& target = dynamic_cast<RealDirectory&>(to);
    if (Status good = check_name(path_, name); !good) return good;
    if (Status good = check_name(target.path_, to_name); !good) return good;
    const std::string from(name);
    const std::string onto(to_name);
    const unsigned flags = if_taken == IfTaken::refuse ? RENAME_NOREPLACE : 0U;
    if (::renameat2(fd_->get(), from.c_str(), target.fd_->get(), onto.c_str(), flags) == 0) return {};
    return fail(system_error("rename " + path_of(name) + " to", target.path_of(to_name), errno));
  }

  Result<bool> exchange(std::string_view name, std::string_view other) override {
    if (Status good = check_name(path_, name); !good) return fail(good.error());
    if (Status good = check_name(path_, other); !good) return fail(good.error());
    const std::string here(name);
    const std::string there(other);
    if (::renameat2(fd_->get(), here.c_str(), fd_->get(), there.c_str(), RENAME_EXCHANGE) == 0) return true;
    if (errno == ENOENT || errno == EINVAL || errno == ENOSYS) return false;
    return fail(system_error("rename " + path_of(name) + " to", path_of(other), errno));
  }

  Status remove(std::string_view name) override { return unlink("remove", name, 0); }
  Status remove_directory(std::string_view name) override { return unlink("remove directory", name, AT_REMOVEDIR); }

  Status make_directory(std::string_view name, mode_t mode) override {
    if (Status good = check_name(path_, name); !good) return good;
    if (::mkdirat(fd_->get(), std::string(name).c_str(), mode) != 0) return failed("make directory", name);
    return {};
  }

  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override {
    auto fd = open("open", name, O_RDONLY | O_DIRECTORY, 0);
    if (!fd) return fail(fd.error());
    return std::make_unique<RealDirectory>(std::move(*fd), path_of(name));
  }

  Status sync() override {
    if (uninterrupted([&] { return ::fsync(fd_->get()); }) == 0) return {};
    return fail(system_error("sync", path_, errno));
  }

  // The name of a locked file can be removed, and the next one to come would lock another file of that name. So the
  // directory is locked too, and what is locked must be what the name stands for.
  Result<std::unique_ptr<Lock>> lock(std::string_view name) override {
    for (int attempt = 0; attempt < kLookAgain; ++attempt) {
      auto file = open("lock", name, O_RDWR | O_CREAT | O_NONBLOCK, 0600);
      if (!file) return fail(file.error());
      if (Status locked = lock_file(*file, name); !locked) return fail(locked.error());
      if (!is_named(*file, name)) continue;
      if (Status locked = lock_itself(*file, name); !locked) return fail(locked.error());
      // The PID is a courtesy to whom we keep out: a full disk must not stop us here.
      const std::string pid = std::to_string(::getpid());
      if (::ftruncate(file->get(), 0) == 0) {
        [[maybe_unused]] const ssize_t taken = ::pwrite(file->get(), pid.data(), pid.size(), 0);
      }
      return std::make_unique<RealLock>(std::move(*file), fd_);
    }
    return fail(Code::conflict, "cannot lock " + path_of(name) + ": somebody keeps removing it; find out who does");
  }

 private:
  std::string path_of(std::string_view name) const { return entry_path(path_, name); }

  Status lock_file(const Descriptor& file, std::string_view name) const {
    return take_flock(file.get(), name, [&] { return holder_of(file.get()); });
  }

  Status lock_itself(const Descriptor& file, std::string_view name) const {
    const auto holder = [&] {
      struct stat own {};
      const std::string pid = ::fstat(fd_->get(), &own) == 0 ? flock_holder(own.st_ino) : "";
      return pid.empty() ? holder_of(file.get()) : pid;
    };
    return take_flock(fd_->get(), name, holder, cannot_lock_directories);
  }

  template <class Holder>
  Status take_flock(int fd, std::string_view name, Holder holder, bool (*may_fail)(int error) = nullptr) const {
    for (int waited = 0; uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) != 0; ++waited) {
      if (may_fail != nullptr && may_fail(errno)) return {};
      if (errno != EWOULDBLOCK) return failed("lock", name);
      const std::string pid = holder();
      if (!has_died(pid) || waited == kLookAgain) return fail(lock_is_taken(path_of(name), pid));
      ::usleep(kBetweenLooks);
    }
    return {};
  }

  bool is_named(const Descriptor& file, std::string_view name) const {
    struct stat locked {};
    struct stat named {};
    return ::fstat(file.get(), &locked) == 0 &&
           ::fstatat(fd_->get(), std::string(name).c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
  }

  tl::unexpected<Error> failed(std::string_view verb, std::string_view name) const {
    return fail(system_error(verb, path_of(name), errno));
  }

  // With a descriptor of its own, because the position in a directory belongs to the descriptor.
  Result<DIR*> open_stream() const {
    const int own = uninterrupted([&] { return ::openat(fd_->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    DIR* stream = own < 0 ? nullptr : ::fdopendir(own);
    if (stream != nullptr) return stream;
    const Error error = system_error("list", path_, errno);
    if (own >= 0) ::close(own);
    return fail(error);
  }

  Result<Descriptor> open(std::string_view verb, std::string_view name, int flags, mode_t mode) const {
    if (Status good = check_name(path_, name); !good) return fail(good.error());
    const std::string c_name(name);
    Descriptor fd(
        uninterrupted([&] { return ::openat(fd_->get(), c_name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode); }));
    if (!fd) return failed(verb, name);
    return fd;
  }

  struct Opened {
    Descriptor fd;
    FileInfo info;
    ino_t inode;
    timespec changed;
  };
  // Non-blocking, because a FIFO planted under the name would hold us up for ever.
  Result<Opened> open_regular(std::string_view verb, std::string_view name, int flags, mode_t mode) const {
    auto fd = open(verb, name, flags | O_NONBLOCK, mode);
    if (!fd) return fail(fd.error());
    struct stat status {};
    if (::fstat(fd->get(), &status) != 0) return failed(verb, name);
    const FileInfo info = info_of(status);
    if (info.type != FileType::regular) {
      return fail(Code::refused, "cannot read " + path_of(name) + ": it is not a regular file; remove it");
    }
    return Opened{*std::move(fd), info, status.st_ino, status.st_ctim};
  }

  Result<FileContents> read_whole(const Opened& file, std::string_view name, std::size_t most) const {
    const FileInfo& info = file.info;
    if (info.size > most) {
      return fail(Code::invalid, "cannot read " + path_of(name) + ": its " + std::to_string(info.size) +
                                     " bytes are more than the " + std::to_string(most) + " expected; move it away");
    }
    auto bytes = read_bytes(file.fd.get(), 0, static_cast<std::size_t>(info.size));
    if (!bytes) return failed("read", name);
    return FileContents{std::move(*bytes), info};
  }

  // The name still stands for the file, and nothing of it has changed since it was opened; or it is gone, and so is
  // nobody's to write anew.
  bool is_unchanged(const Opened& file, std::string_view name) const {
    struct stat named {};
    if (::fstatat(fd_->get(), std::string(name).c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
    return named.st_ino == file.inode && named.st_ctim.tv_sec == file.changed.tv_sec &&
           named.st_ctim.tv_nsec == file.changed.tv_nsec;
  }

  Status unlink(std::string_view verb, std::string_view name, int flags) const {
    if (Status good = check_name(path_, name); !good) return good;
    if (::unlinkat(fd_->get(), std::string(name).c_str(), flags) != 0) return failed(verb, name);
    return {};
  }

  std::shared_ptr<const Descriptor> fd_;  // a lock keeps it too
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<Directory>> RealFileSystem::open_directory(std::string_view path) {
  std::string own_path(path);
  Descriptor fd(uninterrupted([&] { return ::open(own_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd) return fail(system_error("open directory", path, errno));
  return std::make_unique<RealDirectory>(std::move(fd), std::move(own_path));
}

std::vector<Status> RealFileSystem::sync_together(std::span<File* const> files) {
  // First the data of all, then the waiting: the journal commits once for many files, and threads that wait at the same
  // time share the disk's cache flushes, which one file after the other would each pay for.
  std::vector<const RealFile*> own;
  own.reserve(files.size());
  for (File* file : files) own.push_back(&dynamic_cast<RealFile&>(*file));
  if (own.size() > 1) {
    for (const RealFile* file : own) file->start_sync();
  }
  std::vector<Status> results(own.size());
  std::atomic<std::size_t> next{0};
  const auto sync_some = [&] {
    for (std::size_t i = next++; i < own.size(); i = next++) results[i] = own[i]->sync();
  };
  if (own.size() >= kSyncThreads) {
    syncers_.run_on_all(sync_some);
  } else {
    sync_some();
  }
  return results;
}

uid_t RealFileSystem::user() const { return ::geteuid(); }

}  // namespace kron
