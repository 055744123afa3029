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

// Runs that housekeeping could not do what it should with.
struct Stayed {
  std::size_t count = 0;
  Error first = {};

  void add(const Error& error) {
    if (count++ == 0) first = error;
  }
};

// Removes the files of old runs, but not of those in `active`, and says of how many. One that cannot be removed keeps
// no other from it, and is told of by `stayed`. `now` is the machine's time. Told to stop, it leaves the rest for
// another time.
Result<std::size_t> remove_old_runs(RunFiles& files, const Retention& retention, const std::set<std::string>& active,
                                    Instant now, const std::stop_token& stop = {}, Stayed* stayed = nullptr);

}  // namespace kron::runner
