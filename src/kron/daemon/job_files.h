#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/api/parts.h"
#include "kron/daemon/reload.h"

namespace kron::daemon {

// What tells one version of a file from another, and one that may be read from one that is refused.
struct FileStamp {
  Nanoseconds modified{0};  // since the epoch
  std::uint64_t size = 0;
  ino_t inode = 0;
  mode_t mode = 0;
  uid_t owner = 0;

  bool operator==(const FileStamp&) const = default;
};
using FileStamps = std::map<std::string, FileStamp>;  // by path

// Looks at the disk: the job files that these paths name, those in directories included. What cannot be looked at is
// left out. `source`: every file is one, whatever its name.
FileStamps stamps_of(std::span<const std::string> config, const std::optional<jobs::Spelling>& source);
// The same of files that are named elsewhere: calendars.
void add_stamps_of(std::span<const std::string> files, FileStamps& stamps);

// Pure: in the order of the paths.
std::vector<api::FileChange> changes_between(const FileStamps& before, const FileStamps& after);

// Pure: the files with errors, in the order of their first errors. `jobs` is what runs after the reading.
std::vector<api::RefusedFile> refused_files(std::span<const jobs::Problem> problems, const JobsToRun& jobs);

// What became of the job files, for those who ask. Used by the daemon's loop alone.
class JobFiles {
 public:
  JobFiles(std::vector<std::string> config, std::optional<jobs::Spelling> source)
      : config_(std::move(config)), source_(source) {}

  // To be called before the files are read: what changes while they are is a change since.
  void about_to_read(Instant now);
  // The files of calendars that were read with them.
  void calendars_are(std::vector<std::string> files);
  void have_read(std::span<const jobs::Problem> problems, const JobsToRun& jobs);
  void reload_ended(const Status& reloaded);

  const api::JobFilesStatus& status() const { return status_; }

 private:
  void tell_changes();

  std::vector<std::string> config_;
  std::optional<jobs::Spelling> source_;
  std::vector<std::string> calendars_;
  FileStamps before_;
  FileStamps calendars_before_;
  api::JobFilesStatus status_;
};

}  // namespace kron::daemon
