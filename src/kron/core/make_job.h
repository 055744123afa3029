#pragma once

#include <cstdint>

#include "kron/base/result.h"
#include "kron/core/job.h"
#include "kron/core/state.h"

namespace kron {

// No window, deadline, spread, timeout or grace is longer. What is added to a time of the years up to 2199 is far from
// any overflow then, and the periods of a window can be counted.
inline constexpr Seconds kLongestDuration{std::chrono::hours(24 * 365 * 100)};

// Refused: longer than that. The message names the cure; the caller adds the field.
Status check_duration(Nanoseconds duration);

// The most failures in a row that a policy may wait for.
inline constexpr std::uint32_t kMostPauseAfter = 1000;

struct JobLimits {
  std::uint64_t open_periods = kMostOpenPeriods;  // adapters that keep a record elsewhere may allow fewer
};

// The one way by which a Job comes from outside: every reader of job files, crontabs, requests and the like fills in a
// draft and takes the Job from here, so that a Job that exists can be scheduled. Pure. invalid: the message says what
// is wrong and the cure; its field is a key of json/job_fields.h or "identity", and the reader knows where that stands.
Result<Job> make_job(Job draft, const JobLimits& limits = {});

}  // namespace kron
