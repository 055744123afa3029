#pragma once

#include <cstdint>

#include "kron/core/job.h"
#include "kron/core/state.h"

namespace kron {

// How many periods of the job can be open at once: the most nominal times that lie within one window's length.
std::uint64_t most_open_periods(const Job& job);

// Refused (field "window"): a job that would have more than `most` periods open at once. Each of them is looked at
// whenever the job is, and kept in its record.
Status check_open_periods(const Job& job, std::uint64_t most = kMostOpenPeriods);

}  // namespace kron
