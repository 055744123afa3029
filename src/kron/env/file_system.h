#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

// The file system, as far as Kron needs it. Every method is about one system call, so that a fake can fail, tear or
// lose each of them; nothing here is durable before the sync that makes it so (durable.h has the whole procedure).
// Failures name the call, the path and the cure; their codes are those of system_error.h.
namespace kron {

enum class FileType : std::uint8_t { regular, directory, symlink, other };

struct FileInfo {
  FileType type = FileType::other;
  uid_t owner = 0;
  mode_t mode = 0;  // permission bits only
  std::uint64_t size = 0;
  Instant modified;
  std::uint64_t device = 0;  // the file system it is on: a rename cannot leave it

  bool operator==(const FileInfo&) const = default;
};

struct DiskSpace {
  std::uint64_t free = 0;  // bytes that we may still write
  std::uint64_t total = 0;
};

struct FileContents {
  std::string bytes;
  FileInfo info;
};

// A file being written. Closed by its destructor.
class File {
 public:
  virtual ~File() = default;

  // Appends and says how many bytes it took: fewer than given is no failure, none when it was interrupted.
  virtual Result<std::size_t> write(std::string_view bytes) = 0;
};

// A lock that its destructor, or the death of the process, gives back.
class Lock {
 public:
  virtual ~Lock() = default;
};

// The names of a directory, a part at a time, for those who must not be held up by a million of them. What is created
// or removed meanwhile may or may not be seen; every other name is seen once.
class NameReader {
 public:
  virtual ~NameReader() = default;

  // At most `most` further names, without "." and ".."; false when there are no more.
  virtual Result<bool> next(std::size_t most, const std::function<void(std::string_view name)>& visit) = 0;
};

enum class IfTaken : std::uint8_t { replace, refuse };

// An open directory. Names are single components: no '/', not "" and not "..".
class Directory {
 public:
  virtual ~Directory() = default;

  virtual const std::string& path() const = 0;

  // A new, empty file; conflict when the name is taken, even by a dangling link.
  virtual Result<std::unique_ptr<File>> create(std::string_view name, mode_t mode) = 0;

  // A file to append to, made when it is missing. Refused: a symbolic link, FIFO, directory …
  virtual Result<std::unique_ptr<File>> append(std::string_view name, mode_t mode) = 0;

  // A regular file that is there, to be written anew from its beginning: nobody needs what it holds. When it is synced
  // it holds what was written and no more; before that, after a power cut, anything.
  virtual Result<std::unique_ptr<File>> overwrite(std::string_view name);

  // The whole regular file. Refused: a symbolic link, FIFO, directory …; invalid: more than `most` bytes.
  virtual Result<FileContents> read(std::string_view name, std::size_t most) = 0;

  // A part of a regular file, from a position on: at most `most` bytes, fewer at its end. Refused: as above.
  virtual Result<std::string> read_part(std::string_view name, std::uint64_t from, std::size_t most) = 0;

  // Links are not followed. "." is the directory itself.
  virtual Result<FileInfo> info(std::string_view name) = 0;

  // Every name but "." and "..", in no order. `visit` must not change the directory.
  virtual Status list(const std::function<void(std::string_view name, FileType type)>& visit) = 0;

  // The same names, a part at a time. The directory outlives the reader.
  virtual Result<std::unique_ptr<NameReader>> read_names();

  // Of the file system that the directory is on; nothing: it does not tell.
  virtual std::optional<DiskSpace> space() { return std::nullopt; }

  // Atomic. With IfTaken::refuse, conflict when `to_name` exists. `to` belongs to the same FileSystem.
  virtual Status rename(std::string_view name, Directory& to, std::string_view to_name, IfTaken if_taken) = 0;

  // Two names change places, atomically. False: one of them is not there, or this file system cannot.
  virtual Result<bool> exchange(std::string_view name, std::string_view other);

  virtual Status remove(std::string_view name) = 0;
  virtual Status make_directory(std::string_view name, mode_t mode) = 0;
  virtual Status remove_directory(std::string_view name) = 0;
  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view name) = 0;  // not through a link

  // What was created, renamed or removed here is durable when this succeeds. A failure is final: nobody knows what is
  // on the disk, and asking again may answer "ok" although it is lost.
  virtual Status sync() = 0;

  // The only holder among all processes until the Lock goes. Creates the file when absent and writes our PID into it;
  // conflict, naming the holder's PID, when another has it.
  virtual Result<std::unique_ptr<Lock>> lock(std::string_view name) = 0;
};

// Outlives every Directory, File and Lock it gave.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<Directory>> open_directory(std::string_view path) = 0;

  // Makes the contents of all of these durable, in flight together. One status each, in order; a failure is final, as
  // for Directory::sync.
  virtual std::vector<Status> sync_together(std::span<File* const> files) = 0;

  virtual uid_t user() const = 0;  // whose files we create
};

// Opens `path`, an absolute path, after making what is missing of it with `mode`; each name made is durable.
Result<std::unique_ptr<Directory>> open_or_make_directory(FileSystem& file_system, std::string_view path, mode_t mode);

// All of it, in as many writes as it takes.
Status write_all(File& file, std::string_view bytes);

// Whether `name` may stand for an entry of a directory; both file systems check it in every call.
Status check_name(std::string_view directory, std::string_view name);

std::string entry_path(std::string_view directory, std::string_view name);

// What Directory::lock answers when another process has it.
Error lock_is_taken(std::string_view path, std::string_view pid);

}  // namespace kron
