#include <algorithm>
#include <numeric>
#include <utility>

#include "kron/queue/answers.h"
#include "kron/queue/redis_queue.h"

// Attempts that end without a commit, cancels and retries. What a back-off is, and what a task is told after its last
// attempt, transitions.cc decides from the task as it was read; settle.lua writes it if the task is still so. When it
// is not, it is read and judged again: whoever was faster has had a reason.
namespace kron {
namespace {

constexpr std::size_t kMostChangesOfAScript = 32;
constexpr std::size_t kOverdueAtATime = 256;
constexpr Nanoseconds kBetweenAudits = Seconds(10);
constexpr std::size_t kAuditedAtATime = 500;
constexpr int kMostReadings = 10;  // of one task, for one change

HeldLease held_lease_of(const RedisTask& task) {
  HeldLease held;
  held.lease_ends = std::chrono::microseconds(task.lease_ends);
  if (task.attempt_ends) held.attempt_ends = std::chrono::microseconds(*task.attempt_ends);
  return held;
}

}  // namespace

struct RedisQueue::Changes {
  struct Wanted {
    std::size_t index;
    RedisTask before;
    Task after;
  };

  Changes() = default;
  Changes(std::vector<std::string> ids, std::string its_verb, Judge judges, Settled when_settled)
      : task_ids(std::move(ids)),
        verb(std::move(its_verb)),
        judge(std::move(judges)),
        settled(std::move(when_settled)),
        statuses(task_ids.size()),
        open(task_ids.size()) {
    std::iota(open.begin(), open.end(), std::size_t{0});
  }

  std::vector<std::string> task_ids;
  std::string verb;
  Judge judge;
  Settled settled;
  std::vector<Status> statuses;   // one for each
  std::vector<std::size_t> open;  // those that are to be read, and judged
  std::vector<Wanted> wanted;     // those that were judged, and are on their way
  int readings = 0;
};

// Attempts that failed. Its changes refer to it, and to the requests.
struct RedisQueue::Failures {
  Failures(RedisQueue& queue, std::span<const FailRequest> requests);
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  std::vector<Result<FailAnswer>> answers;
  std::vector<std::size_t> of;  // the request of each change
  Changes changes;
};

std::vector<Result<RedisTask>> RedisQueue::read(std::span<const std::string> task_ids) {
  std::vector<RedisCommand> commands{{"TIME"}};
  for (const std::string& id : task_ids) {
    RedisCommand& command = commands.emplace_back(RedisCommand{"HMGET", keys_.task(id)});
    command.insert(command.end(), redis_state_fields().begin(), redis_state_fields().end());
  }
  const std::vector<RedisReply> replies = ask_plainly(std::move(commands));
  const auto second =
      replies.front().value.items.size() == 2 ? whole_number(replies.front().value.items[0].text) : std::nullopt;
  const auto microsecond = second ? whole_number(replies.front().value.items[1].text) : std::nullopt;
  if (second && microsecond) note_time(*second * 1'000'000 + *microsecond);
  std::vector<Result<RedisTask>> tasks;
  for (std::size_t i = 0; i < task_ids.size(); ++i) {
    const RedisReply& reply = replies[i + 1];
    if (reply.how == RedisReply::How::error && reply.why.starts_with("WRONGTYPE")) {
      tasks.push_back(fail(unreadable(keys_.task(task_ids[i]), "it is not a hash")));
    } else if (!reply.is_reply() || !microsecond) {
      tasks.push_back(fail(error_of(reply.is_reply() ? replies.front() : reply)));
    } else {
      tasks.push_back(task_in(task_ids[i], fields_of(redis_state_fields(), reply.value)));
    }
  }
  return tasks;
}

// Reads those that are open and judges them: the commands that write what they have become.
std::vector<RedisCommand> RedisQueue::judge_open(Changes& changes) {
  std::vector<RedisCommand> commands;
  if (changes.open.empty()) return commands;
  ++changes.readings;
  std::vector<std::string> ids;
  for (const std::size_t i : changes.open) ids.push_back(changes.task_ids[i]);
  auto tasks = read(ids);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const std::size_t index = changes.open[k];
    auto judged = tasks[k] ? changes.judge(index, *tasks[k]) : fail(tasks[k].error());
    if (!judged) changes.statuses[index] = fail(judged.error());
    if (!judged || !judged->after) continue;
    if (changes.wanted.size() % kMostChangesOfAScript == 0) {
      commands.push_back(script("settle", {std::to_string(options_.ageing.count())}));
    }
    RedisCommand& command = commands.back();
    const RedisTask& before = *tasks[k];
    for (const std::string& part :
         {ids[k], next_request(), changes.verb, before.state, before.token, before.attempts, before.request}) {
      command.push_back(part);
    }
    std::ranges::move(settled_fields(*judged->after), std::back_inserter(command));
    changes.wanted.push_back({index, *std::move(tasks[k]), *std::move(judged->after)});
  }
  changes.open.clear();
  return commands;
}

// What was no longer as it had been read is open again.
void RedisQueue::finish(Changes& changes, Told told) {
  const auto wanted = std::exchange(changes.wanted, {});
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto& answer = told[k / kMostChangesOfAScript];
    const std::size_t at = 1 + 2 * (k % kMostChangesOfAScript);
    Status& status = changes.statuses[wanted[k].index];
    if (!answer || at + 1 >= answer->size()) {
      status = answer ? fail(Code::internal, "Redis answered for another number of tasks") : fail(answer.error());
      continue;
    }
    note_first_end(answer->front());
    const std::string& word = (*answer)[at].text;
    const std::string& detail = (*answer)[at + 1].text;
    const std::string& id = wanted[k].after.spec.id;
    if (word == "settled") {
      changes.settled(wanted[k].index, wanted[k].before, wanted[k].after);
    } else if (word == "changed") {
      changes.open.push_back(wanted[k].index);
    } else if (word == "taken") {
      status = fail(unique_key_is_taken(wanted[k].after, detail));
    } else if (word == "not_found") {
      status = fail(no_such_task(id));
    } else {
      status = fail(unreadable(detail, "it has another type, or lacks fields"));
    }
  }
}

void RedisQueue::go_on(Changes& changes) {
  while (!changes.open.empty() && changes.readings < kMostReadings) {
    auto commands = judge_open(changes);
    finish(changes, ask(std::move(commands)));
  }
  for (const std::size_t i : changes.open) {
    changes.statuses[i] =
        fail(Code::unreachable, "task " + changes.task_ids[i] + " is being changed by others all the time; ask again");
  }
}

std::vector<Status> RedisQueue::change(std::span<const std::string> task_ids, std::string_view verb, Judge judge,
                                       Settled settled) {
  Changes changes({task_ids.begin(), task_ids.end()}, std::string(verb), std::move(judge), std::move(settled));
  go_on(changes);
  return std::move(changes.statuses);
}

RedisQueue::Failures::Failures(RedisQueue& queue, std::span<const FailRequest> requests)
    : answers(requests.size(), FailAnswer{}) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (const auto task_id = task_of_exec_id(requests[i].key.exec_id)) {
      ids.emplace_back(*task_id);
      of.push_back(i);
    } else {
      answers[i] = fail(no_such_execution(requests[i].key.exec_id));
    }
  }
  const auto judge_one = [this, &queue, requests](std::size_t k, const RedisTask& before) -> Result<Judged> {
    const FailRequest& request = requests[of[k]];
    const bool has_ended = before.is_held() && before.has_ended(queue.server_time_);
    const auto outcome = judge(before.task, request.key, has_ended);
    if (!outcome) return fail(outcome.error());
    if (*outcome != LeaseOutcome::accepted) {
      // What the next expire() will make of it, when nobody has looked yet.
      const auto after =
          has_ended ? aborted(before.task, held_lease_of(before).abort(), queue.server_second()) : before.task;
      answers[of[k]] = FailAnswer{*outcome, state_of(after ? *after : before.task)};
      return Judged{};
    }
    auto after = aborted(before.task, abort_of(request), queue.server_second());
    if (!after) return fail(after.error());
    return Judged{*std::move(after)};
  };
  const auto settled = [this, &queue](std::size_t k, const RedisTask&, const Task& after) {
    answers[of[k]] = FailAnswer{LeaseOutcome::accepted, state_of(after)};
    queue.note_ended(after);
    if (state_of(after) == TaskState::pending) queue.note_ready(ready_at(after, queue.server_second()));
  };
  changes = Changes(std::move(ids), "fail", judge_one, settled);
}

void RedisQueue::finish(Failures& failures, std::span<const FailRequest> requests) {
  go_on(failures.changes);
  for (std::size_t k = 0; k < failures.of.size(); ++k) {
    const Status& status = failures.changes.statuses[k];
    if (status) continue;
    const std::size_t i = failures.of[k];
    const bool is_gone = status.error().code == Code::not_found;
    failures.answers[i] = fail(is_gone ? no_such_execution(requests[i].key.exec_id) : status.error());
  }
}

std::vector<Result<FailAnswer>> RedisQueue::fail_attempts(std::span<const FailRequest> requests) {
  Failures failures(*this, requests);
  finish(failures, requests);
  return std::move(failures.answers);
}

// The attempts that failed are read before the rest, and judged by that: what is written of them is part of the one
// trip that Redis syncs. What the round itself has changed meanwhile is read and judged once more, behind it.
QueueRoundAnswers RedisQueue::do_round(const QueueRound& round) {
  Failures failures(*this, round.fails);
  auto settles = judge_open(failures.changes);
  auto submits = submit_batch(round.submits);
  auto starts = move_batch(round.starts, "start");
  auto renewals = move_batch(round.renewals, "renew");
  auto commits = commit_batch(round.commits);
  auto leases = lease_batch(round.leases);
  const std::size_t settling = settles.size();
  std::vector<RedisCommand> all;
  for (auto* commands :
       {&submits.commands, &starts.commands, &renewals.commands, &commits.commands, &settles, &leases.commands}) {
    std::ranges::move(*commands, std::back_inserter(all));
  }
  const auto told = ask(std::move(all));
  Told rest = told;
  const auto next = [&](std::size_t count) {
    const Told these = rest.first(count);
    rest = rest.subspan(count);
    return these;
  };
  finish(submits, round.submits, next(submits.groups.size()));
  finish(starts, round.starts, next(starts.groups.size()));
  finish(renewals, round.renewals, next(renewals.groups.size()));
  finish(commits, round.commits, next(commits.groups.size()));
  finish(failures.changes, next(settling));
  finish(leases, round.leases, next(leases.groups.size()));
  finish(failures, round.fails);
  return {std::move(submits.answers), std::move(starts.answers),   std::move(renewals.answers),
          std::move(commits.answers), std::move(failures.answers), std::move(leases.answers)};
}

std::vector<Result<CancelOutcome>> RedisQueue::cancel_all(std::span<const std::string> task_ids) {
  std::vector<Result<CancelOutcome>> outcomes(task_ids.size(), CancelOutcome::cancelled);
  const auto judge_one = [&](std::size_t i, const RedisTask& before) -> Result<Judged> {
    if (const auto refusal = refusal_to_cancel(before.task)) {
      outcomes[i] = *refusal;
      return Judged{};
    }
    auto after = cancelled(before.task, server_second());
    if (!after) return fail(after.error());
    return Judged{*std::move(after)};
  };
  const auto statuses = change(task_ids, "cancel", judge_one,
                               [&](std::size_t, const RedisTask&, const Task& after) { note_ended(after); });
  for (std::size_t i = 0; i < task_ids.size(); ++i) {
    if (!statuses[i]) outcomes[i] = fail(statuses[i].error());
  }
  return outcomes;
}

Result<CancelOutcome> RedisQueue::cancel(std::string_view task_id) {
  const std::string id(task_id);
  return std::move(cancel_all(std::span(&id, 1)).front());
}

std::vector<Result<RetryOutcome>> RedisQueue::retry_all(std::span<const RetryRequest> requests) {
  std::vector<Result<RetryOutcome>> outcomes(requests.size(), RetryOutcome::retried);
  std::vector<std::string> ids;
  for (const RetryRequest& request : requests) ids.push_back(request.task_id);
  const auto judge_one = [&](std::size_t i, const RedisTask& before) -> Result<Judged> {
    if (state_of(before.task) != TaskState::failed) {
      outcomes[i] = RetryOutcome::not_failed;
      return Judged{};
    }
    auto after = retried(before.task, requests[i].attempts, server_second());
    if (!after) return fail(after.error());
    return Judged{*std::move(after)};
  };
  const auto statuses = change(ids, "retry", judge_one, [&](std::size_t, const RedisTask&, const Task& after) {
    note_ready(ready_at(after, server_second()));
  });
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!statuses[i]) outcomes[i] = fail(statuses[i].error());
  }
  return outcomes;
}

Result<RetryOutcome> RedisQueue::retry(std::string_view task_id, int attempts) {
  const RetryRequest request{std::string(task_id), attempts};
  return std::move(retry_all(std::span(&request, 1)).front());
}

// A key that was evicted takes the tasks of its index with it, and nobody would look for them again.
void RedisQueue::audit() {
  if (clock_.boot_time() < audit_at_) return;
  audit_at_ = clock_.boot_time() + kBetweenAudits;
  const auto answer = std::move(
      ask({script("audit", {std::to_string(options_.ageing.count()), audited_, std::to_string(kAuditedAtATime)})})
          .front());
  if (!answer || answer->empty()) return;  // it is asked again soon
  audited_ = answer->front().text;
  for (std::size_t i = 1; i < answer->size(); ++i) {
    tell_of(keys_.task((*answer)[i].text), "an index had lost it; it is there again");
    note_ready(server_second());
  }
}

Result<std::vector<Expired>> RedisQueue::expire() {
  looked_for_expiry_ = clock_.boot_time();
  audit();
  std::vector<Expired> expired;
  while (true) {
    const auto answer = std::move(
        ask({script("overdue", {std::to_string(kOverdueAtATime), std::to_string(options_.ageing.count())})}).front());
    if (!answer) return fail(answer.error());
    const auto gone = answer->size() < 2 ? std::nullopt : whole_number((*answer)[1].text);
    if (!gone || *gone < 0 || 2 + static_cast<std::size_t>(*gone) > answer->size()) {
      return fail(Code::internal, "Redis gave an answer that is none about leases that ran out");
    }
    note_first_end(answer->front());
    const auto first = answer->begin() + 2 + *gone;
    for (auto at = answer->begin() + 2; at != first; ++at) {
      tell_of(keys_.task(at->text), "it was leased, and is no task that is leased");
    }
    std::vector<std::string> ids;
    for (auto at = first; at != answer->end(); ++at) ids.push_back(at->text);
    if (ids.empty() && *gone == 0) return expired;
    const auto judge_one = [&](std::size_t, const RedisTask& before) -> Result<Judged> {
      if (!before.is_held() || !before.has_ended(server_time_)) return Judged{};
      auto after = aborted(before.task, held_lease_of(before).abort(), server_second());
      if (!after) return fail(after.error());
      return Judged{*std::move(after)};
    };
    const auto statuses = change(ids, "expire", judge_one, [&](std::size_t, const RedisTask&, const Task& after) {
      const Execution& last = after.executions.back();
      expired.push_back({after.spec.id, last.exec_id, last.reason, state_of(after)});
      note_ended(after);
      if (state_of(after) == TaskState::pending) note_ready(ready_at(after, server_second()));
    });
    std::vector<RedisCommand> set_aside;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (statuses[i]) continue;
      if (statuses[i].error().code == Code::unreachable) return fail(statuses[i].error());
      // Nobody can end it: it must not be looked at for ever.
      set_aside.push_back({"ZREM", keys_.of("leased"), ids[i]});
    }
    if (!set_aside.empty()) static_cast<void>(ask_plainly(std::move(set_aside)));
    if (ids.size() + static_cast<std::size_t>(*gone) < kOverdueAtATime) return expired;
  }
}

}  // namespace kron
