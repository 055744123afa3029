#pragma once

#include <cstddef>
#include <set>
#include <stop_token>
#include <string>

#include "kron/base/instant.h"
#include "kron/runner/run_files.h"

namespace kron::runner {

// How long the files of ended runs are kept.
struct Retention {
  Seconds age = std::chrono::hours(30 * 24);
  std::size_t most = 100'000;  // of more, the oldest go
};

// Removes the files of old runs, but not of those in `active`, and says of how many. `now` is the machine's time. Told
// to stop, it leaves the rest for another time.
Result<std::size_t> remove_old_runs(RunFiles& files, const Retention& retention, const std::set<std::string>& active,
                                    Instant now, const std::stop_token& stop = {});

}  // namespace kron::runner
