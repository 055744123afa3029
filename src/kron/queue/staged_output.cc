#include "kron/queue/staged_output.h"

#include <algorithm>

#include "kron/queue/task_files.h"

namespace kron {
namespace {

// Open at a time; a commit may bring a thousand files.
constexpr std::size_t kOpenAtOnce = 128;

void remove_tree(Directory& parent, const std::string& name, std::size_t depth) {
  if (depth > kMostStagedDepth + 2) return;
  const auto directory = parent.open_directory(name);
  if (!directory) {
    // A link, or a file, that someone put there.
    if (directory.error().code != Code::not_found) static_cast<void>(parent.remove(name));
    return;
  }
  std::vector<std::pair<std::string, FileType>> entries;
  const Status listed =
      (*directory)->list([&](std::string_view entry, FileType type) { entries.emplace_back(entry, type); });
  if (!listed) return;
  for (const auto& [entry, type] : entries) {
    if (type == FileType::directory) {
      remove_tree(**directory, entry, depth + 1);
    } else {
      static_cast<void>((*directory)->remove(entry));
    }
  }
  static_cast<void>(parent.remove_directory(name));
}

std::string_view first_name(const StagedFile& file, std::size_t skip) {
  const std::string_view rest = std::string_view(file.path).substr(skip);
  return rest.substr(0, rest.find('/'));
}

bool is_leaf(const StagedFile& file, std::size_t skip) { return file.path.find('/', skip) == std::string::npos; }

// Publishing is a rename. Better refused now than after a commit that could then never be finished.
Status check_same_device(Directory& staging, Directory& effects) {
  const auto from = staging.info(".");
  if (!from) return fail(from.error());
  const auto to = effects.info(".");
  if (!to) return fail(to.error());
  if (from->device == to->device) return {};
  return fail(Code::conflict,
              effects.path() + " is on another file system than " + staging.path() +
                  ", so nothing could be published there; put both on one, by mounting it at their parent");
}

}  // namespace

Result<StagedOutput> StagedOutput::open(FileSystem& file_system, Directory& data_directory, bool& failed_sync) {
  StagedOutput output(file_system);
  auto staging = open_or_make(data_directory, "staging", failed_sync);
  if (!staging) return fail(staging.error());
  auto effects = open_or_make(data_directory, "effects", failed_sync);
  if (!effects) return fail(effects.error());
  if (Status same = check_same_device(**staging, **effects); !same) return fail(same.error());
  output.staging_ = *std::move(staging);
  output.effects_ = *std::move(effects);
  return output;
}

Status StagedOutput::synced(Directory& directory, bool& failed_sync) {
  ++syncs_;
  Status status = directory.sync();
  failed_sync = failed_sync || !status;
  return status;
}

Status StagedOutput::write(std::string_view exec_id, std::span<const StagedFile> files, bool& failed_sync) {
  // An earlier commit of the same attempt may have failed half-way.
  discard(exec_id);
  if (Status made = staging_->make_directory(exec_id, 0700); !made) return made;
  const auto directory = staging_->open_directory(exec_id);
  if (!directory) return fail(directory.error());
  std::vector<StagedFile> sorted(files.begin(), files.end());
  std::ranges::sort(sorted, {}, &StagedFile::path);
  if (Status written = write_below(**directory, sorted, 0, failed_sync); !written) return written;
  // If we die here the files may be there without the commit: the next start removes them.
  return synced(*staging_, failed_sync);
}

// Writes files that share the first `skip` bytes of their paths, which name `directory`.
Status StagedOutput::write_below(Directory& directory, std::span<const StagedFile> files, std::size_t skip,
                                 bool& failed_sync) {
  std::vector<std::unique_ptr<File>> open;
  std::vector<File*> to_sync;
  const auto sync_open = [&]() -> Status {
    syncs_ += to_sync.size();
    for (Status& status : file_system_->sync_together(to_sync)) {
      failed_sync = failed_sync || !status;
      if (!status) return std::move(status);
    }
    to_sync.clear();
    open.clear();
    return {};
  };
  for (std::size_t i = 0; i < files.size();) {
    const std::string name(first_name(files[i], skip));
    if (!is_leaf(files[i], skip)) {
      const auto differs = [&](const StagedFile& f) { return is_leaf(f, skip) || first_name(f, skip) != name; };
      const auto rest = files.subspan(i);
      const auto same = static_cast<std::size_t>(std::ranges::find_if(rest, differs) - rest.begin());
      if (Status made = directory.make_directory(name, 0700); !made) return made;
      const auto below = directory.open_directory(name);
      if (!below) return fail(below.error());
      Status written = write_below(**below, rest.first(same), skip + name.size() + 1, failed_sync);
      if (!written) return written;
      i += same;
      continue;
    }
    auto file = directory.create(name, 0600);
    if (!file) return fail(file.error());
    if (Status written = write_all(**file, files[i].bytes); !written) return written;
    to_sync.push_back(file->get());
    open.push_back(*std::move(file));
    if (open.size() == kOpenAtOnce) {
      if (Status status = sync_open(); !status) return status;
    }
    ++i;
  }
  if (Status status = sync_open(); !status) return status;
  return synced(directory, failed_sync);
}

Result<bool> StagedOutput::has_effects(std::string_view task_id) const {
  const auto info = effects_->info(task_id);
  if (info) return true;
  if (info.error().code == Code::not_found) return false;
  return fail(info.error());
}

Status StagedOutput::publish(std::string_view exec_id, std::string_view task_id) {
  Status moved = staging_->rename(exec_id, *effects_, task_id, IfTaken::refuse);
  if (moved) return {};
  const auto has = has_effects(task_id);
  if (!has) return fail(has.error());
  if (!*has) return moved;
  if (moved.error().code == Code::not_found) return {};  // an earlier redo has moved it
  // Both names are there. Either a crash kept the new name and not the end of the old one, then this ends it; or the
  // effects are someone else's, then a directory that is not empty is not replaced.
  if (moved.error().code == Code::conflict) moved = staging_->rename(exec_id, *effects_, task_id, IfTaken::replace);
  return moved;
}

Status StagedOutput::sync() {
  bool failed = false;
  if (Status status = synced(*effects_, failed); !status) return status;
  // The old name must be gone for good before the task is, or a later start would clear it away as a leftover: it may
  // be the very directory that was published.
  return synced(*staging_, failed);
}

void StagedOutput::discard(std::string_view exec_id) { remove_tree(*staging_, std::string(exec_id), 0); }

Result<std::vector<std::string>> StagedOutput::names() const {
  std::vector<std::string> names;
  const Status listed = staging_->list([&](std::string_view name, FileType) { names.emplace_back(name); });
  if (!listed) return fail(listed.error());
  return names;
}

}  // namespace kron
