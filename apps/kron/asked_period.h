#pragma once

#include <string>

#include "kron/core/job.h"

namespace kron::cli {

struct PeriodFlags {
  std::string period;  // its id
  std::string at;      // or a time that belongs to it
};

// The period that a verb is asked about: by its flags, else the next one. not_found: the schedule has none.
Result<Instant> period_asked_for(const PeriodFlags& flags, const Job& job, Instant now);

}  // namespace kron::cli
