#include <algorithm>
#include <malloc.h>

#include "kron/queue/file_queue.h"

// The start of FileQueue: from whatever a crash left to tasks that are each in one state. INV_004. Every step may be
// cut off by another crash, and is done again by the next start.
namespace kron {

// A process that was killed between a rename and its sync has left names that a power cut would still undo. What
// recovery finds and builds on must not be forgotten later: a task that is DONE because its follow-up is there, a token
// that was handed out.
Status FileQueue::make_durable_what_is_there() {
  for (const TaskDirectory place : kDirectoriesFurthestLast) {
    if (Status synced = files_.sync(place); !synced) return synced;
  }
  Status synced = staged_.sync();
  if (synced) synced = directory_->sync();
  if (!synced) files_.stop(synced.error());
  return synced;
}

Status FileQueue::recover() {
  if (Status done = make_durable_what_is_there(); !done) return done;
  const auto leftovers = files_.remove_leftovers();
  if (!leftovers) return fail(leftovers.error());
  const auto own_leftovers = remove_leftovers(*directory_);
  if (!own_leftovers) return fail(own_leftovers.error());
  recovery_.leftovers = *leftovers + *own_leftovers;
  if (Status done = recover_tokens(); !done) return done;
  noted_deadlines_ = renewals_.load();
  if (Status done = recover_tasks(); !done) return done;
  noted_deadlines_.clear();
  if (Status done = end_orphans(); !done) return done;
  if (has_new_terms_) note_all_renewals();
  if (Status done = recover_staging(); !done) return done;
  recovery_.pending = index_.size();
  log_.info("queue.recovered", {{"pending", static_cast<std::int64_t>(recovery_.pending)},
                                {"kept", static_cast<std::int64_t>(recovery_.kept)},
                                {"aborted", static_cast<std::int64_t>(recovery_.aborted)},
                                {"finalised", static_cast<std::int64_t>(recovery_.finalised)},
                                {"doubles", static_cast<std::int64_t>(recovery_.doubles)},
                                {"leftovers", static_cast<std::int64_t>(recovery_.leftovers)},
                                {"set_aside", static_cast<std::int64_t>(recovery_.set_aside)}});
  return {};
}

Status FileQueue::recover_tasks() {
  constexpr std::size_t kMany = 10'000;
  std::vector<Task> committed;
  {
    const auto listing = list_tasks();
    if (!listing) return fail(listing.error());
    if (Status done = recover_running(*listing, committed); !done) return done;
    for (const Task& task : committed) hold_back(task);
    if (Status done = recover_pending(*listing); !done) return done;
  }
  // The names of many tasks, and reading them, take about as much memory as what is kept of them.
  if (index_.size() > kMany) ::malloc_trim(0);
  finish(std::move(committed));
  return {};
}

Status FileQueue::recover_tokens() {
  Status loaded = tokens_.load();
  if (loaded || (loaded.error().code != Code::not_found && loaded.error().code != Code::invalid)) return loaded;
  // A new queue, or a file that someone took away: then the tasks are asked for the highest number they know.
  std::uint64_t highest = 0;
  const auto highest_in = [](const Result<Task>& task) {
    std::uint64_t number = task ? task->sequence : 0;
    if (!task) return number;
    for (const Execution& execution : task->executions) number = std::max(number, execution.token);
    return number;
  };
  for (const TaskDirectory place : kDirectoriesFurthestLast) {
    IdList ids;
    if (Status listed = files_.list(place, [&](std::string_view id) { ids.add(id); }); !listed) return listed;
    const Status read = files_.read_each(place, ids.ids(), highest_in, [&](std::string_view, std::uint64_t number) {
      highest = std::max(highest, number);
      return Status();
    });
    if (!read) return read;
  }
  if (highest > 0) {
    log_.warning("queue.tokens_rebuilt", {{"problem", std::string_view(loaded.error().message)},
                                          {"highest", static_cast<std::int64_t>(highest)}});
  }
  tokens_.begin_behind(highest);
  return {};
}

// Asking the disk for each task whether it is further elsewhere would take longer than reading it.
Result<FileQueue::Listing> FileQueue::list_tasks() const {
  Listing listing;
  Status listed = files_.list(TaskDirectory::pending, [&](std::string_view id) { listing.pending.add(id); });
  if (!listed) return fail(listed.error());
  listed = files_.list(TaskDirectory::running, [&](std::string_view id) {
    listing.running.add(id);
    if (listing.pending.contains(id)) listing.doubled.add(id);
  });
  if (!listed) return fail(listed.error());
  listed = files_.list(TaskDirectory::completed, [&](std::string_view id) {
    if (listing.pending.contains(id) || listing.running.contains(id)) listing.doubled.add(id);
  });
  if (!listed) return fail(listed.error());
  return listing;
}

// What is found in a place of tasks and is none: set aside. An Error only when the disk does not answer.
Status FileQueue::skip_damaged(TaskDirectory place, std::string_view task_id, const Error& error) {
  if (error.code == Code::io) return fail(error);
  if (error.code == Code::not_found) return {};
  report_damage(place, task_id, error);
  ++recovery_.set_aside;
  return {};
}

// Whether a further copy of the task in `place` is one, too. Then the one in `place` is removed.
Result<bool> FileQueue::has_further_copy(TaskDirectory place, std::string_view task_id) {
  for (const TaskDirectory further : kDirectoriesFurthestLast) {
    if (further <= place) continue;
    if (const auto task = files_.read(further, task_id); !task) {
      if (Status passed = skip_damaged(further, task_id, task.error()); !passed) return fail(passed.error());
      continue;
    }
    // Not synced: a copy that comes back is removed again, and a prune syncs before it removes the further one.
    if (Status removed = files_.remove(place, task_id); !removed) return fail(removed.error());
    ++recovery_.doubles;
    return true;
  }
  return false;
}

Status FileQueue::recover_running(const Listing& listing, std::vector<Task>& committed) {
  for (const std::string_view id : listing.running.ids()) {
    const auto is_behind =
        listing.doubled.contains(id) ? has_further_copy(TaskDirectory::running, id) : Result<bool>(false);
    if (!is_behind) return fail(is_behind.error());
    if (*is_behind) continue;
    const auto task = files_.read(TaskDirectory::running, id);
    if (!task) {
      if (Status passed = skip_damaged(TaskDirectory::running, id, task.error()); !passed) return passed;
    } else if (directory_of(*task) == TaskDirectory::running) {
      resume(*task, committed);
    } else if (Status moved = move(*task, TaskDirectory::running); !moved) {
      // Seed 002 knows no executions: what it left in running/ waits again.
      return moved;
    }
  }
  return {};
}

void FileQueue::resume(const Task& task, std::vector<Task>& committed) {
  const Execution& last = task.executions.back();
  const Nanoseconds boot_time = clock_.boot_time();
  if (last.status == ExecutionStatus::committed) {
    note_running(task, HeldLease::from(boot_time, last.lease_term));
    ends_.erase({running_.at(task.spec.id).held.ends(), task.spec.id});
    unfinished_.insert(task.spec.id);
    committed.push_back(task);
    ++recovery_.finalised;
    return;
  }
  // A worker inside died with the last owner.
  HeldLease held = kept_lease(last);
  held.is_orphaned = last.holder == Holder::in_process;
  if (held.is_orphaned) held.lease_ends = boot_time;
  if (task.spec.timeout && last.started_at) {
    const Seconds passed = std::clamp(now(clock_) - *last.started_at, Seconds(0), *task.spec.timeout);
    held.attempt_ends = boot_time + (*task.spec.timeout - passed);
  }
  note_running(task, held);
  ++(held.is_orphaned ? recovery_.aborted : recovery_.kept);
}

// Within one boot a lease ends when it would have ended without the restart. After a reboot its clock has begun anew,
// so it gets one term from now, which is noted: the next restart does not give another. The fencing token keeps a
// worker that comes too late from committing.
HeldLease FileQueue::kept_lease(const Execution& execution) {
  HeldLease held = HeldLease::from(clock_.boot_time(), execution.lease_term);
  std::optional<Nanoseconds> deadline;
  if (execution.boot_id == clock_.boot_id()) deadline = execution.boot_deadline;
  if (const auto noted = noted_deadlines_.find(execution.exec_id); noted != noted_deadlines_.end()) {
    deadline = noted->second;
  }
  // No lease is longer than its term, whatever a file says.
  const bool is_believed = deadline && *deadline <= held.lease_ends;
  if (is_believed) held.lease_ends = *deadline;
  has_new_terms_ = has_new_terms_ || (!is_believed && execution.holder == Holder::outside);
  return held;
}

// A full disk is no reason not to start: what could not be ended now is ended by a later expire().
Status FileQueue::end_orphans() {
  while (!ended().empty()) {
    const auto expired = expire();
    if (!expired) return fail(expired.error());
    if (expired->empty()) break;
  }
  return {};
}

Status FileQueue::recover_pending(const Listing& listing) {
  std::vector<std::string_view> ids;
  for (const std::string_view id : listing.pending.ids()) {
    const auto is_behind =
        listing.doubled.contains(id) ? has_further_copy(TaskDirectory::pending, id) : Result<bool>(false);
    if (!is_behind) return fail(is_behind.error());
    if (!*is_behind) ids.push_back(id);
  }
  const auto condense = [&](const Result<Task>& task) -> Result<Waiting> {
    if (!task) return fail(task.error());
    if (directory_of(*task) == TaskDirectory::pending) return waiting_part_of(*task);
    return fail(Code::invalid, "its executions say that it does not wait");
  };
  return files_.read_each(TaskDirectory::pending, ids, condense,
                          [&](std::string_view id, const Result<Waiting>& waiting) {
                            if (!waiting) return skip_damaged(TaskDirectory::pending, id, waiting.error());
                            if (!held_back_.contains(id)) note_waiting(id, *waiting);
                            return Status();
                          });
}

// Staged files without a commit are a leftover. Those that a commit could not publish stay.
Status FileQueue::recover_staging() {
  const auto names = staged_.names();
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const auto task_id = task_of_exec_id(name);
    if (!task_id) continue;
    const auto found = find(*task_id);
    if (found && found->first.staging == "staging/" + name) continue;
    if (!found && found.error().code == Code::io) return fail(found.error());
    staged_.discard(name);
  }
  return {};
}

}  // namespace kron
