// What a scheduler tells its observers.
#include <utility>

#include "kron/json/decide_request.h"
#include "kron/scheduler/scheduler.h"

namespace kron {

std::string_view name_of(Triggered::How how) {
  switch (how) {
    case Triggered::How::started:
      return "started";
    case Triggered::How::waiting:
      return "waiting";
    case Triggered::How::already_known:
      break;
  }
  return "already_known";
}

void Scheduler::notify(const Event& event) const {
  for (const Observer& observer : world_.observers) observer(event);
}

PeriodEnded Scheduler::event_of(const Job& job, const Record& outcome, Instant at) {
  return {job.identity,
          outcome.period,
          outcome.outcome,
          outcome.reason,
          outcome.clause,
          at,
          decide_request_json(job, outcome.period.nominal)};
}

RunStarted Scheduler::event_of(const Job& job, const ActiveExecution& run, const std::optional<Decision>& period) {
  RunStarted started{job.identity, run};
  if (!period || run.trigger != Trigger::schedule) return started;
  started.period = period;
  started.request = decide_request_json(job, period->nominal);
  return started;
}

// Not part of a step: nothing is recorded by it.
void Scheduler::notify_closed(const Entry& entry, const std::optional<PassedOver>& closed) const {
  if (closed) notify(PeriodsClosed{entry.definition.job.identity, *closed});
}

}  // namespace kron
