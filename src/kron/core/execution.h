#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kron/base/result.h"

namespace kron {

// One attempt at a task (contract/queue.md, seed 003). A table decides what may follow what; nothing else moves it.
enum class ExecutionStatus : std::uint8_t { leased, in_progress, committed, done, aborted };
std::string_view name_of(ExecutionStatus status);  // "LEASED" …
Result<ExecutionStatus> parse_execution_status(std::string_view text);

enum class ExecutionEvent : std::uint8_t { start, commit, finish, abort };

// The status after `event`, or nothing when the table does not allow it.
std::optional<ExecutionStatus> advance(ExecutionStatus status, ExecutionEvent event);

enum class TaskState : std::uint8_t { pending, running, succeeded, failed };
std::string_view name_of(TaskState state);  // "PENDING" …

// What derive_state needs of an execution.
struct ExecutionView {
  ExecutionStatus status = ExecutionStatus::leased;
  bool final = false;  // a cancel: an ABORTED execution after which there is no other
};

// Task state is a pure function of its executions (oldest first); it is never stored as truth.
TaskState derive_state(std::span<const ExecutionView> executions, int max_attempts);

}  // namespace kron
