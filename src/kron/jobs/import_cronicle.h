#pragma once

#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

// Events of Cronicle, as its API gives them (get_schedule, whose `rows` they are; a list; or one of them). What is not
// carried over is a warning at its place; an event that no job file can say is an error, and left out. Pure.
std::vector<JobDefinition> import_cronicle(std::string_view text, ModelContext& context, Report& report);

}  // namespace kron::jobs
