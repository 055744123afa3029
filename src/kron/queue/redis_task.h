#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/env/redis_connection.h"
#include "kron/queue/task.h"

// A task as the fields of a Redis hash (docs/formats.md, "Tasks in Redis"). Pure.
namespace kron {

// What scripts/put.lua takes for one task: id, type, data, priority, run at, max attempts, backoff and most backoff,
// timeout, unique key. `task` is checked (checked()). For scripts that submit: this queue's, and the cluster's step.
inline constexpr std::size_t kRedisTaskArguments = 9;
void add_redis_task_arguments(std::vector<std::string>& to, const NewTask& task);

// The answer to HGETALL. Code io: it is not a task, and why.
Result<Task> task_in_hash(std::string_view task_id, const RedisValue& fields);

// The executions that are over and not the last, as the field `x` holds them: one line each.
std::string past_executions_text(std::span<const Execution> executions);

}  // namespace kron
