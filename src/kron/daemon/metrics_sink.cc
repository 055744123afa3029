#include "kron/daemon/metrics_sink.h"

#include <algorithm>
#include <variant>

#include "kron/core/failure_pause.h"
#include "kron/runner/protocol.h"

namespace kron::daemon {
namespace {

metrics::RunEnd end_of(const RunExit& exit) {
  if (!exit.code) return metrics::RunEnd::unknown;
  if (exit.reason.starts_with(runner::kTimedOut)) return metrics::RunEnd::timed_out;
  return counts_as_failed(exit.failed, *exit.code) ? metrics::RunEnd::failed : metrics::RunEnd::succeeded;
}

}  // namespace

Observer metrics_sink(metrics::Metrics& metrics, const Clock& clock) {
  return [&metrics, &clock](const Event& event) {
    if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      metrics.period_ended(name_of(ended->outcome), name_of(ended->reason));
    } else if (const auto* started = std::get_if<RunStarted>(&event)) {
      if (started->run.trigger != Trigger::schedule || !started->run.chosen) return;
      metrics.period_ended(name_of(Outcome::executed), "");
      metrics.run_started(clock.wall() - *started->run.chosen);
    } else if (const auto* run = std::get_if<RunEnded>(&event)) {
      metrics.run_ended(end_of(run->exit), run->at - run->run.started_at);
      if (run->exit.used) metrics.run_used(*run->exit.used);
      if (run->exit.attempts > 1) metrics.run_tried_again(run->exit.attempts - 1);
    } else if (const auto* paused = std::get_if<JobPaused>(&event)) {
      if (paused->pause.by == kPausedByFailures) metrics.job_paused_by_failures();
    } else if (const auto* written = std::get_if<RecordsWritten>(&event)) {
      metrics.ledger_batch(written->count, written->took);
    }
  };
}

Observer job_metrics_sink(metrics::JobMetrics& metrics) {
  return [&metrics](const Event& event) {
    if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      metrics.saw(ended->identity, {std::string(name_of(ended->outcome)), ended->at});
    } else if (const auto* run = std::get_if<RunEnded>(&event)) {
      const Seconds took = run->at - run->run.started_at;
      metrics.saw(run->identity,
                  {std::string(metrics::name_of(end_of(run->exit))), run->at, std::max(took, Seconds(0))});
    }
  };
}

}  // namespace kron::daemon
