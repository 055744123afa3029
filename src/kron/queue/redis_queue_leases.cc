#include <algorithm>

#include "kron/queue/answers.h"
#include "kron/queue/redis_queue.h"

// Leases and commits of the queue in Redis: judged and done by scripts.
namespace kron {
namespace {

constexpr std::size_t kMostKeysOfAScript = 64;
constexpr std::size_t kMostCommitBytesOfAScript = std::size_t{512} << 10;
constexpr std::size_t kPartsOfALease = 8;
constexpr int kMostAsksForLeases = 4;  // when all that was found is no task

// The token at the end of an execution id that task_of_exec_id has taken for one.
std::string_view token_in(std::string_view exec_id) { return exec_id.substr(exec_id.rfind('.') + 1); }

std::optional<LeaseOutcome> lease_outcome(std::string_view word) {
  for (const auto outcome : {LeaseOutcome::accepted, LeaseOutcome::lease_lost, LeaseOutcome::duplicate}) {
    if (word == name_of(outcome)) return outcome;
  }
  return std::nullopt;
}

Status check_redis_files(std::span<const StagedFile> files) {
  std::size_t bytes = 0;
  for (const StagedFile& file : files) bytes += file.bytes.size();
  if (bytes <= kMostRedisStagedBytes) return {};
  return fail(Code::invalid,
              "staged files of " + std::to_string(bytes) + " bytes; a task queue in Redis takes " +
                  std::to_string(kMostRedisStagedBytes) +
                  " in all: put them into shared storage and commit where they are",
              "files");
}

std::size_t bytes_of(const CommitRequest& request) {
  std::size_t bytes = request.result.size();
  for (const StagedFile& file : request.files) bytes += file.bytes.size();
  for (const NewTask& task : request.follow_ups) bytes += task.data.size();
  return bytes;
}

void add_commit_arguments(RedisCommand& to, std::string_view task_id, const CommitRequest& request,
                          std::span<const NewTask> follow_ups) {
  to.emplace_back(task_id);
  to.emplace_back(token_in(request.key.exec_id));
  to.push_back(std::to_string(request.key.token));
  to.push_back(request.result);
  to.push_back(std::to_string(request.files.size()));
  for (const StagedFile& file : request.files) {
    to.push_back(file.path);
    to.push_back(file.bytes);
  }
  to.push_back(std::to_string(follow_ups.size()));
  for (const NewTask& task : follow_ups) add_redis_task_arguments(to, task);
}

std::vector<std::string> lease_arguments(const LeaseRequest& request) {
  return {request.worker, std::to_string(request.count), std::to_string(request.term.count()),
          request.starts ? "1" : "", request.holder == Holder::in_process ? "i" : ""};
}

// id, token, attempt, end, type, timeout, data
Result<Lease> lease_in(std::span<const RedisValue> parts) {
  const auto token = whole_number(parts[1].text);
  const auto attempt = whole_number(parts[2].text);
  const auto ends = whole_number(parts[3].text);
  const auto timeout = whole_number(parts[5].text);
  NewTask task;
  task.id = parts[0].text;
  task.type = parts[4].text;
  task.data = parts[6].text;
  if (timeout) task.timeout = Seconds(*timeout);
  auto good = checked(std::move(task));
  if (!good) return fail(good.error());
  const std::int64_t last = epoch_seconds(kLastInstant) * 1'000'000;
  if (!token || *token < 1 || !attempt || *attempt < 1 || *attempt > kMostRedisAttempts || !ends || *ends < 0 ||
      *ends > last) {
    return fail(Code::io, "its lease makes no sense");
  }
  const auto number = static_cast<std::uint64_t>(*token);
  return Lease{.key = {exec_id_of(good->id, number), number},
               .task_id = good->id,
               .type = good->type,
               .data = std::move(good->data),
               .attempt = static_cast<int>(*attempt),
               .timeout = good->timeout,
               .lease_expires_at = instant_of(*ends / 1'000'000)};
}

}  // namespace

std::vector<Result<std::vector<Lease>>> RedisQueue::lease(std::span<const LeaseRequest> requests) {
  auto batch = lease_batch(requests);
  finish(batch, requests, ask(std::move(batch.commands)));
  return std::move(batch.answers);
}

RedisQueue::Batch<std::vector<Lease>> RedisQueue::lease_batch(std::span<const LeaseRequest> requests) {
  Batch<std::vector<Lease>> batch{std::vector<Result<std::vector<Lease>>>(requests.size(), std::vector<Lease>())};
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (Status good = check_lease_request(requests[i]); good) {
      open.push_back(i);
    } else {
      batch.answers[i] = fail(good.error());
    }
  }
  if (!requests.empty()) looked_for_ready_ = now(clock_);
  add_lease_commands(batch, requests, open);
  return batch;
}

void RedisQueue::add_lease_commands(Batch<std::vector<Lease>>& batch, std::span<const LeaseRequest> requests,
                                    std::span<const std::size_t> open) {
  auto& [answers, commands, groups] = batch;
  std::size_t wanted = 0;
  for (const std::size_t i : open) {
    const LeaseRequest& request = requests[i];
    // Those that want the same, one behind the other, cost little more than one of them.
    if (groups.empty() || requests[groups.back().front()].types != request.types ||
        wanted + request.count > kMostLeases) {
      groups.emplace_back();
      wanted = 0;
      commands.push_back(script(
          "lease", {next_request(), std::to_string(options_.ageing.count()), std::to_string(kMostRedisLeaseBytes),
                    std::to_string(kRedisRequestIsRemembered.count()), std::to_string(request.types.size())}));
      commands.back().insert(commands.back().end(), request.types.begin(), request.types.end());
    }
    groups.back().push_back(i);
    wanted += request.count;
    for (std::string& part : lease_arguments(request)) commands.back().push_back(std::move(part));
  }
}

void RedisQueue::finish(Batch<std::vector<Lease>>& batch, std::span<const LeaseRequest> requests, Told told) {
  std::vector<Result<Answers>> told_again;
  for (int asks = 1; asks <= kMostAsksForLeases; ++asks) {
    std::vector<std::size_t> again;
    for (std::size_t g = 0; g < batch.groups.size(); ++g) {
      bool has_odd = false;
      const std::vector<std::size_t>& group = batch.groups[g];
      auto leases = told[g] ? leases_in(*told[g], group.size(), has_odd) : fail(told[g].error());
      for (std::size_t k = 0; k < group.size(); ++k) {
        batch.answers[group[k]] = leases ? Result<std::vector<Lease>>(std::move((*leases)[k])) : fail(leases.error());
        if (leases && has_odd && batch.answers[group[k]]->empty()) again.push_back(group[k]);
      }
    }
    if (again.empty() || asks == kMostAsksForLeases) return;
    // What was found was no task, and is out of the way now.
    batch.groups.clear();
    batch.commands.clear();
    add_lease_commands(batch, requests, again);
    told_again = ask(std::move(batch.commands));
    told = told_again;
  }
}

// For each of so many workers.
Result<std::vector<std::vector<Lease>>> RedisQueue::leases_in(const Answers& answer, std::size_t workers,
                                                              bool& has_odd) {
  const auto odd = answer.size() < 3 ? std::nullopt : whole_number(answer[2].text);
  const std::size_t first = 3 + 2 * static_cast<std::size_t>(odd.value_or(0));
  if (!odd || first > answer.size() || (answer.size() - first) % kPartsOfALease != 0) {
    return fail(Code::internal, "Redis gave an answer that is none to a request for leases");
  }
  const auto next = whole_number(answer[0].text);
  next_ready_ = next ? std::optional(std::clamp(instant_of(*next), kFirstInstant, kLastInstant)) : std::nullopt;
  note_first_end(answer[1]);
  for (std::size_t i = 3; i < first; i += 2) tell_of(answer[i].text, answer[i + 1].text);
  has_odd = first > 3;
  std::vector<std::vector<Lease>> leases(workers);
  for (std::size_t i = first; i < answer.size(); i += kPartsOfALease) {
    const auto worker = whole_number(answer[i].text);
    auto lease = lease_in(std::span(answer).subspan(i + 1, kPartsOfALease - 1));
    if (lease && worker && *worker >= 1 && static_cast<std::size_t>(*worker) <= workers) {
      leases[static_cast<std::size_t>(*worker) - 1].push_back(*std::move(lease));
    } else {
      // It is leased, and runs out: nobody could do anything with it.
      tell_of(keys_.task(answer[i + 1].text), lease ? "its lease is nobody's" : lease.error().message);
      has_odd = true;
    }
  }
  return leases;
}

RedisQueue::Batch<LeaseOutcome> RedisQueue::move_batch(std::span<const LeaseKey> keys, std::string_view verb) {
  Batch<LeaseOutcome> batch{std::vector<Result<LeaseOutcome>>(keys.size(), LeaseOutcome::lease_lost)};
  auto& [answers, commands, groups] = batch;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto task_id = task_of_exec_id(keys[i].exec_id);
    if (!task_id) {
      answers[i] = fail(no_such_execution(keys[i].exec_id));
      continue;
    }
    if (groups.empty() || groups.back().size() == kMostKeysOfAScript) {
      groups.emplace_back();
      commands.push_back(script("start", {std::string(verb)}));
    }
    groups.back().push_back(i);
    commands.back().emplace_back(*task_id);
    commands.back().emplace_back(token_in(keys[i].exec_id));
    commands.back().push_back(std::to_string(keys[i].token));
  }
  return batch;
}

void RedisQueue::finish(Batch<LeaseOutcome>& batch, std::span<const LeaseKey> keys, Told told) {
  auto& [answers, commands, groups] = batch;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (told[g] && !told[g]->empty()) note_first_end(told[g]->front());
    for (std::size_t k = 0; k < groups[g].size(); ++k) {
      const std::size_t i = groups[g][k];
      if (!told[g]) {
        answers[i] = fail(told[g].error());
        continue;
      }
      const std::string word = k + 1 < told[g]->size() ? (*told[g])[k + 1].text : "";
      if (const auto outcome = lease_outcome(word)) {
        answers[i] = *outcome;
      } else if (word == "not_found") {
        answers[i] = fail(no_such_execution(keys[i].exec_id));
      } else {
        answers[i] = fail(unreadable(keys_.task(*task_of_exec_id(keys[i].exec_id)), "it is no task that is leased"));
      }
    }
  }
}

std::vector<Result<LeaseOutcome>> RedisQueue::start(std::span<const LeaseKey> keys) {
  auto batch = move_batch(keys, "start");
  finish(batch, keys, ask(std::move(batch.commands)));
  return std::move(batch.answers);
}

std::vector<Result<LeaseOutcome>> RedisQueue::renew_all(std::span<const LeaseKey> keys) {
  auto batch = move_batch(keys, "renew");
  finish(batch, keys, ask(std::move(batch.commands)));
  return std::move(batch.answers);
}

Result<LeaseOutcome> RedisQueue::renew(const LeaseKey& key) { return std::move(renew_all(std::span(&key, 1)).front()); }

std::vector<Result<CommitAnswer>> RedisQueue::commit(std::span<const CommitRequest> requests) {
  auto batch = commit_batch(requests);
  finish(batch, requests, ask(std::move(batch.commands)));
  return std::move(batch.answers);
}

RedisQueue::Batch<CommitAnswer> RedisQueue::commit_batch(std::span<const CommitRequest> requests) {
  Batch<CommitAnswer> batch{std::vector<Result<CommitAnswer>>(requests.size(), CommitAnswer{})};
  auto& [answers, commands, groups] = batch;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const CommitRequest& request = requests[i];
    Status good = check_commit(request);
    if (good) good = check_redis_files(request.files);
    const auto task_id = task_of_exec_id(request.key.exec_id);
    if (good && !task_id) good = fail(no_such_execution(request.key.exec_id));
    auto follow_ups = good ? checked_follow_ups(request.follow_ups) : fail(good.error());
    if (!follow_ups) {
      answers[i] = fail(follow_ups.error());
      continue;
    }
    if (groups.empty() || groups.back().size() == kMostKeysOfAScript || bytes > kMostCommitBytesOfAScript) {
      groups.emplace_back();
      commands.push_back(script("commit", {next_request(), std::to_string(options_.ageing.count())}));
      bytes = 0;
    }
    groups.back().push_back(i);
    bytes += bytes_of(request);
    add_commit_arguments(commands.back(), *task_id, request, *follow_ups);
  }
  return batch;
}

void RedisQueue::finish(Batch<CommitAnswer>& batch, std::span<const CommitRequest> requests, Told told) {
  auto& [answers, commands, groups] = batch;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t at = 1;
    if (told[g] && !told[g]->empty()) note_first_end(told[g]->front());
    for (const std::size_t i : groups[g]) {
      answers[i] = told[g] ? next_commit_answer(*told[g], at, requests[i]) : fail(told[g].error());
    }
  }
}

Result<CommitAnswer> RedisQueue::next_commit_answer(const Answers& answer, std::size_t& at,
                                                    const CommitRequest& request) {
  const auto pairs = at + 2 < answer.size() ? whole_number(answer[at + 2].text) : std::nullopt;
  if (!pairs || *pairs < 0 || at + 3 + 2 * static_cast<std::size_t>(*pairs) > answer.size()) {
    return fail(Code::internal, "Redis gave an answer that is none to a commit");
  }
  const std::string& word = answer[at].text;
  const std::string& detail = answer[at + 1].text;
  CommitAnswer told;
  for (std::size_t i = 0; i < static_cast<std::size_t>(*pairs); ++i) {
    SubmitAnswer& follow_up = told.follow_ups.emplace_back();
    const std::string& outcome = answer[at + 3 + 2 * i].text;
    follow_up.task_id = answer[at + 4 + 2 * i].text;
    if (outcome == name_of(SubmitOutcome::already_known)) follow_up.outcome = SubmitOutcome::already_known;
    if (outcome == name_of(SubmitOutcome::duplicate)) follow_up.outcome = SubmitOutcome::duplicate;
    if (outcome == name_of(SubmitOutcome::accepted) && i < request.follow_ups.size()) {
      note_ready(std::max(server_second(), request.follow_ups[i].run_at.value_or(server_second())));
    }
  }
  at += 3 + 2 * static_cast<std::size_t>(*pairs);
  if (const auto outcome = lease_outcome(word)) {
    told.outcome = *outcome;
    if (*outcome == LeaseOutcome::accepted) ++ended_[{detail, TaskState::succeeded}];
    return told;
  }
  const std::string task_id(task_of_exec_id(request.key.exec_id).value_or(""));
  if (word == "not_found") return fail(no_such_execution(request.key.exec_id));
  if (word == "not_started") {
    return fail(Code::conflict,
                "task " + task_id + " cannot commit: its execution " + request.key.exec_id + " was not started");
  }
  if (word == "conflict") {
    return fail(Code::conflict,
                "nothing was committed: another task with another payload has the follow-up's id " + detail,
                "followUps");
  }
  return fail(unreadable(detail, "it has another type, or lacks fields"));
}

}  // namespace kron
