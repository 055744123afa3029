#include <algorithm>
#include <numeric>

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

std::vector<Status> RedisQueue::change(std::span<const std::string> task_ids, std::string_view verb, const Judge& judge,
                                       const Settled& settled) {
  struct Wanted {
    std::size_t index;
    RedisTask before;
    Task after;
  };
  std::vector<Status> statuses(task_ids.size());
  std::vector<std::size_t> open(task_ids.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  for (int readings = 0; readings < kMostReadings && !open.empty(); ++readings) {
    std::vector<std::string> ids;
    for (const std::size_t i : open) ids.push_back(task_ids[i]);
    auto tasks = read(ids);
    std::vector<Wanted> wanted;
    std::vector<RedisCommand> commands;
    for (std::size_t k = 0; k < open.size(); ++k) {
      auto judged = tasks[k] ? judge(open[k], *tasks[k]) : fail(tasks[k].error());
      if (!judged) statuses[open[k]] = fail(judged.error());
      if (!judged || !judged->after) continue;
      if (wanted.size() % kMostChangesOfAScript == 0) {
        commands.push_back(script("settle", {std::to_string(options_.ageing.count())}));
      }
      RedisCommand& command = commands.back();
      const RedisTask& before = *tasks[k];
      for (const std::string& part :
           {ids[k], next_request(), std::string(verb), before.state, before.token, before.attempts, before.request}) {
        command.push_back(part);
      }
      std::ranges::move(settled_fields(*judged->after), std::back_inserter(command));
      wanted.push_back({open[k], *std::move(tasks[k]), *std::move(judged->after)});
    }
    const auto told = ask(std::move(commands));
    open.clear();
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto& answer = told[k / kMostChangesOfAScript];
      const std::size_t at = 1 + 2 * (k % kMostChangesOfAScript);
      Status& status = statuses[wanted[k].index];
      if (!answer || at + 1 >= answer->size()) {
        status = answer ? fail(Code::internal, "Redis answered for another number of tasks") : fail(answer.error());
        continue;
      }
      note_first_end(answer->front());
      const std::string& word = (*answer)[at].text;
      const std::string& detail = (*answer)[at + 1].text;
      const std::string& id = wanted[k].after.spec.id;
      if (word == "settled") {
        settled(wanted[k].index, wanted[k].before, wanted[k].after);
      } else if (word == "changed") {
        open.push_back(wanted[k].index);
      } else if (word == "taken") {
        status = fail(unique_key_is_taken(wanted[k].after, detail));
      } else if (word == "not_found") {
        status = fail(no_such_task(id));
      } else {
        status = fail(unreadable(detail, "it has another type, or lacks fields"));
      }
    }
  }
  for (const std::size_t i : open) {
    statuses[i] =
        fail(Code::unreachable, "task " + task_ids[i] + " is being changed by others all the time; ask again");
  }
  return statuses;
}

std::vector<Result<FailAnswer>> RedisQueue::fail_attempts(std::span<const FailRequest> requests) {
  std::vector<Result<FailAnswer>> answers(requests.size(), FailAnswer{});
  std::vector<std::string> ids;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (const auto task_id = task_of_exec_id(requests[i].key.exec_id)) {
      ids.emplace_back(*task_id);
      of.push_back(i);
    } else {
      answers[i] = fail(no_such_execution(requests[i].key.exec_id));
    }
  }
  const auto judge_one = [&](std::size_t k, const RedisTask& before) -> Result<Judged> {
    const FailRequest& request = requests[of[k]];
    const bool has_ended = before.is_held() && before.has_ended(server_time_);
    const auto outcome = judge(before.task, request.key, has_ended);
    if (!outcome) return fail(outcome.error());
    if (*outcome != LeaseOutcome::accepted) {
      // What the next expire() will make of it, when nobody has looked yet.
      const auto after = has_ended ? aborted(before.task, held_lease_of(before).abort(), server_second()) : before.task;
      answers[of[k]] = FailAnswer{*outcome, state_of(after ? *after : before.task)};
      return Judged{};
    }
    auto after = aborted(before.task, abort_of(request), server_second());
    if (!after) return fail(after.error());
    return Judged{*std::move(after)};
  };
  const auto statuses = change(ids, "fail", judge_one, [&](std::size_t k, const RedisTask&, const Task& after) {
    answers[of[k]] = FailAnswer{LeaseOutcome::accepted, state_of(after)};
    note_ended(after);
    if (state_of(after) == TaskState::pending) note_ready(ready_at(after, server_second()));
  });
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (statuses[k]) continue;
    const bool is_gone = statuses[k].error().code == Code::not_found;
    answers[of[k]] = fail(is_gone ? no_such_execution(requests[of[k]].key.exec_id) : statuses[k].error());
  }
  return answers;
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
