#include "kron/base/rfc3339.h"
#include "kron/json/decide_request.h"
#include "kron/scheduler/scheduler.h"

namespace kron {
namespace {

// What `kron explain --log-line` and `kron decide` need. Texts live here while the line is written.
struct PeriodFields {
  PeriodFields(const Job& job, const Decision& period)
      : id(rfc3339(period.nominal)),
        chosen(period.chosen ? rfc3339(*period.chosen) : ""),
        seed_hash(hex(period.seed_hash)),
        request(decide_request_json(job, period.nominal)) {}

  std::string id;
  std::string chosen;
  std::string seed_hash;
  std::string request;
};

}  // namespace

void Scheduler::tell(const Happening& happening) const {
  if (world_.tell) world_.tell(happening);
}

std::function<void()> Scheduler::outcome_line(const Entry& entry, const Record& outcome, Instant at) {
  return [this, identity = entry.definition.job.identity, outcome, at,
          period = PeriodFields(entry.definition.job, outcome.period)] {
    tell(PeriodEnded{identity, outcome.period, outcome.outcome, outcome.reason, outcome.clause, at});
    world_.log.info("period_ended", {{"identity", identity},
                                     {"periodId", period.id},
                                     {"nominalTime", period.id},
                                     {"chosenTime", period.chosen},
                                     {"outcome", name_of(outcome.outcome)},
                                     {"reason", name_of(outcome.reason)},
                                     {"clause", outcome.clause},
                                     {"seedHash", period.seed_hash},
                                     {"decision", period.request}});
  };
}

std::function<void()> Scheduler::start_line(const Entry& entry, const ActiveExecution& run,
                                            const std::optional<Decision>& decision) {
  const std::string& identity = entry.definition.job.identity;
  if (!decision || run.trigger != Trigger::schedule) {
    return [this, identity, run] {
      tell(RunStarted{identity, run});
      world_.log.info(
          "run_started",
          {{"identity", identity}, {"trigger", name_of(run.trigger)}, {"runId", run.run_id}, {"pid", run.pid}});
    };
  }
  return [this, identity, run, period = PeriodFields(entry.definition.job, *decision)] {
    tell(RunStarted{identity, run});
    world_.log.info("run_started", {{"identity", identity},
                                    {"periodId", period.id},
                                    {"nominalTime", period.id},
                                    {"chosenTime", period.chosen},
                                    {"outcome", name_of(Outcome::executed)},
                                    {"seedHash", period.seed_hash},
                                    {"runId", run.run_id},
                                    {"pid", run.pid},
                                    {"decision", period.request}});
  };
}

std::function<void()> Scheduler::end_line(const Entry& entry, const ActiveExecution& run, const RunExit& exit,
                                          Instant at) {
  return [this, identity = entry.definition.job.identity, run, exit, at] {
    tell(RunEnded{identity, run, exit, at});
    const std::string id = run.period ? rfc3339(*run.period) : "";
    const LogField code = exit.code ? LogField{"exitCode", *exit.code} : LogField{"exitCode", "unknown"};
    world_.log.info("run_ended", {{"identity", identity},
                                  {"periodId", id},
                                  {"runId", run.run_id},
                                  {"pid", run.pid},
                                  code,
                                  {"reason", exit.reason}});
  };
}

std::function<void()> Scheduler::dropped_line(const Entry& entry, const std::string& run_id, Reason reason,
                                              Instant at) {
  return [this, identity = entry.definition.job.identity, run_id, reason, at] {
    tell(ManualRunDropped{identity, run_id, reason, at});
    world_.log.warning("manual_run_dropped", {{"identity", identity}, {"runId", run_id}, {"reason", name_of(reason)}});
  };
}

std::function<void()> Scheduler::already_run_line(const Entry& entry, const Decision& period, const RunExit& earlier) {
  return [this, identity = entry.definition.job.identity, id = rfc3339(period.nominal), earlier] {
    const LogField code = earlier.code ? LogField{"exitCode", *earlier.code} : LogField{"exitCode", "unknown"};
    world_.log.warning("already_run", {{"identity", identity}, {"periodId", id}, {"runId", earlier.run_id}, code});
  };
}

void Scheduler::say_adopted(const Entry& entry, const ActiveExecution& run) {
  world_.log.info("run_adopted", {{"identity", entry.definition.job.identity},
                                  {"periodId", run.period ? rfc3339(*run.period) : ""},
                                  {"runId", run.run_id},
                                  {"pid", run.pid}});
}

std::function<void()> Scheduler::passed_over_line(const Entry& entry, const PassedOver& passed_over, Instant at) {
  return [this, identity = entry.definition.job.identity, passed_over, at] {
    tell(PeriodsPassedOver{identity, passed_over, at});
    world_.log.warning("passed_over", {{"identity", identity},
                                       {"count", static_cast<std::int64_t>(passed_over.count)},
                                       {"first", rfc3339(passed_over.first)},
                                       {"last", rfc3339(passed_over.last)}});
  };
}

// Spans were given up to keep a record within its limits: should the clock come back to them, they stay closed.
void Scheduler::say_closed(const Entry& entry, const std::optional<PassedOver>& closed) {
  if (!closed) return;
  world_.log.warning("passed_over_closed", {{"identity", entry.definition.job.identity},
                                            {"count", static_cast<std::int64_t>(closed->count)},
                                            {"first", rfc3339(closed->first)},
                                            {"last", rfc3339(closed->last)}});
}

}  // namespace kron
