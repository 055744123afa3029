#include "kron/queue/task_files.h"

#include "kron/base/rfc3339.h"
#include "kron/queue/task_file.h"

namespace kron {

Result<std::unique_ptr<Directory>> open_or_make(Directory& parent, std::string_view name, bool& failed_sync) {
  auto directory = parent.open_directory(name);
  if (directory || directory.error().code != Code::not_found) return directory;
  if (Status made = parent.make_directory(name, 0700); !made) return fail(made.error());
  // If we die here the directory may be gone again: the next start makes it.
  if (Status synced = parent.sync(); !synced) {
    failed_sync = true;
    return fail(synced.error());
  }
  return parent.open_directory(name);
}

Result<TaskFiles> TaskFiles::open(FileSystem& file_system, Directory& data_directory, bool& failed_sync) {
  TaskFiles files(file_system);
  auto tasks = open_or_make(data_directory, "tasks", failed_sync);
  if (!tasks) return fail(tasks.error());
  for (const TaskDirectory place : kDirectoriesFurthestLast) {
    auto directory = open_or_make(**tasks, name_of(place), failed_sync);
    if (!directory) return fail(directory.error());
    files.directories_[static_cast<std::size_t>(place)] = *std::move(directory);
  }
  return files;
}

Result<Task> TaskFiles::read(TaskDirectory place, std::string_view task_id) const {
  const std::string name = task_file_name(task_id);
  const auto contents = at(place).read(name, kMostTaskFileBytes);
  if (!contents) return fail(contents.error());
  auto task = parse_task(contents->bytes, task_id);
  if (task) return task;
  Error error = task.error();
  error.message = entry_path(at(place).path(), name) + " is not a task: " + error.message;
  return fail(std::move(error));
}

Result<bool> TaskFiles::has(TaskDirectory place, std::string_view task_id) const {
  const auto info = at(place).info(task_file_name(task_id));
  if (info) return true;
  if (info.error().code == Code::not_found) return false;
  return fail(info.error());
}

Status TaskFiles::list(TaskDirectory place, const std::function<void(std::string_view)>& visit) const {
  return at(place).list([&](std::string_view name, FileType) {
    if (const auto id = task_of_file_name(name)) visit(*id);
  });
}

Result<std::unique_ptr<NameReader>> TaskFiles::read_names(TaskDirectory place) const { return at(place).read_names(); }

Result<Instant> TaskFiles::modified(TaskDirectory place, std::string_view task_id) const {
  const auto info = at(place).info(task_file_name(task_id));
  if (!info) return fail(info.error());
  return info->modified;
}

void TaskFiles::stop(const Error& error) {
  if (stopped_) return;
  stopped_ = Error{Code::io, "the task queue has stopped: " + error.message + "; start again to recover from the disk"};
}

std::vector<Status> TaskFiles::apply(std::span<const Move> moves) {
  std::vector<Status> statuses(moves.size());
  for (const TaskDirectory place : kDirectoriesFurthestLast) write_all_to(place, moves, statuses);
  // If we die here, tasks lie in two directories. Forward, the further copy wins, which is the new one. Backward, the
  // old one wins, and nobody was told otherwise.
  remove_sources(moves, statuses);
  return statuses;
}

void TaskFiles::write_all_to(TaskDirectory place, std::span<const Move> moves, std::vector<Status>& statuses) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (directory_of(moves[i].task) == place) chosen.push_back(i);
  }
  std::vector<std::pair<std::string, std::string>> files;  // name, bytes
  std::vector<Replacement> replacements;
  files.reserve(chosen.size());
  for (const std::size_t i : chosen) {
    if (stopped_) {
      statuses[i] = fail(*stopped_);
      continue;
    }
    const auto& [name, bytes] = files.emplace_back(task_file_name(moves[i].task.spec.id), task_text(moves[i].task));
    replacements.push_back({name, bytes, 0600, moves[i].from ? IfTaken::replace : IfTaken::refuse});
  }
  if (replacements.empty()) return;
  const BatchResult result = durable_batch(*file_system_, at(place), replacements);
  syncs_ += replacements.size() + 1;
  if (result.fatal) stop(*result.fatal);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    statuses[chosen[i]] = stopped_ ? Status(fail(*stopped_)) : result.entries[i];
  }
}

void TaskFiles::remove_sources(std::span<const Move> moves, std::vector<Status>& statuses) {
  std::optional<TaskDirectory> furthest_back;
  const auto is_backward = [](const Move& move) { return move.from && *move.from > directory_of(move.task); };
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const TaskDirectory to = directory_of(moves[i].task);
    if (!statuses[i] || !moves[i].from || *moves[i].from == to) continue;
    statuses[i] = remove(*moves[i].from, moves[i].task.spec.id);
    if (is_backward(moves[i])) furthest_back = std::min(furthest_back.value_or(to), to);
  }
  if (!furthest_back) return;
  // Backward any copy left behind would win over the new one: the one it comes from, and one that an earlier move
  // forward removed without a sync. All of them must be gone for good before anyone hears of it.
  Status synced;
  for (const TaskDirectory place : kDirectoriesFurthestLast) {
    if (place > *furthest_back && has_removals_[static_cast<std::size_t>(place)] && synced) synced = sync(place);
  }
  for (std::size_t i = 0; i < moves.size() && !synced; ++i) {
    if (is_backward(moves[i])) statuses[i] = fail(*stopped_);
  }
}

Status TaskFiles::remove(TaskDirectory place, std::string_view task_id) {
  if (stopped_) return fail(*stopped_);
  // Somebody else may have taken it away: it is gone, which is all that matters.
  if (Status removed = at(place).remove(task_file_name(task_id)); !removed && removed.error().code != Code::not_found) {
    stop(removed.error());
    return fail(*stopped_);
  }
  has_removals_[static_cast<std::size_t>(place)] = true;
  return {};
}

Status TaskFiles::sync(TaskDirectory place) {
  if (stopped_) return fail(*stopped_);
  ++syncs_;
  if (Status synced = at(place).sync(); !synced) {
    stop(synced.error());
    return fail(*stopped_);
  }
  has_removals_[static_cast<std::size_t>(place)] = false;
  return {};
}

Status TaskFiles::sync_removals() {
  for (const TaskDirectory place : kDirectoriesFurthestLast) {
    if (!has_removals_[static_cast<std::size_t>(place)]) continue;
    if (Status synced = sync(place); !synced) return synced;
  }
  return {};
}

Status TaskFiles::set_aside(TaskDirectory place, std::string_view task_id, Instant now) {
  if (stopped_) return fail(*stopped_);
  const std::string name = task_file_name(task_id);
  Status moved = at(place).rename(name, at(place), name + ".corrupt." + rfc3339(now), IfTaken::replace);
  return moved ? sync(place) : moved;
}

Result<std::size_t> TaskFiles::remove_leftovers() {
  std::size_t removed = 0;
  for (const TaskDirectory place : kDirectoriesFurthestLast) {
    const auto here = kron::remove_leftovers(at(place));
    if (!here) return fail(here.error());
    removed += *here;
  }
  return removed;
}

}  // namespace kron
