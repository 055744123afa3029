#include "kron/daemon/run_keeper.h"

#include <utility>

#include "kron/env/clock.h"

namespace kron::daemon {
namespace {

constexpr std::chrono::hours kEvery{1};

Result<std::size_t> sweep(const std::string& state_directory, const runner::Retention& retention,
                          const std::set<std::string>& active, const std::stop_token& stop) {
  Result<runner::RunFiles> files = runner::RunFiles::open(state_directory);
  if (!files) return fail(files.error());
  // Files carry the machine's time, whatever the daemon's clock is shifted by.
  return runner::remove_old_runs(*files, retention, active, now(RealClock()), stop);
}

}  // namespace

RunKeeper::RunKeeper(std::string state_directory, runner::Retention retention, Log& log)
    : state_directory_(std::move(state_directory)), retention_(retention), log_(log) {}

void RunKeeper::turn(Nanoseconds monotonic, const ActiveRuns& active) {
  if (round_.valid()) {
    if (round_.wait_for(Seconds(0)) != std::future_status::ready) return;
    const Result<std::size_t> removed = round_.get();
    if (!removed) {
      log_.warning("old_runs_stay", {{"reason", removed.error().message}});
    } else if (*removed != 0) {
      log_.info("old_runs_removed", {{"count", static_cast<std::int64_t>(*removed)}});
    }
  }
  if (last_ && monotonic - *last_ < kEvery) return;
  last_ = monotonic;
  round_ = std::async(std::launch::async, sweep, state_directory_, retention_, active(), stop_.get_token());
}

}  // namespace kron::daemon
