#include "kron/daemon/job_files.h"

#include <algorithm>
#include <dirent.h>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace kron::daemon {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

FileStamp stamp_of(const struct stat& info) {
  return {.modified = Seconds(info.st_mtim.tv_sec) + Nanoseconds(info.st_mtim.tv_nsec),
          .size = static_cast<std::uint64_t>(info.st_size),
          .inode = info.st_ino,
          .mode = info.st_mode,
          .owner = info.st_uid};
}

void add_files_in(const std::string& path, const std::optional<jobs::Spelling>& source, FileStamps& stamps) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.')) continue;
    const std::string file = path + (path.ends_with('/') ? "" : "/") + std::string(name);
    if (!source && !jobs::spelling_of(file)) continue;
    struct stat info {};
    if (::stat(file.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) stamps.emplace(file, stamp_of(info));
  }
}

using Names = std::set<std::string_view>;

// There may be a million jobs in a few files.
Names files_with_jobs(const JobsToRun& jobs) {
  Names files;
  const std::string* last = nullptr;
  for (const jobs::JobDefinition& definition : jobs.definitions) {
    if (definition.file.get() != last) files.insert(*definition.file);
    last = definition.file.get();
  }
  return files;
}

api::RefusedFile::InForce in_force_of(const std::string& file, const JobsToRun& jobs, const Names& with_jobs) {
  using InForce = api::RefusedFile::InForce;
  if (std::ranges::find(jobs.kept, file) != jobs.kept.end()) return InForce::earlier;
  return with_jobs.contains(file) ? InForce::rest : InForce::none;
}

}  // namespace

FileStamps stamps_of(std::span<const std::string> config, const std::optional<jobs::Spelling>& source) {
  FileStamps stamps;
  for (const std::string& path : config) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;
    if (!S_ISDIR(info.st_mode)) {
      stamps.emplace(path, stamp_of(info));
      continue;
    }
    // Of a directory only who may write it counts: its times and size change with every file in it.
    stamps.emplace(path, FileStamp{.inode = info.st_ino, .mode = info.st_mode, .owner = info.st_uid});
    add_files_in(path, source, stamps);
  }
  return stamps;
}

void add_stamps_of(std::span<const std::string> files, FileStamps& stamps) {
  for (const std::string& path : files) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) stamps.emplace(path, stamp_of(info));
  }
}

std::vector<api::FileChange> changes_between(const FileStamps& before, const FileStamps& after) {
  using How = api::FileChange::How;
  std::vector<api::FileChange> changes;
  for (const auto& [path, stamp] : before) {
    const auto found = after.find(path);
    if (found == after.end()) {
      changes.push_back({path, How::removed});
    } else if (found->second != stamp) {
      changes.push_back({path, How::changed});
    }
  }
  for (const auto& [path, stamp] : after) {
    if (!before.contains(path)) changes.push_back({path, How::added});
  }
  std::ranges::sort(changes, {}, &api::FileChange::file);
  return changes;
}

std::vector<api::RefusedFile> refused_files(std::span<const jobs::Problem> problems, const JobsToRun& jobs) {
  std::vector<api::RefusedFile> refused;
  std::map<std::string_view, std::size_t> places;
  Names with_jobs;
  for (const jobs::Problem& problem : problems) {
    if (problem.severity != jobs::Severity::error) continue;
    const auto [place, is_new] = places.emplace(problem.file, refused.size());
    if (is_new) {
      if (refused.empty()) with_jobs = files_with_jobs(jobs);
      refused.push_back({.file = problem.file,
                         .line = problem.at.line,
                         .column = problem.at.column,
                         .reason = problem.message + (problem.cure.empty() ? "" : "; " + problem.cure),
                         .in_force = in_force_of(problem.file, jobs, with_jobs)});
    }
    ++refused[place->second].errors;
  }
  return refused;
}

void JobFiles::about_to_read(Instant now) {
  status_.read_at = now;
  before_ = stamps_of(config_, source_);
  calendars_before_.clear();
  add_stamps_of(calendars_, calendars_before_);
  tell_changes();
}

// Which they are is known when the job files are read. Of one that is new it is not seen if it changed just then.
void JobFiles::calendars_are(std::vector<std::string> files) {
  calendars_ = std::move(files);
  FileStamps before;
  add_stamps_of(calendars_, before);
  for (auto& [path, stamp] : before) {
    if (const auto known = calendars_before_.find(path); known != calendars_before_.end()) stamp = known->second;
  }
  calendars_before_ = std::move(before);
  tell_changes();
}

void JobFiles::tell_changes() {
  FileStamps all = before_;
  all.insert(calendars_before_.begin(), calendars_before_.end());
  status_.changes = [before = std::make_shared<const FileStamps>(std::move(all)), config = config_, source = source_,
                     calendars = calendars_] {
    FileStamps after = stamps_of(config, source);
    add_stamps_of(calendars, after);
    return changes_between(*before, after);
  };
}

void JobFiles::have_read(std::span<const jobs::Problem> problems, const JobsToRun& jobs) {
  status_.refused = refused_files(problems, jobs);
}

void JobFiles::reload_ended(const Status& reloaded) {
  status_.reload_failed = reloaded ? std::nullopt : std::optional(reloaded.error());
}

}  // namespace kron::daemon
