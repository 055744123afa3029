#include "kron/core/execution.h"

#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <vector>

namespace kron {
namespace {

using enum ExecutionStatus;
using Executions = std::vector<ExecutionView>;

constexpr ExecutionStatus kStatuses[] = {leased, in_progress, committed, done, aborted};
constexpr ExecutionEvent kEvents[] = {ExecutionEvent::start, ExecutionEvent::commit, ExecutionEvent::finish,
                                      ExecutionEvent::abort};

TEST(Execution, AdvanceAllowsExactlyTheTableOfTheSeed) {
  const std::set<std::tuple<ExecutionStatus, ExecutionEvent, ExecutionStatus>> allowed{
      {leased, ExecutionEvent::start, in_progress},  {in_progress, ExecutionEvent::commit, committed},
      {committed, ExecutionEvent::finish, done},     {leased, ExecutionEvent::abort, aborted},
      {in_progress, ExecutionEvent::abort, aborted},
  };
  std::size_t found = 0;
  for (const ExecutionStatus status : kStatuses) {
    for (const ExecutionEvent event : kEvents) {
      const auto next = advance(status, event);
      if (!next) continue;
      ++found;
      EXPECT_TRUE(allowed.contains({status, event, *next})) << name_of(status) << " → " << name_of(*next);
    }
  }
  EXPECT_EQ(found, allowed.size());
}

TEST(Execution, StatusNamesAreReadBack) {
  for (const ExecutionStatus status : kStatuses) {
    EXPECT_EQ(parse_execution_status(name_of(status)).value(), status);
  }
  EXPECT_FALSE(parse_execution_status("leased"));
  EXPECT_FALSE(parse_execution_status(""));
}

TEST(Execution, TaskStateIsDerivedFromExecutions) {
  const struct {
    const char* what;
    Executions executions;
    int max_attempts;
    TaskState state;
  } cases[] = {
      {"created", {}, 3, TaskState::pending},
      {"leased", {{leased}}, 3, TaskState::running},
      {"in progress", {{in_progress}}, 3, TaskState::running},
      {"committed is not yet done", {{committed}}, 3, TaskState::running},
      {"done", {{done}}, 3, TaskState::succeeded},
      {"lease expired, attempts left", {{aborted}}, 3, TaskState::pending},
      {"second attempt", {{aborted}, {leased}}, 3, TaskState::running},
      {"attempts spent", {{aborted}, {aborted}, {aborted}}, 3, TaskState::failed},
      {"the last attempt may still succeed", {{aborted}, {aborted}, {in_progress}}, 3, TaskState::running},
      {"retry raised the limit", {{aborted}, {aborted}, {aborted}}, 4, TaskState::pending},
      {"cancelled before any lease", {{aborted, true}}, 3, TaskState::failed},
      {"cancelled after one attempt", {{aborted}, {aborted, true}}, 3, TaskState::failed},
      {"done stays done beside a late abort", {{aborted}, {done}}, 1, TaskState::succeeded},
      {"a nonsense limit counts as one attempt", {{aborted}}, 0, TaskState::failed},
  };
  for (const auto& c : cases) EXPECT_EQ(derive_state(c.executions, c.max_attempts), c.state) << c.what;
}

TEST(Execution, NoSequenceOfEventsLeavesATerminalStatus) {
  for (const ExecutionStatus terminal : {done, aborted}) {
    for (const ExecutionEvent event : kEvents) EXPECT_FALSE(advance(terminal, event));
  }
}

}  // namespace
}  // namespace kron
