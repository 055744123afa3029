#pragma once

#include <optional>
#include <string>

#include "kron/base/instant.h"
#include "kron/env/process_runner.h"
#include "kron/jobs/definition.h"

namespace kron::runner {

struct PeriodTimes {
  Instant nominal;
  Instant chosen;
};

// One run of a job that has a command. Without a period (a run by hand) the variables that name one are empty. Fails
// when the command cannot be split into words, which a job that was read has been checked for.
Result<RunSpec> run_spec_of(const jobs::JobDefinition& definition, std::string run_id,
                            const std::optional<PeriodTimes>& period);

// capture (or empty), inherit, discard, syslog, file:PATH or an absolute PATH.
OutputTo output_of(std::string_view text);

}  // namespace kron::runner
