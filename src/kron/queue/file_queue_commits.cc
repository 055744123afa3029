#include <algorithm>

#include "kron/queue/file_queue.h"
#include "kron/queue/file_queue_group.h"

// Commits of FileQueue. A commit is one rename with the sync of its directory, and which one depends on what is left to
// do after it:
//   nothing     a commit without follow-ups and staged output carries all it has in the task's own file, which goes
//               from running/ to completed/ as DONE. While both copies are there the further one wins.
//   follow-ups, staged output
//               the file in running/ is replaced by one that is COMMITTED and says what is left. All that is redo, in
//               this order: follow-ups, output, DONE in completed/. A crash anywhere leaves the rest to the next start,
//               a full disk to the next expire(); until then the task is in `unfinished_`.
namespace kron {
namespace {

// Whether a commit leaves anything to do after its own file is safe.
bool has_redo(const Task& task) { return !task.follow_ups.empty() || !task.staging.empty(); }

}  // namespace

Result<FollowUpPlan> FileQueue::plan(const Task& task, const CommitRequest& request) {
  auto follow_ups = checked_follow_ups(request.follow_ups);
  if (!follow_ups) return fail(follow_ups.error());
  Admission admission([&](std::string_view id) { return known(id); },
                      [&](std::string_view key) { return holder_of(key, task.spec.id); });
  return plan_follow_ups(*std::move(follow_ups), admission);
}

// Whether a follow-up would be known, or its unique key taken, only because of a commit that may still fail.
bool FileQueue::depends_on_undecided(const CommitRequest& request) const {
  return std::ranges::any_of(request.follow_ups, [&](const NewTask& spec) {
    const auto key = keys_.find(spec.unique_key);
    return undecided_.contains(spec.id) || (key != keys_.end() && undecided_.contains(key->second));
  });
}

Status FileQueue::stage(const Task& task, const CommitRequest& request) {
  if (request.files.empty()) return {};
  if (Status room = check_room(); !room) return room;
  const auto has_effects = staged_.has_effects(task.spec.id);
  if (!has_effects) return fail(has_effects.error());
  if (*has_effects) {
    return fail(Code::conflict, "nothing was committed: effects/" + task.spec.id +
                                    " is there from an earlier task of that id; move it away");
  }
  bool failed_sync = false;
  Status written = staged_.write(request.key.exec_id, request.files, failed_sync);
  if (failed_sync) {
    files_.stop(written.error());
  } else if (!written) {
    staged_.discard(request.key.exec_id);
  }
  return written;
}

Result<FileQueue::Prepared<CommitAnswer>> FileQueue::prepare_commit(const CommitRequest& request) {
  if (Status good = check_commit(request); !good) return fail(good.error());
  auto found = judged(request.key);
  if (!found) return fail(found.error());
  auto& [task, outcome] = *found;
  if (outcome != LeaseOutcome::accepted) return Prepared<CommitAnswer>{{outcome, {}}};
  if (depends_on_undecided(request)) return Prepared<CommitAnswer>{{}, {}, true};
  auto planned = plan(task, request);
  if (!planned) return fail(planned.error());
  std::string staging = request.files.empty() ? "" : "staging/" + request.key.exec_id;
  auto after = committed(task, {request.result, std::move(planned->created), std::move(staging)}, now(clock_));
  if (after && !has_redo(*after)) after = finished(*std::move(after), now(clock_));
  if (!after) return fail(after.error());
  if (Status staged = stage(task, request); !staged) return fail(staged.error());
  // If we die here, nothing was committed: the staged files are a leftover.
  hold_back(*after);
  for (const NewTask& spec : after->follow_ups) undecided_.insert(spec.id);
  return Prepared<CommitAnswer>{{outcome, std::move(planned->answers)}, *std::move(after)};
}

std::vector<Result<CommitAnswer>> FileQueue::commit(std::span<const CommitRequest> requests) {
  std::vector<Task> safe;
  auto answers = grouped<CommitAnswer>(
      requests, [&](const CommitRequest& request) { return prepare_commit(request); },
      [&](const Task& task, bool is_safe) {
        for (const NewTask& spec : task.follow_ups) undecided_.erase(spec.id);
        if (!is_safe) return withdraw(task);
        if (!has_redo(task)) return note_over(task);
        unfinished_.insert(task.spec.id);
        ends_.erase({running_.at(task.spec.id).held.ends(), task.spec.id});
        safe.push_back(task);
      });
  // If we die here, the commits are on the disk, and the next start does what follows.
  finish(std::move(safe));
  return answers;
}

// The ids and unique keys of the follow-ups are taken from now on, and none of them can be leased before its parent's
// DONE is durable.
void FileQueue::hold_back(const Task& task) {
  for (const NewTask& spec : task.follow_ups) {
    held_back_.insert_or_assign(spec.id, spec);
    if (!spec.unique_key.empty()) keys_.insert_or_assign(spec.unique_key, spec.id);
  }
}

// The commit did not become durable, so its follow-ups are none.
void FileQueue::withdraw(const Task& task) {
  for (const NewTask& spec : task.follow_ups) {
    held_back_.erase(spec.id);
    const auto key = keys_.find(spec.unique_key);
    if (key == keys_.end() || key->second != spec.id) continue;
    if (spec.unique_key == task.spec.unique_key) {
      key->second = task.spec.id;
    } else {
      keys_.erase(key);
    }
  }
  if (!task.staging.empty() && !files_.stopped()) staged_.discard(task.executions.back().exec_id);
}

void FileQueue::finish(std::vector<Task> tasks) {
  if (tasks.empty()) return;
  tasks = with_follow_ups(std::move(tasks));
  // If we die here, follow-ups are in pending/, and their parents are still COMMITTED: recovery sees to them first.
  tasks = with_published_output(std::move(tasks));
  // If we die here, the effects are there, and redo finds them so.
  complete(tasks);
}

// Creates the follow-ups that are absent, and returns the tasks that have all of theirs.
std::vector<Task> FileQueue::with_follow_ups(std::vector<Task> tasks) {
  std::vector<Move> moves;
  std::set<std::string, std::less<>> failed;
  for (const Task& task : tasks) {
    for (const NewTask& spec : task.follow_ups) {
      const auto found = find(spec.id);
      if (found) continue;
      const auto number = next_number();
      if (found.error().code == Code::not_found && number) {
        moves.push_back({new_task(spec, *number, now(clock_)), std::nullopt});
      } else {
        failed.insert(spec.id);
      }
    }
  }
  const auto statuses = files_.apply(moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!statuses[i]) failed.insert(moves[i].task.spec.id);
  }
  std::erase_if(tasks, [&](const Task& task) {
    const bool is_held_up =
        std::ranges::any_of(task.follow_ups, [&](const NewTask& s) { return failed.contains(s.id); });
    if (is_held_up) log_.warning("task.commit_held_up", {{"task", std::string_view(task.spec.id)}});
    return is_held_up;
  });
  return tasks;
}

std::vector<Task> FileQueue::with_published_output(std::vector<Task> tasks) {
  bool has_output = false;
  std::erase_if(tasks, [&](const Task& task) {
    if (task.staging.empty()) return false;
    has_output = true;
    const Status published = staged_.publish(task.executions.back().exec_id, task.spec.id);
    if (published) return false;
    log_.error("task.output_not_published", {{"task", std::string_view(task.spec.id)},
                                             {"staging", std::string_view(task.staging)},
                                             {"problem", std::string_view(published.error().message)}});
    // Either the disk refuses it now, and it is tried again; or someone else has put a directory of that name there, or
    // has taken the staged one away. Then the commit stands, and the files stay where they are.
    return published.error().code == Code::io;
  });
  if (!has_output) return tasks;
  if (Status synced = staged_.sync(); !synced) {
    files_.stop(synced.error());
    return {};
  }
  return tasks;
}

void FileQueue::complete(const std::vector<Task>& tasks) {
  std::vector<Move> moves;
  for (const Task& task : tasks) {
    if (auto after = finished(task, now(clock_))) moves.push_back({*std::move(after), TaskDirectory::running});
  }
  const auto statuses = files_.apply(moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!statuses[i]) continue;
    const Task& task = moves[i].task;
    note_over(task);
    unfinished_.erase(task.spec.id);
    for (const NewTask& spec : task.follow_ups) {
      held_back_.erase(spec.id);
      if (const auto created = read(TaskDirectory::pending, spec.id)) {
        note_pending(*created);
      } else {
        read_later(spec.id, created.error());
      }
    }
  }
}

void FileQueue::finish_held_up() {
  std::vector<Task> tasks;
  for (const std::string& id : unfinished_) {
    if (auto task = running_task(id)) tasks.push_back(*std::move(task));
  }
  finish(std::move(tasks));
}

}  // namespace kron
