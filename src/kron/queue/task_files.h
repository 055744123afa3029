#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/durable.h"
#include "kron/env/file_system.h"
#include "kron/env/in_parallel.h"
#include "kron/queue/task.h"
#include "kron/queue/transitions.h"

namespace kron {

// A task on its way to the directory its state belongs to.
struct Move {
  Task task;                               // as it will be
  std::optional<TaskDirectory> from = {};  // none: it is new, and must not be there yet
};

// tasks/{pending,running,completed} of seed 002. For one thread, but for reading. After a failed sync, or a removal
// that failed, it has stopped: every further change is refused, and only another start, from what is on the disk, goes
// on.
class TaskFiles {
 public:
  // Makes the directories that are missing, below `data_directory`. `failed_sync` is set when a sync failed, which is
  // final.
  static Result<TaskFiles> open(FileSystem& file_system, Directory& data_directory, bool& failed_sync);

  // Code not_found; invalid: no task is in it; refused: a link or the like.
  Result<Task> read(TaskDirectory place, std::string_view task_id) const;
  Result<bool> has(TaskDirectory place, std::string_view task_id) const;

  // Reads many, on several threads when they are very many. Of each task only what `condense(Result<Task>)`, called on
  // any of them, makes of it is kept until `take(task_id, condensed)` gets it, in order and on this thread. A failure
  // of `take`, which may change no file but that of its task, ends the reading.
  template <class Condense, class Take>
  Status read_each(TaskDirectory place, std::span<const std::string_view> task_ids, const Condense& condense,
                   const Take& take) const;

  // Every name of a directory that stands for a task; others are passed over.
  Status list(TaskDirectory place, const std::function<void(std::string_view task_id)>& visit) const;

  // Names of files, a part at a time; task_of_file_name tells which of them stand for tasks.
  Result<std::unique_ptr<NameReader>> read_names(TaskDirectory place) const;
  // When the file was last written, by the clock of the machine.
  Result<Instant> modified(TaskDirectory place, std::string_view task_id) const;

  // One status each; ok: durable, and gone from where it was. Not ok: as before. All share their syncs. Tasks differ.
  std::vector<Status> apply(std::span<const Move> moves);

  // Removes the less far of two copies, or a task that is over; durable with the next sync of that directory.
  Status remove(TaskDirectory place, std::string_view task_id);
  Status sync(TaskDirectory place);

  // What a removal left to be synced; needed before the further copy is removed that wins over it.
  Status sync_removals();

  // Gives the file a name that stands for no task.
  Status set_aside(TaskDirectory place, std::string_view task_id, Instant now);

  Result<std::size_t> remove_leftovers();

  const std::optional<Error>& stopped() const { return stopped_; }
  void stop(const Error& error);
  std::uint64_t syncs() const { return syncs_; }  // how many were asked for, of files and directories

 private:
  explicit TaskFiles(FileSystem& file_system) : file_system_(&file_system) {}

  Directory& at(TaskDirectory place) const { return *directories_[static_cast<std::size_t>(place)]; }
  void write_all_to(TaskDirectory place, std::span<const Move> moves, std::vector<Status>& statuses);
  void remove_sources(std::span<const Move> moves, std::vector<Status>& statuses);

  FileSystem* file_system_;
  std::array<std::unique_ptr<Directory>, 3> directories_;
  std::array<bool, 3> has_removals_{};
  std::optional<Error> stopped_;
  std::uint64_t syncs_ = 0;
};

template <class Condense, class Take>
Status TaskFiles::read_each(TaskDirectory place, std::span<const std::string_view> task_ids, const Condense& condense,
                            const Take& take) const {
  constexpr std::size_t kAtOnce = 16'384;
  constexpr std::size_t kWorthAThread = 1'000;
  for (; !task_ids.empty(); task_ids = task_ids.subspan(std::min(kAtOnce, task_ids.size()))) {
    const auto ids = task_ids.first(std::min(kAtOnce, task_ids.size()));
    std::vector<std::invoke_result_t<const Condense&, Result<Task>>> condensed(ids.size());
    const std::size_t parts = parts_of(ids.size(), kWorthAThread);
    in_parallel(parts, [&](std::size_t part) {
      for (std::size_t i = ids.size() * part / parts; i < ids.size() * (part + 1) / parts; ++i) {
        condensed[i] = condense(read(place, ids[i]));
      }
    });
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (Status taken = take(ids[i], std::move(condensed[i])); !taken) return taken;
    }
  }
  return {};
}

inline constexpr std::array kDirectoriesFurthestLast{TaskDirectory::pending, TaskDirectory::running,
                                                     TaskDirectory::completed};

// Opens a directory below another, after making it durably when it is missing. `failed_sync` is set when a sync failed.
Result<std::unique_ptr<Directory>> open_or_make(Directory& parent, std::string_view name, bool& failed_sync);

}  // namespace kron
