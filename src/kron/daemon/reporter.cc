#include "kron/daemon/reporter.h"

#include <utility>

#include "kron/runner/protocol.h"

namespace kron::daemon {
namespace {

metrics::RunEnd end_of(const RunExit& exit) {
  if (!exit.code) return metrics::RunEnd::unknown;
  if (exit.reason.starts_with(runner::kTimedOut)) return metrics::RunEnd::timed_out;
  return *exit.code == 0 ? metrics::RunEnd::succeeded : metrics::RunEnd::failed;
}

}  // namespace

void Reporter::operator()(const Happening& happening) const {
  std::visit([this](const auto& what) { report(what); }, happening);
}

void Reporter::report(const PeriodEnded& ended) const {
  metrics_.period_ended(name_of(ended.outcome), name_of(ended.reason));
  keep({.job = ended.identity,
        .outcome = ended.outcome,
        .reason = ended.reason,
        .clause = ended.clause,
        .period = ended.period.nominal,
        .chosen = ended.period.chosen,
        .ended_at = ended.at});
}

void Reporter::report(const RunStarted& started) const {
  const bool is_due = started.run.trigger == Trigger::schedule && started.run.chosen;
  if (is_due) {
    metrics_.period_ended(name_of(Outcome::executed), "");
    metrics_.run_started(clock_.wall() - *started.run.chosen);
  }
  keep(history::entry_of(started.identity, started.run));
}

void Reporter::report(const RunEnded& ended) const {
  history::Entry entry = history::entry_of(ended.identity, ended.run);
  entry.ended_at = ended.at;
  entry.exit_code = ended.exit.code;
  entry.detail = ended.exit.reason;
  entry.output_bytes = ended.exit.output_bytes;
  metrics_.run_ended(end_of(ended.exit), ended.at - ended.run.started_at);
  keep(std::move(entry));
  if (outputs_ != nullptr) outputs_->run_ended(ended.run.run_id);
}

void Reporter::report(const PeriodsPassedOver& passed_over) const {
  keep({.job = passed_over.identity, .ended_at = passed_over.at, .passed_over = passed_over.periods});
}

void Reporter::report(const ManualRunDropped& dropped) const {
  keep({.job = dropped.identity,
        .outcome = Outcome::skipped,
        .reason = dropped.reason,
        .trigger = Trigger::manual,
        .run_id = dropped.run_id,
        .ended_at = dropped.at});
}

void Reporter::report(const RecordsWritten& written) const { metrics_.ledger_batch(written.count, written.took); }

void Reporter::keep(history::Entry entry) const {
  if (history_ != nullptr) history_->add(std::move(entry));
}

}  // namespace kron::daemon
