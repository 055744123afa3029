#include "kron/daemon/run_retention.h"

#include <stop_token>
#include <utility>

#include "kron/env/clock.h"
#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"
#include "kron/runner/cgroups.h"
#include "kron/runner/compression.h"

namespace kron::daemon {
namespace {

constexpr std::chrono::hours kEvery{1};
constexpr std::chrono::minutes kWithoutThread{1};  // until the next attempt

// Old runs go first: what is removed need not be compressed.
Result<RunRetention::Round> sweep(const std::string& state_directory, const std::string& cgroup,
                                  const runner::Retention& retention, const std::set<std::string>& active,
                                  const std::stop_token& stop) {
  become_background_thread();
  runner::remove_empty_cgroups(cgroup);
  Result<runner::RunFiles> files = runner::RunFiles::open(state_directory);
  if (!files) return fail(files.error());
  // Files carry the machine's time, whatever the daemon's clock is shifted by.
  const Instant t = now(RealClock());
  RunRetention::Round round;
  const Result<std::size_t> removed = runner::remove_old_runs(*files, retention, active, t, stop, &round.stayed);
  if (!removed) return fail(removed.error());
  const Result<std::size_t> compressed = runner::compress_old_output(*files, {}, active, t, stop, &round.stayed);
  if (!compressed) return fail(compressed.error());
  round.removed = *removed;
  round.compressed = *compressed;
  return round;
}

}  // namespace

RunRetention::RunRetention(std::string state_directory, std::string cgroup, runner::Retention retention, Log& log)
    : state_directory_(std::move(state_directory)), cgroup_(std::move(cgroup)), retention_(retention), log_(log) {}

void RunRetention::turn(Nanoseconds monotonic, const ActiveRuns& active) {
  if (round_.valid()) {
    if (round_.wait_for(Seconds(0)) != std::future_status::ready) return;
    tell(round_.get());
  }
  if (next_ && monotonic < *next_) return;
  begin_round(monotonic, active());
}

void RunRetention::begin_round(Nanoseconds monotonic, std::set<std::string> active) {
  std::packaged_task<Result<Round>(const std::stop_token&)> task(
      [directory = state_directory_, cgroup = cgroup_, retention = retention_, active = std::move(active)](
          const std::stop_token& stop) { return sweep(directory, cgroup, retention, active, stop); });
  std::future<Result<Round>> round = task.get_future();
  Result<std::jthread> thread = with_thread("removing old runs", [&] {
    return std::jthread([task = std::move(task)](const std::stop_token& stop) mutable { task(stop); });
  });
  next_ = monotonic + (thread ? Nanoseconds(kEvery) : Nanoseconds(kWithoutThread));
  if (!thread) return log_.warning("old_runs_stay", {{"reason", thread.error().message}});
  thread_ = *std::move(thread);
  round_ = std::move(round);
}

void RunRetention::tell(const Result<Round>& round) {
  if (!round) return log_.warning("old_runs_stay", {{"reason", round.error().message}});
  if (round->stayed.count != 0) {
    log_.warning("old_runs_stay",
                 {{"count", static_cast<std::int64_t>(round->stayed.count)}, {"reason", round->stayed.first.message}});
  }
  if (round->removed != 0) log_.info("old_runs_removed", {{"count", static_cast<std::int64_t>(round->removed)}});
  if (round->compressed != 0) {
    log_.info("old_output_compressed", {{"count", static_cast<std::int64_t>(round->compressed)}});
  }
}

}  // namespace kron::daemon
