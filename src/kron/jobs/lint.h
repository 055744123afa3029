#pragma once

#include <span>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/lint_pools.h"
#include "kron/jobs/problem.h"

namespace kron::jobs {

struct LintOptions {
  Instant now;
  std::size_t herd = 20;                // this many jobs without a window at the same second are a herd
  bool notes = false;                   // also what costs little: daily jobs that may not start late
  std::size_t max_running = 0;          // krond --max-running; 0: any number
  const UsualLengths* usual = nullptr;  // of the jobs, where somebody knows; else their timeouts count
};

// What valid definitions do that their authors hardly want, looking forward from `now`: windows that overlap (an error
// when more than 4,096 periods would be open at once), a chance above 0.1 % that constraints leave a period without a
// time, minutely jobs that a late second misses, rare jobs that lose a period when the host is down at that second, the
// dates on which clock changes touch jobs in the next five years, herds, pools that are too small, and what a cluster
// makes of cronken definitions. What many jobs of a file share is said once. Tens of microseconds a job at most.
std::vector<Problem> lint(std::span<const JobDefinition> definitions, const LintOptions& options);

}  // namespace kron::jobs
