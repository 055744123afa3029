#pragma once

#include <array>
#include <string>
#include <string_view>

#include "kron/jobs/definition.h"
#include "kron/json/fields.h"

namespace kron::jobs {

// The keys that a job with a task has no use for.
inline constexpr auto kOfCommands =
    std::to_array<std::string_view>({"command", "retry", "backoff", "fails_on", "success_exit", "ping", "env_file",
                                     "credential", "mask_output", "memory_max", "tasks_max", "cpu_max"});

// The keys by which a document says what a job runs (`command`, `task`) and how (jobs/option_keys.h). Sets what they
// say; mistakes are collected by `fields`.
void read_action(Fields fields, Action& action, RunOptions& options);

}  // namespace kron::jobs
