#include "kron/queue/redis_queue.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/env/random_hex.h"
#include "kron/queue/answers.h"

namespace kron {
namespace {

constexpr std::size_t kMostTasksOfAScript = 64;
constexpr std::size_t kMostBytesOfAScript = std::size_t{512} << 10;
constexpr std::size_t kMostKeysTold = 1000;
constexpr int kLooksForTheOldest = 1000;  // tasks of a type

std::optional<SubmitOutcome> submit_outcome(std::string_view word) {
  for (const auto outcome :
       {SubmitOutcome::accepted, SubmitOutcome::already_known, SubmitOutcome::duplicate, SubmitOutcome::conflict}) {
    if (word == name_of(outcome)) return outcome;
  }
  return std::nullopt;
}

std::vector<TaskSummary::OfType> of_types(TaskState state, const RedisValue& pairs) {
  std::vector<TaskSummary::OfType> counts;
  for (const auto& [type, number] : fields_of(pairs)) {
    const auto count = whole_number(number);
    if (check_task_type(type) && count && *count > 0) counts.push_back({state, type, static_cast<std::size_t>(*count)});
  }
  return counts;
}

}  // namespace

RedisQueue::RedisQueue(std::unique_ptr<RedisConnection> connection, const Clock& clock, Log& log,
                       RedisQueueOptions options)
    : keys_(options.name_space),
      clock_(clock),
      log_(log),
      options_(std::move(options)),
      caller_(std::move(connection), clock, log, options_.calls),
      name_(random_hex().substr(0, 12)),
      looked_for_ready_(now(clock)),
      looked_for_expiry_(clock.boot_time()) {}

RedisQueue::~RedisQueue() = default;

std::string RedisQueue::next_request() { return name_ + "." + std::to_string(++last_request_); }

RedisCommand RedisQueue::script(std::string_view name, std::vector<std::string> arguments) const {
  RedisCommand command{"EVALSHA", std::string(name), "1", keys_.prefix()};
  command.insert(command.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  return command;
}

std::vector<RedisReply> RedisQueue::ask_plainly(std::vector<RedisCommand> commands) {
  std::vector<RedisReply> replies;
  for (RedisCaller::Answered& answered : caller_.call(std::move(commands))) {
    replies.push_back(std::move(answered.reply));
  }
  return replies;
}

std::vector<Result<RedisQueue::Answers>> RedisQueue::ask(std::vector<RedisCommand> scripts) {
  std::vector<Result<Answers>> answers;
  for (RedisReply& reply : ask_plainly(std::move(scripts))) {
    if (!reply.is_reply()) {
      answers.push_back(fail(error_of(reply)));
      continue;
    }
    Answers& items = reply.value.items;
    const auto second = items.size() < 2 ? std::nullopt : whole_number(items[0].text);
    const auto microsecond = items.size() < 2 ? std::nullopt : whole_number(items[1].text);
    if (!second || !microsecond || *second < 0 || *second > epoch_seconds(kLastInstant)) {
      answers.push_back(fail(Code::internal, "Redis gave an answer that is none of the task queue's scripts"));
      continue;
    }
    note_time(*second * 1'000'000 + *microsecond);
    items.erase(items.begin(), items.begin() + 2);
    answers.push_back(std::move(items));
  }
  return answers;
}

void RedisQueue::note_time(std::int64_t microseconds) {
  server_time_ = microseconds;
  boot_time_ = clock_.boot_time();
  wall_ahead_ = clock_.wall().time_since_epoch() - std::chrono::microseconds(microseconds);
}

Instant RedisQueue::server_second() const { return instant_of(server_time_ / 1'000'000); }

void RedisQueue::note_ready(Instant ready) { next_ready_ = std::min(next_ready_.value_or(ready), ready); }

void RedisQueue::note_first_end(const RedisValue& microseconds) {
  next_expiry_ = whole_number(microseconds.text);
  // Whatever stands there: it is a time.
  if (next_expiry_) next_expiry_ = std::clamp<std::int64_t>(*next_expiry_, 0, epoch_seconds(kLastInstant) * 1'000'000);
}

void RedisQueue::note_ended(const Task& task) {
  if (directory_of(task) != TaskDirectory::completed) return;
  ++(is_cancelled(task) ? cancelled_[task.spec.type] : ended_[{task.spec.type, state_of(task)}]);
}

void RedisQueue::tell_of(std::string_view key, std::string_view problem) {
  if (told_.size() >= kMostKeysTold) told_.clear();
  if (!told_.emplace(key).second) return;
  log_.error("task_unreadable", {{"key", key}, {"reason", problem}});
}

Error RedisQueue::unreadable(std::string_view key, std::string_view problem) {
  tell_of(key, problem);
  return {Code::io, "in Redis, " + quoted(key, 300) + " is not what it should be: " + std::string(problem)};
}

Result<RedisTask> RedisQueue::task_in(std::string_view task_id, const RedisReply& reply) {
  if (reply.how == RedisReply::How::error && reply.why.starts_with("WRONGTYPE")) {
    return fail(unreadable(keys_.task(task_id), "it is not a hash"));
  }
  if (!reply.is_reply()) return fail(error_of(reply));
  return task_in(task_id, fields_of(reply.value));
}

Result<RedisTask> RedisQueue::task_in(std::string_view task_id, const RedisFields& fields) {
  if (fields.empty() || !check_task_id(task_id)) return fail(no_such_task(task_id));
  auto task = task_in_redis(task_id, fields);
  if (!task) return fail(unreadable(keys_.task(task_id), task.error().message));
  return task;
}

std::vector<Result<SubmitAnswer>> RedisQueue::submit(std::span<const NewTask> tasks) {
  auto batch = submit_batch(tasks);
  finish(batch, tasks, ask(std::move(batch.commands)));
  return std::move(batch.answers);
}

RedisQueue::Batch<SubmitAnswer> RedisQueue::submit_batch(std::span<const NewTask> tasks) {
  Batch<SubmitAnswer> batch{std::vector<Result<SubmitAnswer>>(tasks.size(), SubmitAnswer{})};
  auto& [answers, commands, groups] = batch;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto good = checked(tasks[i]);
    if (!good) {
      answers[i] = fail(good.error());
      continue;
    }
    if (groups.empty() || groups.back().size() == kMostTasksOfAScript || bytes > kMostBytesOfAScript) {
      groups.emplace_back();
      commands.push_back(script("submit", {next_request(), std::to_string(options_.ageing.count())}));
      const std::size_t most = std::min(kMostTasksOfAScript, tasks.size() - i);
      commands.back().reserve(commands.back().size() + most * kRedisTaskArguments);
      bytes = 0;
    }
    groups.back().push_back(i);
    bytes += good->data.size();
    add_redis_task_arguments(commands.back(), *std::move(good));
  }
  return batch;
}

void RedisQueue::finish(Batch<SubmitAnswer>& batch, std::span<const NewTask> tasks, Told told) {
  auto& [answers, commands, groups] = batch;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t k = 0; k < groups[g].size(); ++k) {
      const std::size_t i = groups[g][k];
      if (!told[g]) {
        answers[i] = fail(told[g].error());
      } else if (told[g]->size() != 2 * groups[g].size()) {
        answers[i] = fail(Code::internal, "Redis answered for another number of tasks");
      } else if (const auto outcome = submit_outcome((*told[g])[2 * k].text)) {
        answers[i] = SubmitAnswer{*outcome, (*told[g])[2 * k + 1].text};
        if (*outcome == SubmitOutcome::accepted) {
          note_ready(std::max(server_second(), tasks[i].run_at.value_or(server_second())));
        }
      } else {
        answers[i] = fail(unreadable((*told[g])[2 * k + 1].text, "it has another type, or lacks fields"));
      }
    }
  }
}

std::vector<Result<Task>> RedisQueue::get_all(std::span<const std::string> task_ids) {
  std::vector<RedisCommand> commands;
  for (const std::string& id : task_ids) commands.push_back({"HGETALL", keys_.task(id)});
  const std::vector<RedisReply> replies = ask_plainly(std::move(commands));
  std::vector<Result<Task>> tasks;
  for (std::size_t i = 0; i < task_ids.size(); ++i) {
    auto task = task_in(task_ids[i], replies[i]);
    tasks.push_back(task ? Result<Task>(std::move(task->task)) : fail(task.error()));
  }
  return tasks;
}

Result<Task> RedisQueue::get(std::string_view task_id) {
  const std::string id(task_id);
  return std::move(get_all(std::span(&id, 1)).front());
}

Result<TaskCounts> RedisQueue::counts() {
  const auto answer = std::move(ask({script("summary", {"", "0"})}).front());
  if (!answer) return fail(answer.error());
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(std::max<std::int64_t>(whole_number(answer->at(at).text).value_or(0), 0));
  };
  if (answer->size() < 3) return fail(Code::internal, "Redis gave no summary");
  return TaskCounts{number(0), number(1)};
}

Result<TaskSummary> RedisQueue::summary() {
  const auto answer = std::move(ask({script("summary", {"1", std::to_string(kLooksForTheOldest)})}).front());
  if (!answer) return fail(answer.error());
  if (answer->size() != 5) return fail(Code::internal, "Redis gave no summary");
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(std::max<std::int64_t>(whole_number((*answer)[at].text).value_or(0), 0));
  };
  TaskSummary summary{{number(0), number(1)}};
  if (const auto oldest = whole_number((*answer)[2].text)) {
    summary.oldest_pending = std::max(Seconds(0), server_second() - instant_of(*oldest));
  }
  summary.types = of_types(TaskState::pending, (*answer)[3]);
  std::ranges::move(of_types(TaskState::running, (*answer)[4]), std::back_inserter(summary.types));
  for (const auto& [of, count] : ended_) summary.ended.push_back({of.second, of.first, count});
  for (const auto& [type, count] : cancelled_) summary.cancelled.push_back({TaskState::failed, type, count});
  return summary;
}

std::optional<Nanoseconds> RedisQueue::next_expiry() const {
  std::optional<Nanoseconds> next;
  if (next_expiry_) next = boot_time_ + std::chrono::microseconds(*next_expiry_ - server_time_);
  if (options_.looks_every) {
    const Nanoseconds look = looked_for_expiry_ + *options_.looks_every;
    next = std::min(next.value_or(look), look);
  }
  return next;
}

std::optional<Instant> RedisQueue::next_ready() const {
  std::optional<Instant> next;
  if (next_ready_) {
    next = std::chrono::round<Seconds>(WallTime(next_ready_->time_since_epoch() + wall_ahead_));
    // What the server did not find ready when it was asked is not asked for again in the same second.
    if (*next_ready_ > server_second()) next = std::max(*next, looked_for_ready_ + Seconds(1));
  }
  if (options_.looks_every) {
    // A wall clock that was set back holds nothing up.
    const Instant look = std::min(looked_for_ready_, now(clock_)) + std::chrono::ceil<Seconds>(*options_.looks_every);
    next = std::min(next.value_or(look), look);
  }
  return next;
}

Status RedisQueue::set_limit(std::string_view type, std::optional<int> most) {
  if (Status good = check_task_type(type); !good) return good;
  if (most && (*most < 0 || *most > kMostRedisLimit)) {
    return fail(Code::invalid, "a limit is a number from 0 to " + std::to_string(kMostRedisLimit), "limit");
  }
  const RedisCommand set = most ? RedisCommand{"HSET", keys_.limits(), std::string(type), std::to_string(*most)}
                                : RedisCommand{"HDEL", keys_.limits(), std::string(type)};
  const auto replies = ask_plainly({set, {"PUBLISH", keys_.wake(), std::string(type)}});
  if (!replies.front().is_reply()) return fail(error_of(replies.front()));
  return {};
}

Result<std::vector<std::pair<std::string, int>>> RedisQueue::limits() {
  const RedisReply reply = std::move(ask_plainly({{"HGETALL", keys_.limits()}}).front());
  if (!reply.is_reply()) return fail(error_of(reply));
  std::vector<std::pair<std::string, int>> limits;
  for (const auto& [type, text] : fields_of(reply.value)) {
    const auto number = whole_number(text);
    if (check_task_type(type) && number && *number >= 0 && *number <= kMostRedisLimit) {
      limits.emplace_back(type, static_cast<int>(*number));
    } else {
      tell_of(keys_.limits(), "the limit of " + quoted(type) + " is " + quoted(text));
    }
  }
  return limits;
}

Result<std::vector<StagedFile>> RedisQueue::effects_of(std::string_view task_id) {
  if (!check_task_id(task_id)) return fail(no_such_task(task_id));
  const RedisReply reply = std::move(ask_plainly({{"HGETALL", keys_.effects(task_id)}}).front());
  if (!reply.is_reply()) return fail(error_of(reply));
  std::vector<StagedFile> files;
  for (const auto& [path, bytes] : fields_of(reply.value)) files.push_back({path, bytes});
  if (!check_staged_files(files) || !check_published_names(files)) {
    return fail(unreadable(keys_.effects(task_id), "it holds names that no file may have"));
  }
  return files;
}

}  // namespace kron
