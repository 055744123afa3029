#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "kron/env/file_system.h"

namespace kron::testing {

using InodeId = std::uint32_t;
inline constexpr InodeId kRootInode = 0;

struct Inode {
  FileInfo info;
  std::string data;                                            // what a reader sees; a symbolic link's target
  std::size_t synced = 0;                                      // how much of `data` a power cut cannot take
  bool sync_failed = false;                                    // pages were dropped: no later sync makes this file safe
  std::map<std::string, InodeId, std::less<>> entries;         // of a directory, as a reader sees them
  std::map<std::string, InodeId, std::less<>> synced_entries;  // and as they are on the disk for certain
};

// One name of one directory becomes this inode, or none.
struct NameChange {
  InodeId directory = 0;
  std::string name;
  std::optional<InodeId> inode;
};

// A change of names that a power cut keeps or loses as a whole.
struct PendingChange {
  std::vector<NameChange> names;
  bool after_previous = false;  // never kept without the change before it (the second half of a rename between two)
  bool sync_failed = false;     // a directory sync failed on it: a later one does not make it safe

  bool touches(InodeId directory) const;
};

// A disk and what is only in memory above it: a value, cheap to copy (inodes are shared until changed). Its verbs are
// those of a POSIX file system without any checks; PowerCutFileSystem does the checking.
//
// What a power cut may leave (survivors.h): changes of names are kept or lost each for itself, but never a later one of
// a name without the earlier ones of that name. A rename within a directory is one change; between directories the new
// name may be kept while the old is still there. File contents beyond `synced` may be torn in any way, whether or not
// the name was kept.
class Disk {
 public:
  Disk();

  const Inode& at(InodeId id) const { return *inodes_[id]; }
  std::size_t size() const { return inodes_.size(); }
  const std::vector<PendingChange>& pending() const { return pending_; }

  std::optional<InodeId> find(InodeId directory, std::string_view name) const;
  std::optional<InodeId> find_path(std::string_view absolute_path) const;  // no links on the way

  InodeId add(InodeId directory, std::string_view name, FileInfo info);
  void empty(InodeId file);
  void append(InodeId file, std::string_view bytes, Instant time);
  void remove(InodeId directory, std::string_view name);
  void rename(InodeId from, std::string_view name, InodeId to, std::string_view to_name);

  void exchange(InodeId directory, std::string_view name, std::string_view other);

  void sync_file(InodeId file);
  void sync_directory(InodeId directory);
  void fail_file_sync(InodeId file);
  void fail_directory_sync(InodeId directory);
  void sync_everything();  // what tests prepare is on the disk

  Inode& change(InodeId id);  // for tests that plant things

  // Gives the numbers of files that have no name, and cannot get one back, to new ones: for years of replaced files. No
  // File may be open.
  void forget_nameless();

  // For each pending change, those (earlier) without which it is never kept.
  std::vector<std::vector<std::size_t>> prerequisites() const;

  // The disk after a power cut that kept these pending changes (prerequisites included) and these contents of unsynced
  // files; an unsynced file that is not named keeps all of its own.
  Disk after_power_cut(const std::vector<bool>& kept, const std::map<InodeId, std::string>& contents) const;

 private:
  void do_now(PendingChange change);

  std::vector<std::shared_ptr<Inode>> inodes_;
  std::vector<InodeId> free_;
  std::vector<PendingChange> pending_;
};

}  // namespace kron::testing
