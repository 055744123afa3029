#include <algorithm>

#include "kron/queue/file_queue.h"

// The start of FileQueue: from whatever a crash left to tasks that are each in one state. INV_004. Every step may be
// cut off by another crash, and is done again by the next start.
namespace kron {

// A process that was killed between a rename and its sync has left names that a power cut would still undo. What
// recovery finds and builds on must not be forgotten later: a task that is DONE because its follow-up is there, a token
// that was handed out.
Status FileQueue::make_durable_what_is_there() {
  for (const Place place : kPlacesFurthestLast) {
    if (Status synced = files_.sync(place); !synced) return synced;
  }
  if (Status synced = staged_.sync(); !synced) return synced;
  return directory_->sync();
}

Status FileQueue::recover() {
  if (Status done = make_durable_what_is_there(); !done) return done;
  const auto leftovers = files_.remove_leftovers();
  if (!leftovers) return fail(leftovers.error());
  const auto own_leftovers = remove_leftovers(*directory_);
  if (!own_leftovers) return fail(own_leftovers.error());
  recovery_.leftovers = *leftovers + *own_leftovers;
  if (Status done = recover_tokens(); !done) return done;
  std::vector<Task> committed;
  if (Status done = recover_running(committed); !done) return done;
  for (const Task& task : committed) hold_back(task);
  if (Status done = recover_pending(); !done) return done;
  finish(std::move(committed));
  if (Status done = end_orphans(); !done) return done;
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

Status FileQueue::recover_tokens() {
  Status loaded = tokens_.load();
  if (loaded || (loaded.error().code != Code::not_found && loaded.error().code != Code::invalid)) return loaded;
  // A new queue, or a file that someone took away: then the tasks are asked for the highest number they know.
  std::uint64_t highest = 0;
  for (const Place place : kPlacesFurthestLast) {
    std::vector<std::string> ids;
    const Status listed = files_.list(place, [&](std::string_view id) { ids.emplace_back(id); });
    if (!listed) return listed;
    for (const std::string& id : ids) {
      const auto task = files_.read(place, id);
      if (!task) continue;
      highest = std::max(highest, task->sequence);
      for (const Execution& execution : task->executions) highest = std::max(highest, execution.token);
    }
  }
  if (highest > 0) {
    log_.warning("queue.tokens_rebuilt", {{"problem", std::string_view(loaded.error().message)},
                                          {"highest", static_cast<std::int64_t>(highest)}});
  }
  tokens_.begin_behind(highest);
  return {};
}

// The task in `place`, if it is one and no further copy of it is. Removes a copy that is outweighed, and sets aside
// what is no task; an Error only when the disk does not answer.
Result<std::optional<Task>> FileQueue::furthest(Place place, std::string_view task_id) {
  for (const Place further : kPlacesFurthestLast) {
    if (further <= place) continue;
    const auto is_there = files_.has(further, task_id);
    if (!is_there) return fail(is_there.error());
    if (!*is_there) continue;
    if (const auto task = files_.read(further, task_id); !task) {
      if (task.error().code == Code::io) return fail(task.error());
      report_damage(further, task_id, task.error());
      ++recovery_.set_aside;
      continue;
    }
    // Not synced: a copy that comes back is removed again, and a prune syncs before it removes what outweighs it.
    if (Status removed = files_.remove(place, task_id); !removed) return fail(removed.error());
    ++recovery_.doubles;
    return std::nullopt;
  }
  auto task = files_.read(place, task_id);
  if (task) return *std::move(task);
  if (task.error().code == Code::io) return fail(task.error());
  if (task.error().code == Code::not_found) return std::nullopt;
  report_damage(place, task_id, task.error());
  ++recovery_.set_aside;
  return std::nullopt;
}

Status FileQueue::recover_running(std::vector<Task>& committed) {
  std::vector<std::string> ids;
  const Status listed = files_.list(Place::running, [&](std::string_view id) { ids.emplace_back(id); });
  if (!listed) return listed;
  for (const std::string& id : ids) {
    auto task = furthest(Place::running, id);
    if (!task) return fail(task.error());
    if (!*task) continue;
    if (place_of(**task) == Place::running) {
      resume(**task, committed);
    } else if (Status moved = move(**task, Place::running); !moved) {
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
  // How often a worker outside has renewed is not on the disk, so it gets one term from now, and the fencing token
  // keeps it from committing when it comes too late. A worker inside died with the last owner.
  HeldLease held = HeldLease::from(boot_time, last.lease_term);
  held.is_orphaned = last.holder == Holder::inside;
  if (held.is_orphaned) held.lease_ends = boot_time;
  if (task.spec.timeout && last.started_at) {
    const Seconds passed = std::clamp(now(clock_) - *last.started_at, Seconds(0), *task.spec.timeout);
    held.attempt_ends = boot_time + (*task.spec.timeout - passed);
  }
  note_running(task, held);
  ++(held.is_orphaned ? recovery_.aborted : recovery_.kept);
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

Status FileQueue::recover_pending() {
  std::vector<std::string> ids;
  const Status listed = files_.list(Place::pending, [&](std::string_view id) { ids.emplace_back(id); });
  if (!listed) return listed;
  for (const std::string& id : ids) {
    auto task = furthest(Place::pending, id);
    if (!task) return fail(task.error());
    if (!*task || held_back_.contains(id)) continue;
    if (place_of(**task) == Place::pending) {
      note_pending(**task);
    } else {
      report_damage(Place::pending, id, {Code::invalid, "its executions say that it does not wait"});
      ++recovery_.set_aside;
    }
  }
  return {};
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
