#pragma once

#include <string>
#include <string_view>

#include "kron/jobs/definition.h"
#include "kron/json/fields.h"

namespace kron::jobs {

// The keys by which a document says what a job runs (`command`, `task`) and how (jobs/option_keys.h). Sets what they
// say; mistakes are collected by `fields`.
void read_action(Fields fields, Action& action, RunOptions& options);

}  // namespace kron::jobs
