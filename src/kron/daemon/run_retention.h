#pragma once

#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/log.h"
#include "kron/runner/retention.h"

namespace kron::daemon {

// Removes the files of old runs and the cgroups of those that have left no process, and compresses what others wrote,
// at start and about every hour, in a thread of its own: a directory of a hundred thousand runs must not hold up the
// one that is due. Where there is no thread to be had, it is tried again a minute later.
class RunRetention {
 public:
  struct Round {
    std::size_t removed = 0;
    std::size_t compressed = 0;
    runner::Stayed stayed = {};
  };
  using ActiveRuns = std::function<std::set<std::string>()>;

  // `cgroup`: where the cgroups of runs are; empty: they have none.
  RunRetention(std::string state_directory, std::string cgroup, runner::Retention retention, Log& log);
  RunRetention(const RunRetention&) = delete;
  RunRetention& operator=(const RunRetention&) = delete;

  // Called with every turn of the daemon; begins a round when it is time and tells of the one that has ended.
  void turn(Nanoseconds monotonic, const ActiveRuns& active);

 private:
  void begin_round(Nanoseconds monotonic, std::set<std::string> active);
  void tell(const Result<Round>& round);

  std::string state_directory_;
  std::string cgroup_;
  runner::Retention retention_;
  Log& log_;
  std::optional<Nanoseconds> next_;
  std::future<Result<Round>> round_;
  std::jthread thread_;  // its destructor tells it to stop, and waits
};

}  // namespace kron::daemon
