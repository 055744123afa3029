#include "kron/queue/file_queue.h"

#include <algorithm>

#include "kron/base/text.h"

// What memory knows of a task follows the directory that its file is in. At any time between two verbs an id is in
// exactly one of these, or in none, when its task is over or unknown:
//   index_      pending/: waits, ready or delayed
//   unread_     pending/: waits, but its file cannot be read at the moment; the next lease or expiry tries again
//   held_back_  pending/, or about to be: a follow-up of a commit that is not DONE yet, which nobody may lease
//   running_    running/: leased or started, with its deadline in ends_; or committed, in unfinished_ and not in ends_
// A verb judges on what memory says, writes the new file, and changes memory only when the file is safe
// (index_after_write); a write that was refused leaves both as they were. After a failed sync nobody knows what is on
// the disk, so files_ stops, every verb fails, and the next process recovers (file_queue_recovery.cc).
namespace kron {
namespace {

// About what a task takes in memory.
std::size_t bytes_of(const Task& task) {
  std::size_t bytes = sizeof(Task) + task.spec.data.size() + task.spec.unique_key.size() + task.result.size();
  for (const Execution& execution : task.executions) {
    bytes += sizeof(Execution) + execution.exec_id.size() + execution.lease_owner.size() + execution.reason.size();
  }
  for (const NewTask& follow_up : task.follow_ups) bytes += sizeof(NewTask) + follow_up.data.size();
  return bytes;
}

}  // namespace

Result<std::unique_ptr<FileQueue>> FileQueue::open(FileSystem& file_system, const Clock& clock, Log& log,
                                                   std::string_view path, QueueOptions options, bool* is_final) {
  bool failed_sync = false;
  bool& final = is_final != nullptr ? *is_final : failed_sync;
  auto directory = open_or_make_directory(file_system, path, 0700);
  if (!directory) {
    // One that can be opened all the same is there, and its name could not be made safe.
    final = file_system.open_directory(path).has_value();
    return fail(directory.error());
  }
  auto lock = (*directory)->lock("lock");
  if (!lock) return fail(lock.error());
  auto files = TaskFiles::open(file_system, **directory, final);
  if (!files) return fail(files.error());
  auto staged = StagedOutput::open(file_system, **directory, final);
  if (!staged) return fail(staged.error());
  TokenReserve tokens(file_system, **directory, options.token_block);
  Renewals renewals(**directory, clock.boot_id());
  std::unique_ptr<FileQueue> queue(new FileQueue(clock, log, std::move(options), *std::move(directory),
                                                 *std::move(lock), *std::move(files), *std::move(staged), tokens,
                                                 std::move(renewals)));
  if (Status recovered = queue->recover(); !recovered) {
    final = queue->has_stopped();
    return fail(recovered.error());
  }
  return queue;
}

FileQueue::FileQueue(const Clock& clock, Log& log, QueueOptions options, std::unique_ptr<Directory> directory,
                     std::unique_ptr<Lock> lock, TaskFiles files, StagedOutput staged, TokenReserve tokens,
                     Renewals renewals)
    : clock_(clock),
      log_(log),
      options_(std::move(options)),
      directory_(std::move(directory)),
      lock_(std::move(lock)),
      files_(std::move(files)),
      staged_(std::move(staged)),
      tokens_(tokens),
      renewals_(std::move(renewals)),
      index_(options_.ageing) {}

Result<std::uint64_t> FileQueue::next_number() {
  auto number = tokens_.next();
  if (!number && tokens_.has_failed_for_good()) files_.stop(number.error());
  return number;
}

void FileQueue::report_damage(TaskDirectory place, std::string_view task_id, const Error& error) {
  const Status moved = files_.set_aside(place, task_id, now(clock_));
  log_.error("task.set_aside", {{"task", task_id},
                                {"directory", name_of(place)},
                                {"problem", std::string_view(error.message)},
                                {"moved", std::int64_t{moved.has_value()}}});
}

// A file that is no task is set aside; one that cannot be read now may be readable tomorrow, and stays.
Result<Task> FileQueue::read(TaskDirectory place, std::string_view task_id) {
  auto task = files_.read(place, task_id);
  if (!task && (task.error().code == Code::invalid || task.error().code == Code::refused)) {
    report_damage(place, task_id, task.error());
  }
  return task;
}

Result<std::pair<Task, TaskDirectory>> FileQueue::find(std::string_view task_id) {
  if (!check_task_id(task_id)) return fail(no_such_task(task_id));  // no path is made of it
  const std::string id(task_id);
  TaskDirectory place = TaskDirectory::completed;
  if (running_.contains(id)) place = TaskDirectory::running;
  if (index_.contains(id) || held_back_.contains(id) || unread_.contains(id)) place = TaskDirectory::pending;
  auto task = place == TaskDirectory::running ? running_task(id) : read(place, task_id);
  if (task) return std::pair(*std::move(task), place);
  if (task.error().code == Code::not_found) return fail(no_such_task(task_id));
  return fail(task.error());
}

Result<std::optional<NewTask>> FileQueue::known(std::string_view task_id) {
  if (const auto held = held_back_.find(task_id); held != held_back_.end()) return held->second;
  auto found = find(task_id);
  if (found) return std::move(found->first.spec);
  if (found.error().code == Code::not_found) return std::nullopt;
  return fail(found.error());
}

std::optional<std::string> FileQueue::holder_of(std::string_view unique_key, std::string_view leaving_out) const {
  const auto found = keys_.find(unique_key);
  if (found == keys_.end() || found->second == leaving_out) return std::nullopt;
  return found->second;
}

FileQueue::Waiting FileQueue::waiting_part_of(const Task& task) const {
  return {task.spec.type, task.spec.unique_key, task.spec.priority, ready_at(task, now(clock_)), task.sequence};
}

void FileQueue::note_pending(const Task& task) {
  forget_running(task.spec.id);
  note_waiting(task.spec.id, waiting_part_of(task));
}

void FileQueue::note_waiting(std::string_view task_id, const Waiting& waiting) {
  index_.add({task_id, waiting.type, waiting.priority, waiting.ready_at, waiting.sequence});
  if (!waiting.unique_key.empty()) keys_.insert_or_assign(waiting.unique_key, task_id);
}

void FileQueue::note_running(const Task& task, const HeldLease& held) {
  const std::string& id = task.spec.id;
  index_.remove(id);
  running_.insert_or_assign(id, Running{held, task.spec.type, task.executions.back().exec_id});
  ++running_of_type_[task.spec.type];
  ends_.emplace(held.ends(), id);
  keep_in_memory(task);
  if (!task.spec.unique_key.empty()) keys_.insert_or_assign(task.spec.unique_key, id);
}

void FileQueue::note_over(const Task& task) {
  // What an operator has cancelled is no failure.
  if (is_cancelled(task)) {
    ++cancelled_of_type_[task.spec.type];
  } else {
    ++ended_of_type_[{task.spec.type, state_of(task)}];
  }
  std::erase_if(lists_, [](const auto& list) { return list.expired(); });
  for (const auto& list : lists_) list.lock()->ended.push_back(task.spec.id);
  index_.remove(task.spec.id);
  unread_.erase(task.spec.id);
  forget_running(task.spec.id);
  // A follow-up may have taken the key over.
  const auto key = keys_.find(task.spec.unique_key);
  if (key != keys_.end() && key->second == task.spec.id) keys_.erase(key);
}

void FileQueue::forget_running(std::string_view task_id) {
  const auto found = running_.find(std::string(task_id));
  if (found == running_.end()) return;
  ends_.erase({found->second.held.ends(), found->first});
  const auto type = running_of_type_.find(found->second.type);
  if (--type->second == 0) running_of_type_.erase(type);
  drop_from_memory(found->second);
  running_.erase(found);
}

// After its file in running/ is safe, and before anyone is answered: a task that is renewed, started and committed is
// not read for each of these. Large ones are, and all when too many are kept.
void FileQueue::keep_in_memory(const Task& task) {
  constexpr std::size_t kMostBytesOfOne = std::size_t{16} << 10;
  constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  const auto found = running_.find(task.spec.id);
  if (found == running_.end()) return;
  drop_from_memory(found->second);
  const std::size_t bytes = bytes_of(task);
  if (bytes > kMostBytesOfOne || kept_bytes_ + bytes > kMostBytes) return;
  kept_bytes_ += bytes;
  found->second.task = std::make_shared<const Task>(task);
}

void FileQueue::drop_from_memory(Running& running) {
  if (!running.task) return;
  kept_bytes_ -= bytes_of(*running.task);
  running.task.reset();
}

Result<Task> FileQueue::running_task(const std::string& task_id) {
  const auto found = running_.find(task_id);
  if (found != running_.end() && found->second.task) return *found->second.task;
  return read(TaskDirectory::running, task_id);
}

Status FileQueue::move(Task after, TaskDirectory from) {
  const Move move{std::move(after), from};
  Status moved = std::move(files_.apply(std::span(&move, 1)).front());
  if (moved) index_after_write(move.task);
  return moved;
}

// The last of a disk belongs to others, such as the records of jobs, without which nothing runs.
Status FileQueue::check_room() const {
  constexpr std::uint64_t kLeft = std::uint64_t{1} << 20;
  constexpr std::uint64_t kShare = 8;  // of a disk so small that this would be most of it
  const auto space = options_.leaves_room ? directory_->space() : std::nullopt;
  if (!space) return {};
  const std::uint64_t left = std::min(kLeft, space->total / kShare);
  if (space->free >= left) return {};
  return fail(Code::io, "less than " + std::to_string(left >> 10) + " KiB of the disk of " + directory_->path() +
                            " is free, which is left to the records of jobs; make room there");
}

std::vector<Result<SubmitAnswer>> FileQueue::submit(std::span<const NewTask> tasks) {
  std::vector<Result<SubmitAnswer>> answers;
  std::vector<Result<NewTask>> good;
  std::vector<Move> moves;
  good.reserve(tasks.size());
  const Status room = check_room();
  Admission admission([&](std::string_view id) { return known(id); },
                      [&](std::string_view key) { return holder_of(key, ""); });
  for (const NewTask& task : tasks) {
    const auto& spec = good.emplace_back(checked(task));
    auto& answer = answers.emplace_back(spec ? admission.admit(*spec) : fail(spec.error()));
    if (!answer || answer->outcome != SubmitOutcome::accepted) continue;
    if (!room) {
      answer = fail(room.error());
    } else if (const auto number = next_number()) {
      moves.push_back({new_task(*spec, *number, now(clock_)), std::nullopt});
    } else {
      answer = fail(number.error());
    }
  }
  const auto statuses = files_.apply(moves);
  std::map<std::string_view, Error> failed;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (statuses[i]) {
      note_pending(moves[i].task);
    } else {
      failed.emplace(moves[i].task.spec.id, statuses[i].error());
    }
  }
  // One that was only known from another of these is no safer than that one.
  for (auto& answer : answers) {
    if (!answer) continue;
    if (const auto found = failed.find(answer->task_id); found != failed.end()) answer = fail(found->second);
  }
  return answers;
}

Result<CancelOutcome> FileQueue::cancel(std::string_view task_id) {
  auto found = find(task_id);
  if (!found) return fail(found.error());
  auto& [task, place] = *found;
  if (const auto refusal = refusal_to_cancel(task)) return *refusal;
  if (held_back_.contains(task_id)) {
    return fail(Code::conflict,
                "task " + std::string(task_id) + " is being created by a commit; cancel it again later");
  }
  auto after = cancelled(std::move(task), now(clock_));
  if (!after) return fail(after.error());
  if (Status moved = move(*std::move(after), place); !moved) return fail(moved.error());
  return CancelOutcome::cancelled;
}

Result<RetryOutcome> FileQueue::retry(std::string_view task_id, int attempts) {
  auto found = find(task_id);
  if (!found) return fail(found.error());
  auto& [task, place] = *found;
  if (state_of(task) != TaskState::failed) return RetryOutcome::not_failed;
  if (const auto holder = holder_of(task.spec.unique_key, task_id)) return fail(unique_key_is_taken(task, *holder));
  auto after = retried(std::move(task), attempts, now(clock_));
  if (!after) return fail(after.error());
  if (Status moved = move(*std::move(after), place); !moved) return fail(moved.error());
  return RetryOutcome::retried;
}

Result<Task> FileQueue::get(std::string_view task_id) {
  auto found = find(task_id);
  if (!found) return fail(found.error());
  return std::move(found->first);
}

Result<TaskSummary> FileQueue::summary() {
  TaskSummary summary{counts_now()};
  std::map<std::string, std::size_t> pending = index_.count_of_types();
  for (const auto& [id, spec] : held_back_) ++pending[spec.type];
  for (const auto& [type, count] : pending) summary.types.push_back({TaskState::pending, type, count});
  for (const auto& [type, count] : running_of_type_) {
    summary.types.push_back({TaskState::running, type, static_cast<std::size_t>(count)});
  }
  for (const auto& [of, count] : ended_of_type_) summary.ended.push_back({of.second, of.first, count});
  for (const auto& [type, count] : cancelled_of_type_) summary.cancelled.push_back({TaskState::failed, type, count});
  const auto oldest = index_.earliest_ready();
  if (oldest && *oldest <= now(clock_)) summary.oldest_pending = now(clock_) - *oldest;
  return summary;
}

std::optional<Nanoseconds> FileQueue::next_expiry() const {
  return ends_.empty() ? std::nullopt : std::optional(ends_.begin()->first);
}

QueueOpener file_queue_opener(FileSystem& file_system, const Clock& clock, Log& log, std::string path,
                              QueueOptions options) {
  return [&file_system, &clock, &log, path = std::move(path), options = std::move(options)](bool may_create) {
    if (!may_create) {
      const auto directory = file_system.open_directory(path);
      if (!directory && directory.error().code == Code::not_found) return OpenedQueue{fail(directory.error())};
    }
    bool is_final = false;
    auto queue = FileQueue::open(file_system, clock, log, path, options, &is_final);
    // A directory that was there a moment ago and is not found now is no queue that was never made.
    if (!queue && queue.error().code == Code::not_found) queue.error().code = Code::io;
    return OpenedQueue{std::move(queue), is_final};
  };
}

}  // namespace kron
