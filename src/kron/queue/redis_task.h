#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/redis_connection.h"
#include "kron/queue/task.h"

// A task as the fields of a Redis hash (docs/formats.md, "Tasks in Redis"). Pure.
namespace kron {

// A greater number of attempts is not believed.
inline constexpr std::int64_t kMostRedisAttempts = 1'000'000'000;

// What put_task of scripts/tasks.lua takes for one task: id, type, data, priority, run at, max attempts, back-offs,
// timeout, unique key. `task` is checked (checked()). For scripts that submit: this queue's, and the cluster's step.
inline constexpr std::size_t kRedisTaskArguments = 9;
void add_redis_task_arguments(std::vector<std::string>& to, NewTask task);

// The names of the fields, but for those that may be large and say nothing of the state: data, result, follow-ups.
const std::vector<std::string>& redis_state_fields();

// A task as it was read, and what guards a change of it: the fields as they stood.
struct RedisTask {
  Task task;
  std::string state;     // a letter: P, L, R, S or F
  std::string token;     // of the last lease; empty: none
  std::string attempts;  // may be empty: none
  std::string request;   // that made the last change
  // While it is held, in microseconds of the server's clock.
  std::int64_t lease_ends = 0;
  std::optional<std::int64_t> attempt_ends = {};

  [[nodiscard]] bool is_held() const { return state == "L" || state == "R"; }
  [[nodiscard]] bool has_ended(std::int64_t now) const {
    return now >= lease_ends || now >= attempt_ends.value_or(now + 1);
  }
};

using RedisFields = std::map<std::string, std::string, std::less<>>;
RedisFields fields_of(const RedisValue& pairs);  // of HGETALL; empty: there is none, or it is no such answer
RedisFields fields_of(const std::vector<std::string>& names, const RedisValue& values);  // of HMGET

// Code io: it is not a task, and why. Without data, result and follow-ups where the fields are state_fields().
Result<RedisTask> task_in_redis(std::string_view task_id, const RedisFields& fields);

// What a change of the state leaves in the fields s, x, m, r and n of a task that is not held.
std::vector<std::string> settled_fields(const Task& after);

// A number in decimal digits alone, perhaps with a sign.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace kron
