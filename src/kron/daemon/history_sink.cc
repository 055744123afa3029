#include "kron/daemon/history_sink.h"

#include <utility>
#include <variant>

namespace kron::daemon {
namespace {

std::optional<std::chrono::microseconds> delay_of(const ActiveExecution& run, WallTime start) {
  if (!run.chosen) return std::nullopt;
  return std::chrono::round<std::chrono::microseconds>(start - *run.chosen);
}

struct KeepIn {
  history::History& history;
  const Clock& clock;
  std::string host;

  void keep(history::Entry entry) const {
    entry.host = host;
    history.add(std::move(entry));
  }

  void operator()(const PeriodEnded& ended) const {
    keep({.job = ended.identity,
          .outcome = ended.outcome,
          .reason = ended.reason,
          .clause = ended.clause,
          .period = ended.period.nominal,
          .chosen = ended.period.chosen,
          .ended_at = ended.at});
  }

  void operator()(const RunStarted& started) const {
    history::Entry entry = history::entry_of(started.identity, started.run);
    entry.delay = delay_of(started.run, clock.wall());
    keep(std::move(entry));
  }

  void operator()(const RunEnded& ended) const {
    history::Entry entry = history::entry_of(ended.identity, ended.run);
    entry.ended_at = ended.at;
    entry.exit_code = ended.exit.code;
    entry.attempts = several(ended.exit.attempts);
    entry.failed = unlike_exit_code(ended.exit.failed, ended.exit.code);
    entry.detail = ended.exit.reason;
    entry.output_bytes = ended.exit.output_bytes;
    entry.used = ended.exit.used;
    // The run's own record knows better than we who saw it start.
    if (ended.exit.began) entry.delay = delay_of(ended.run, *ended.exit.began);
    if (ended.exit.took) entry.duration = std::chrono::round<std::chrono::microseconds>(*ended.exit.took);
    keep(std::move(entry));
  }

  void operator()(const PeriodsPassedOver& passed_over) const {
    keep({.job = passed_over.identity, .ended_at = passed_over.at, .passed_over = passed_over.periods});
  }

  void operator()(const ManualRunDropped& dropped) const {
    keep({.job = dropped.identity,
          .outcome = Outcome::skipped,
          .reason = dropped.reason,
          .trigger = Trigger::manual,
          .run_id = dropped.run_id,
          .ended_at = dropped.at});
  }

  void operator()(const JobPaused& paused) const {
    const Suspension& pause = paused.pause;
    history.begin_pause({paused.identity, pause.since, pause.until, pause.by, pause.note});
  }

  void operator()(const JobResumed& resumed) const { history.end_pause(resumed.identity, resumed.at); }

  // The others are no outcome, or are in the history already.
  void operator()(const RunAdopted& /*event*/) const {}
  void operator()(const RunFoundBefore& /*event*/) const {}
  void operator()(const PeriodsClosed& /*event*/) const {}
  void operator()(const RunRequested& /*event*/) const {}
  void operator()(const RunSignalled& /*event*/) const {}
  void operator()(const MessageOwed& /*event*/) const {}
  void operator()(const RecordsWritten& /*event*/) const {}
};

}  // namespace

Observer history_sink(history::History& history, const Clock& clock, std::function<std::string()> host) {
  return [&history, &clock, host = std::move(host)](const Event& event) {
    std::visit(KeepIn{history, clock, host ? host() : std::string()}, event);
  };
}

}  // namespace kron::daemon
