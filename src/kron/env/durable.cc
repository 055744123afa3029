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
  Batch(FileSystem& file_system, Directory& directory, std::span<const Replacement> replacements, SpareFiles* spares)
      : file_system_(file_system),
        directory_(directory),
        replacements_(replacements),
        spares_(spares),
        temporaries_(replacements.size()),
        is_exchanged_(replacements.size()) {
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
    // Not earlier: until the new name is on the disk, a power cut brings back what was replaced.
    if (!result_.fatal) keep_spares();
    return std::move(result_);
  }

 private:
  Result<std::unique_ptr<File>> open_temporary(std::size_t entry) {
    std::string& name = temporaries_[entry];
    const Replacement& r = replacements_[entry];
    if (spares_ == nullptr) {
      name = temporary_name(r.name);
      return create_temporary(directory_, name, r.mode);
    }
    if (std::optional<std::string> spare = spares_->take()) {
      name = *std::move(spare);
      auto file = directory_.overwrite(name);
      if (file) return file;
      // Somebody has taken it away, or it cannot be used: a new one does as well.
    }
    name = spares_->new_name(r.name);
    return create_temporary(directory_, name, r.mode);
  }

  void write_temporaries(std::size_t first, std::size_t last) {
    std::vector<std::unique_ptr<File>> open;
    std::vector<File*> files;
    for (std::size_t i = first; i < last; ++i) {
      auto file = open_temporary(i);
      // If we die here there is a temporary file that is empty, or holds what was replaced some time ago.
      Status written = file ? write_all(**file, replacements_[i].bytes) : Status(fail(file.error()));
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
      Status renamed = rename(i);
      if (!renamed) give_up(i, std::move(renamed.error()), true);
      renamed_ |= renamed.has_value();
    }
  }

  Status rename(std::size_t entry) {
    const Replacement& r = replacements_[entry];
    if (spares_ != nullptr && r.if_taken == IfTaken::replace) {
      const Result<bool> exchanged = directory_.exchange(temporaries_[entry], r.name);
      if (!exchanged) return fail(exchanged.error());
      is_exchanged_[entry] = *exchanged;
      if (*exchanged) return {};
    }
    return directory_.rename(temporaries_[entry], directory_, r.name, r.if_taken);
  }

  void sync_directory() {
    if (Status synced = directory_.sync(); !synced) stop(synced.error());
  }

  void keep_spares() {
    for (std::size_t i = 0; i < replacements_.size(); ++i) {
      if (!is_exchanged_[i] || spares_->give(temporaries_[i])) continue;
      // Best effort, as below.
      static_cast<void>(directory_.remove(temporaries_[i]));
    }
  }

  void give_up(std::size_t entry, Error error, bool has_temporary) {
    result_.entries[entry] = fail(std::move(error));
    // Best effort: what stays is taken over by the next attempt, or removed by the next start.
    if (has_temporary) static_cast<void>(directory_.remove(temporaries_[entry]));
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
  SpareFiles* spares_;
  std::vector<std::string> temporaries_;  // their names
  std::vector<bool> is_exchanged_;        // what was replaced has that name now
  BatchResult result_;
  bool renamed_ = false;
};

}  // namespace

std::optional<std::string> SpareFiles::take() {
  if (names_.empty()) return std::nullopt;
  std::string name = std::move(names_.front());
  names_.pop_front();
  return name;
}

std::string SpareFiles::new_name(std::string_view replaced) {
  return temporary_name(std::to_string(++made_) + "-").append(replaced);
}

bool SpareFiles::give(std::string name) {
  if (names_.size() >= kMost) return false;
  names_.push_back(std::move(name));
  return true;
}

ReplaceResult durable_replace(FileSystem& file_system, Directory& directory, const Replacement& replacement) {
  BatchResult result = Batch(file_system, directory, std::span(&replacement, 1), nullptr).run();
  return {std::move(result.entries.front()), result.fatal.has_value()};
}

BatchResult durable_batch(FileSystem& file_system, Directory& directory, std::span<const Replacement> replacements,
                          SpareFiles* spares) {
  return Batch(file_system, directory, replacements, spares).run();
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
