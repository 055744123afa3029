#pragma once

#include <functional>
#include <future>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/log.h"
#include "kron/runner/retention.h"

namespace kron::daemon {

// Removes the files of old runs, at start and about every hour, in a thread of its own: a directory of a hundred
// thousand runs must not hold up the one that is due.
class RunKeeper {
 public:
  using ActiveRuns = std::function<std::set<std::string>()>;

  RunKeeper(std::string state_directory, runner::Retention retention, Log& log);
  ~RunKeeper() { stop_.request_stop(); }
  RunKeeper(const RunKeeper&) = delete;
  RunKeeper& operator=(const RunKeeper&) = delete;

  // Called with every turn of the daemon; begins a round when it is time and tells of the one that has ended.
  void turn(Nanoseconds monotonic, const ActiveRuns& active);

 private:
  std::string state_directory_;
  runner::Retention retention_;
  Log& log_;
  std::optional<Nanoseconds> last_;
  std::stop_source stop_;
  std::future<Result<std::size_t>> round_;  // its destructor waits
};

}  // namespace kron::daemon
