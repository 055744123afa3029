#include "kron/core/execution.h"

#include <algorithm>
#include <array>

#include "kron/core/words.h"

namespace kron {
namespace {

using enum ExecutionStatus;

constexpr std::array kStatuses{
    Word{leased, "LEASED"}, Word{in_progress, "IN_PROGRESS"}, Word{committed, "COMMITTED"},
    Word{done, "DONE"},     Word{aborted, "ABORTED"},
};

constexpr std::array kStates{
    Word{TaskState::pending, "PENDING"},
    Word{TaskState::running, "RUNNING"},
    Word{TaskState::succeeded, "SUCCEEDED"},
    Word{TaskState::failed, "FAILED"},
};

struct Transition {
  ExecutionStatus from;
  ExecutionEvent event;
  ExecutionStatus to;
};

// Seed 003, "Allowed Transactions": the whole state machine.
constexpr std::array kTransitions{
    Transition{leased, ExecutionEvent::start, in_progress},  Transition{in_progress, ExecutionEvent::commit, committed},
    Transition{committed, ExecutionEvent::finish, done},     Transition{leased, ExecutionEvent::abort, aborted},
    Transition{in_progress, ExecutionEvent::abort, aborted},
};

}  // namespace

std::string_view name_of(ExecutionStatus status) { return word_of(status, kStatuses); }

Result<ExecutionStatus> parse_execution_status(std::string_view text) {
  return parse_word(text, kStatuses, "execution status", "status");
}

std::optional<ExecutionStatus> advance(ExecutionStatus status, ExecutionEvent event) {
  for (const Transition& transition : kTransitions) {
    if (transition.from == status && transition.event == event) return transition.to;
  }
  return std::nullopt;
}

std::string_view name_of(TaskState state) { return word_of(state, kStates); }

TaskState derive_state(std::span<const ExecutionView> executions, int max_attempts) {
  const auto any = [&](auto... statuses) {
    return std::ranges::any_of(executions, [&](const ExecutionView& e) { return ((e.status == statuses) || ...); });
  };
  if (any(done)) return TaskState::succeeded;
  if (any(leased, in_progress, committed)) return TaskState::running;
  const bool cancelled = !executions.empty() && executions.back().final;
  const bool spent = executions.size() >= static_cast<std::size_t>(std::max(max_attempts, 1));
  return cancelled || spent ? TaskState::failed : TaskState::pending;
}

}  // namespace kron
