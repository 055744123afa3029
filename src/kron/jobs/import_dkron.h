#pragma once

#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

// Jobs of dkron, as its API gives them (GET /v1/jobs, or one of them). What is not carried over is a warning at its
// place; a job that no job file can say is an error, and left out. Pure.
std::vector<JobDefinition> import_dkron(std::string_view text, ModelContext& context, Report& report);

}  // namespace kron::jobs
