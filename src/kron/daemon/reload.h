#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kron/api/parts.h"
#include "kron/jobs/load.h"

namespace kron::daemon {

// Tells of every job that is in force.
using EachJob = std::function<void(const std::function<void(const jobs::JobDefinition&)>& visit)>;

struct JobsToRun {
  std::vector<jobs::JobDefinition> definitions;
  std::vector<std::string> kept;  // files, or whole directories, whose old jobs stay in force because of an error
};

// Pure: which jobs run after the job files were read again. A file with an error says nothing new: its earlier jobs
// stay, unless another file has taken over their names. At the first reading nothing is in force, and what is in order
// runs.
JobsToRun jobs_after(jobs::LoadedJobs read, const EachJob& in_force);

// Pure: what becomes of the jobs in force when these run instead.
api::JobChanges changes_to(const std::vector<jobs::JobDefinition>& definitions, const EachJob& in_force);

// The names of all jobs that were read. Refused, naming the first, when there is an error: what could not be read may
// hold any job.
Result<std::vector<std::string>> names_of(const jobs::LoadedJobs& read);

}  // namespace kron::daemon
