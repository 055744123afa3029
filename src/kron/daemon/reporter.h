#pragma once

#include "kron/api/output_follower.h"
#include "kron/env/clock.h"
#include "kron/history/history.h"
#include "kron/metrics/metrics.h"
#include "kron/scheduler/happening.h"

namespace kron::daemon {

// Passes what the scheduler tells on to those who keep, count and show it. On the scheduler's thread, so it waits for
// nobody.
class Reporter {
 public:
  // All outlive it; the history and the outputs may be absent.
  Reporter(const Clock& clock, metrics::Metrics& metrics, history::History* history, api::OutputFollower* outputs)
      : clock_(clock), metrics_(metrics), history_(history), outputs_(outputs) {}

  void operator()(const Happening& happening) const;

 private:
  void report(const PeriodEnded& ended) const;
  void report(const RunStarted& started) const;
  void report(const RunEnded& ended) const;
  void report(const PeriodsPassedOver& passed_over) const;
  void report(const ManualRunDropped& dropped) const;
  void report(const RecordsWritten& written) const;
  void keep(history::Entry entry) const;

  const Clock& clock_;
  metrics::Metrics& metrics_;
  history::History* history_;
  api::OutputFollower* outputs_;
};

}  // namespace kron::daemon
