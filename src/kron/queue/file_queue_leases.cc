#include <algorithm>
#include <set>
#include <utility>

#include "kron/queue/file_queue.h"
#include "kron/queue/file_queue_group.h"

// Leases of FileQueue: from PENDING to the end of an attempt without a commit.
namespace kron {
namespace {

constexpr std::size_t kExpireAtOnce = 1000;

}  // namespace

// What memory holds of a task, after its new file is safe.
void FileQueue::index_after_write(const Task& task) {
  switch (directory_of(task)) {
    case TaskDirectory::pending:
      note_pending(task);
      return;
    case TaskDirectory::running:
      return;
    case TaskDirectory::completed:
      note_over(task);
  }
}

bool FileQueue::has_room_for(std::string_view type, const CountOfType& taken) const {
  const auto limit = std::ranges::find(options_.concurrency_limits, type, &std::pair<std::string, int>::first);
  if (limit == options_.concurrency_limits.end()) return true;
  const auto count_in = [&](const auto& counts) {
    const auto found = counts.find(type);
    return found == counts.end() ? 0 : found->second;
  };
  return count_in(running_of_type_) + count_in(taken) < limit->second;
}

// The clock was set back: what waits for a time of the old clock may be ready by the new one.
void FileQueue::look_again_at_delayed() {
  for (const std::string& id : index_.delayed_ids()) {
    const auto task = read(TaskDirectory::pending, id);
    if (!task || !index_.remove(id)) continue;
    note_pending(*task);
  }
}

// A file that cannot be read now may be readable in a moment; one that is no task, or is gone, never is.
void FileQueue::read_later(std::string_view task_id, const Error& error) {
  if (error.code == Code::io && !unread_.emplace(task_id).second) return;
  log_.error("task.unreadable", {{"task", task_id}, {"problem", std::string_view(error.message)}});
}

void FileQueue::read_again() {
  constexpr std::size_t kAtOnce = 100;
  std::vector<std::string> ids(unread_.begin(), unread_.end());
  if (ids.size() > kAtOnce) ids.resize(kAtOnce);
  for (const std::string& id : ids) {
    const auto task = read(TaskDirectory::pending, id);
    if (!task && task.error().code == Code::io) continue;
    unread_.erase(id);
    if (task) {
      note_pending(*task);
    } else {
      read_later(id, task.error());
    }
  }
}

// Takes tasks out of the index; whoever calls puts back what does not become a lease.
std::vector<Task> FileQueue::take_ready(const LeaseRequest& request, CountOfType& taken) {
  std::vector<Task> tasks;
  const auto may_run = [&](std::string_view type) {
    const bool is_wanted = request.types.empty() || std::ranges::find(request.types, type) != request.types.end();
    return is_wanted && has_room_for(type, taken);
  };
  const Instant t = now(clock_);
  if (t < std::exchange(last_lease_, t)) look_again_at_delayed();
  while (tasks.size() < request.count) {
    const auto id = index_.take(t, may_run);
    if (!id) break;
    auto task = read(TaskDirectory::pending, *id);
    if (!task) {
      read_later(*id, task.error());
      continue;
    }
    ++taken[task->spec.type];
    tasks.push_back(*std::move(task));
  }
  return tasks;
}

Result<Move> FileQueue::prepare_lease(const Task& task, const LeaseRequest& request) {
  const auto token = next_number();
  if (!token) return fail(token.error());
  const Nanoseconds deadline = clock_.boot_time() + request.term;
  auto after =
      leased(task, {request.worker, *token, request.term, request.holder, clock_.boot_id(), deadline}, now(clock_));
  if (after && request.starts) after = started(*std::move(after), now(clock_));
  if (!after) return fail(after.error());
  return Move{*std::move(after), TaskDirectory::pending};
}

std::vector<Result<std::vector<Lease>>> FileQueue::lease(std::span<const LeaseRequest> requests) {
  struct Taken {
    std::size_t request;
    Task before;
  };
  std::vector<Result<std::vector<Lease>>> answers(requests.size());
  std::vector<std::optional<Error>> errors(requests.size());
  std::vector<Taken> taken;
  std::vector<Move> moves;
  CountOfType taken_of_type;
  read_again();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (Status good = check_lease_request(requests[i]); !good) errors[i] = good.error();
    if (files_.stopped()) errors[i] = files_.stopped();
    if (errors[i]) continue;
    for (Task& task : take_ready(requests[i], taken_of_type)) {
      auto prepared = prepare_lease(task, requests[i]);
      if (prepared) {
        moves.push_back(*std::move(prepared));
        taken.push_back({i, std::move(task)});
      } else {
        note_pending(task);
        errors[i] = prepared.error();
      }
    }
  }
  const auto statuses = files_.apply(moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Task& task = moves[i].task;
    const std::size_t asker = taken[i].request;
    if (!statuses[i]) {
      note_pending(taken[i].before);
      errors[asker] = statuses[i].error();
      continue;
    }
    HeldLease held = HeldLease::from(clock_.boot_time(), requests[asker].term);
    if (requests[asker].starts) held.start(clock_.boot_time(), task.spec.timeout);
    note_running(task, held);
    answers[asker]->push_back(lease_of(task));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (answers[i]->empty() && errors[i]) answers[i] = fail(*errors[i]);
  }
  return answers;
}

Result<std::pair<Task, LeaseOutcome>> FileQueue::judged(const LeaseKey& key) {
  const auto task_id = task_of_exec_id(key.exec_id);
  if (!task_id) return fail(no_such_execution(key.exec_id));
  auto found = find(*task_id);
  if (!found) {
    const bool is_unknown = found.error().code == Code::not_found;
    return fail(is_unknown ? no_such_execution(key.exec_id) : found.error());
  }
  const auto running = running_.find(std::string(*task_id));
  const bool has_ended = running == running_.end() || running->second.held.has_ended(clock_.boot_time());
  const auto outcome = judge(found->first, key, has_ended);
  if (!outcome) return fail(outcome.error());
  return std::pair(std::move(found->first), *outcome);
}

Result<FileQueue::Prepared<LeaseOutcome>> FileQueue::prepare_start(const LeaseKey& key) {
  auto found = judged(key);
  if (!found) return fail(found.error());
  auto& [task, outcome] = *found;
  const bool is_first = task.executions.back().status == ExecutionStatus::leased;
  if (outcome != LeaseOutcome::accepted || !is_first) return Prepared<LeaseOutcome>{outcome};
  auto after = started(std::move(task), now(clock_));
  if (!after) return fail(after.error());
  return Prepared<LeaseOutcome>{outcome, *std::move(after)};
}

std::vector<Result<LeaseOutcome>> FileQueue::start(std::span<const LeaseKey> keys) {
  return grouped<LeaseOutcome>(
      keys, [&](const LeaseKey& key) { return prepare_start(key); },
      [&](const Task& task, bool is_safe) {
        if (!is_safe) return;
        Running& running = running_.at(task.spec.id);
        HeldLease held = running.held;
        held.start(clock_.boot_time(), task.spec.timeout);
        change_end(task.spec.id, running, held);
      });
}

void FileQueue::change_end(const std::string& task_id, Running& running, const HeldLease& held) {
  ends_.erase({running.held.ends(), task_id});
  running.held = held;
  ends_.emplace(held.ends(), task_id);
}

Result<LeaseOutcome> FileQueue::renew(const LeaseKey& key) {
  if (files_.stopped()) return fail(*files_.stopped());
  const auto found = judged(key);
  if (!found) return fail(found.error());
  const auto& [task, outcome] = *found;
  if (outcome == LeaseOutcome::accepted) {
    Running& running = running_.at(task.spec.id);
    HeldLease held = running.held;
    held.renew(clock_.boot_time());
    change_end(task.spec.id, running, held);
    note_renewal(running);
  }
  return outcome;
}

// For the next process of this boot. A lease that cannot be noted is renewed all the same.
void FileQueue::note_renewal(const Running& running) {
  report_renewals(renewals_.note(running.exec_id, running.held.lease_ends, [this](const Renewals::Add& add) {
    for (const auto& [id, one] : running_) add(one.exec_id, one.held.lease_ends);
  }));
}

void FileQueue::note_all_renewals() {
  report_renewals(renewals_.write_anew([this](const Renewals::Add& add) {
    for (const auto& [id, one] : running_) add(one.exec_id, one.held.lease_ends);
  }));
}

void FileQueue::report_renewals(const Status& noted) {
  const bool failed_before = std::exchange(renewals_fail_, !noted);
  if (noted || failed_before) return;
  log_.warning("queue.renewals_not_noted", {{"problem", std::string_view(noted.error().message)}});
}

Result<FileQueue::Prepared<FailAnswer>> FileQueue::prepare_fail(const FailRequest& request) {
  auto found = judged(request.key);
  if (!found) return fail(found.error());
  auto& [task, outcome] = *found;
  if (outcome != LeaseOutcome::accepted) {
    const auto running = running_.find(task.spec.id);
    const auto held = running != running_.end() ? std::optional(running->second.held) : std::nullopt;
    return Prepared<FailAnswer>{{outcome, state_after_expiry(task, held, clock_)}};
  }
  auto after = aborted(std::move(task), abort_of(request), now(clock_));
  if (!after) return fail(after.error());
  return Prepared<FailAnswer>{{outcome, state_of(*after)}, *after};
}

std::vector<Result<FailAnswer>> FileQueue::fail_attempts(std::span<const FailRequest> requests) {
  return grouped<FailAnswer>(
      requests, [&](const FailRequest& request) { return prepare_fail(request); },
      [&](const Task& task, bool is_safe) {
        if (is_safe) index_after_write(task);
      });
}

std::vector<std::string> FileQueue::ended() const {
  std::vector<std::string> ids;
  for (const auto& [ends, id] : ends_) {
    if (ends > clock_.boot_time() || ids.size() == kExpireAtOnce) break;
    ids.push_back(id);
  }
  return ids;
}

Result<std::vector<Expired>> FileQueue::expire() {
  if (files_.stopped()) return fail(*files_.stopped());
  finish_held_up();
  read_again();
  std::vector<Move> moves;
  std::vector<Expired> candidates;
  for (const std::string& id : ended()) {
    auto task = running_task(id);
    auto after = task ? aborted(*std::move(task), running_.at(id).held.abort(), now(clock_)) : task;
    if (!after) {
      log_.error("task.unreadable",
                 {{"task", std::string_view(id)}, {"problem", std::string_view(after.error().message)}});
      // Set aside, or taken away by hand: there is nothing left to expire.
      if (after.error().code != Code::io) forget_running(id);
      continue;
    }
    const Execution& last = after->executions.back();
    candidates.push_back({id, last.exec_id, last.reason, state_of(*after)});
    moves.push_back({*std::move(after), TaskDirectory::running});
  }
  const auto statuses = files_.apply(moves);
  std::vector<Expired> expired;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!statuses[i]) continue;  // still expired; the next call tries again
    index_after_write(moves[i].task);
    log_.warning("task.expired", {{"task", std::string_view(candidates[i].task_id)},
                                  {"exec_id", std::string_view(candidates[i].exec_id)},
                                  {"reason", std::string_view(candidates[i].reason)}});
    expired.push_back(std::move(candidates[i]));
  }
  if (files_.stopped()) return fail(*files_.stopped());
  return expired;
}

}  // namespace kron
