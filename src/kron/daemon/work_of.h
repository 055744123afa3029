#pragma once

#include <vector>

#include "kron/jobs/definition.h"
#include "kron/runner/real_process_runner.h"
#include "kron/scheduler/launcher.h"
#include "kron/scheduler/run_cause.h"

namespace kron::daemon {

// Pure: what a run of a job is to the runner or to the queue.
RunWork work_of(const jobs::JobDefinition& definition, const RunCause& cause);

// Pure: the same with these variables too, where it is a command that has none of that name.
RunWork with_variables(RunWork work, const jobs::Environment& variables);

bool has_tasks(const std::vector<jobs::JobDefinition>& definitions);

// The system may take long to say who the users of jobs are; it has until their jobs are due.
void prepare_accounts(const std::vector<jobs::JobDefinition>& definitions, runner::RealProcessRunner& runner);

}  // namespace kron::daemon
