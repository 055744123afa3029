#include "kron/env/durable.h"

#include <algorithm>
#include <memory>

namespace kron {
namespace {

// Open files at a time: well below the usual limit of 1,024 descriptors.
constexpr std::size_t kOpenAtOnce = 256;

std::string temporary_name(std::string_view name) { return std::string(kTemporaryPrefix).append(name); }

// Takes the name over from an earlier attempt of this process that failed and could not be cleaned up.
Result<std::unique_ptr<File>> create_temporary(Directory& directory, const std::string& name, mode_t mode) {
  auto file = directory.create(name, mode);
  if (file || file.error().code != Code::conflict) return file;
  if (Status removed = directory.remove(name); !removed) return fail(removed.error());
  return directory.create(name, mode);
}

class Batch {
 public:
  Batch(FileSystem& file_system, Directory& directory, std::span<const Replacement> replacements)
      : file_system_(file_system), directory_(directory), replacements_(replacements) {
    result_.entries.resize(replacements.size());
  }

  BatchResult run() && {
    for (std::size_t first = 0; first < replacements_.size() && !result_.fatal; first += kOpenAtOnce) {
      write_temporaries(first, std::min(first + kOpenAtOnce, replacements_.size()));
    }
    // If we die here, the temporary files are complete and on the disk, perhaps without their names; every final name
    // is as before. The next start removes the leftovers.
    if (!result_.fatal) rename_all();
    // If we die here, each entry for itself is old or new after a power cut, and new for a process that only restarts;
    // nobody was told that it is safe.
    if (!result_.fatal && renamed_) sync_directory();
    return std::move(result_);
  }

 private:
  void write_temporaries(std::size_t first, std::size_t last) {
    std::vector<std::unique_ptr<File>> open;
    std::vector<File*> files;
    for (std::size_t i = first; i < last; ++i) {
      const Replacement& r = replacements_[i];
      auto file = create_temporary(directory_, temporary_name(r.name), r.mode);
      // If we die here there is an empty temporary file.
      Status written = file ? write_all(**file, r.bytes) : Status(fail(file.error()));
      // If we die here there is a temporary file with any part of the bytes.
      if (!written) {
        give_up(i, std::move(written.error()), file.has_value());
        continue;
      }
      files.push_back(file->get());
      open.push_back(std::move(*file));
    }
    for (const Status& synced : file_system_.sync_together(files)) {
      if (!synced && !result_.fatal) stop(synced.error());
    }
  }

  void rename_all() {
    for (std::size_t i = 0; i < replacements_.size(); ++i) {
      if (!result_.entries[i]) continue;
      const Replacement& r = replacements_[i];
      Status renamed = directory_.rename(temporary_name(r.name), directory_, r.name, r.if_taken);
      if (!renamed) give_up(i, std::move(renamed.error()), true);
      renamed_ |= renamed.has_value();
    }
  }

  void sync_directory() {
    if (Status synced = directory_.sync(); !synced) stop(synced.error());
  }

  void give_up(std::size_t entry, Error error, bool has_temporary) {
    result_.entries[entry] = fail(std::move(error));
    // Best effort: what stays is taken over by the next attempt, or removed by the next start.
    if (has_temporary) static_cast<void>(directory_.remove(temporary_name(replacements_[entry].name)));
  }

  void stop(const Error& error) {
    result_.fatal = error;
    for (Status& entry : result_.entries) {
      if (entry) entry = fail(error);
    }
  }

  FileSystem& file_system_;
  Directory& directory_;
  std::span<const Replacement> replacements_;
  BatchResult result_;
  bool renamed_ = false;
};

}  // namespace

ReplaceResult durable_replace(FileSystem& file_system, Directory& directory, const Replacement& replacement) {
  BatchResult result = Batch(file_system, directory, std::span(&replacement, 1)).run();
  return {std::move(result.entries.front()), result.fatal.has_value()};
}

BatchResult durable_batch(FileSystem& file_system, Directory& directory, std::span<const Replacement> replacements) {
  return Batch(file_system, directory, replacements).run();
}

Result<std::size_t> remove_leftovers(Directory& directory) {
  std::vector<std::string> leftovers;
  const Status listed = directory.list([&](std::string_view name, FileType type) {
    if (name.starts_with(kTemporaryPrefix) && type != FileType::directory) leftovers.emplace_back(name);
  });
  if (!listed) return fail(listed.error());
  for (const std::string& name : leftovers) {
    // Not synced: a leftover that comes back after a power cut is removed again.
    if (Status removed = directory.remove(name); !removed) return fail(removed.error());
  }
  return leftovers.size();
}

}  // namespace kron
