#include "kron/daemon/run_keeper.h"

#include <utility>

#include "kron/env/clock.h"
#include "kron/env/work_thread.h"
#include "kron/runner/compression.h"

namespace kron::daemon {
namespace {

constexpr std::chrono::hours kEvery{1};

// Old runs go first: what is removed need not be compressed.
Result<RunKeeper::Round> sweep(const std::string& state_directory, const runner::Retention& retention,
                               const std::set<std::string>& active, const std::stop_token& stop) {
  become_background_thread();
  Result<runner::RunFiles> files = runner::RunFiles::open(state_directory);
  if (!files) return fail(files.error());
  // Files carry the machine's time, whatever the daemon's clock is shifted by.
  const Instant t = now(RealClock());
  const Result<std::size_t> removed = runner::remove_old_runs(*files, retention, active, t, stop);
  if (!removed) return fail(removed.error());
  const Result<std::size_t> compressed = runner::compress_old_output(*files, {}, active, t, stop);
  if (!compressed) return fail(compressed.error());
  return RunKeeper::Round{*removed, *compressed};
}

}  // namespace

RunKeeper::RunKeeper(std::string state_directory, runner::Retention retention, Log& log)
    : state_directory_(std::move(state_directory)), retention_(retention), log_(log) {}

void RunKeeper::turn(Nanoseconds monotonic, const ActiveRuns& active) {
  if (round_.valid()) {
    if (round_.wait_for(Seconds(0)) != std::future_status::ready) return;
    tell(round_.get());
  }
  if (last_ && monotonic - *last_ < kEvery) return;
  last_ = monotonic;
  round_ = std::async(std::launch::async, sweep, state_directory_, retention_, active(), stop_.get_token());
}

void RunKeeper::tell(const Result<Round>& round) {
  if (!round) return log_.warning("old_runs_stay", {{"reason", round.error().message}});
  if (round->removed != 0) log_.info("old_runs_removed", {{"count", static_cast<std::int64_t>(round->removed)}});
  if (round->compressed != 0) {
    log_.info("old_output_compressed", {{"count", static_cast<std::int64_t>(round->compressed)}});
  }
}

}  // namespace kron::daemon
