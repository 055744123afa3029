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

// Removes the files of old runs and compresses what others wrote, at start and about every hour, in a thread of its
// own: a directory of a hundred thousand runs must not hold up the one that is due.
class RunKeeper {
 public:
  struct Round {
    std::size_t removed = 0;
    std::size_t compressed = 0;
  };
  using ActiveRuns = std::function<std::set<std::string>()>;

  RunKeeper(std::string state_directory, runner::Retention retention, Log& log);
  ~RunKeeper() { stop_.request_stop(); }
  RunKeeper(const RunKeeper&) = delete;
  RunKeeper& operator=(const RunKeeper&) = delete;

  // Called with every turn of the daemon; begins a round when it is time and tells of the one that has ended.
  void turn(Nanoseconds monotonic, const ActiveRuns& active);

 private:
  void tell(const Result<Round>& round);

  std::string state_directory_;
  runner::Retention retention_;
  Log& log_;
  std::optional<Nanoseconds> last_;
  std::stop_source stop_;
  std::future<Result<Round>> round_;  // its destructor waits
};

}  // namespace kron::daemon
