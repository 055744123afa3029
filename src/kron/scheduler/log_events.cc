#include "kron/scheduler/log_events.h"

#include "kron/base/rfc3339.h"

namespace kron {
namespace {

std::string text_of(const std::optional<Instant>& time) { return time ? rfc3339(*time) : ""; }

LogField exit_code(const RunExit& exit) {
  return exit.code ? LogField{"exitCode", *exit.code} : LogField{"exitCode", "unknown"};
}

// Left out when there was one.
LogField attempts(const RunExit& exit) {
  return exit.attempts > 1 ? LogField{"attempts", std::int64_t{exit.attempts}}
                           : LogField{"attempts", std::string_view()};
}

// Left out when it is as the exit code says.
LogField failed(const RunExit& exit) {
  const std::optional<bool> unlike = unlike_exit_code(exit.failed, exit.code);
  return unlike ? LogField{"failed", LogJson{*unlike ? "true" : "false"}} : LogField{"failed", std::string_view()};
}

// A process by its PID, a task by its id.
LogField what_runs(const ActiveExecution& run) {
  if (run.is_task()) return {"task", run.task_id};
  // In a cluster a run has its process when it is let go, and nobody here learns the PID.
  return run.pid > 0 ? LogField{"pid", run.pid} : LogField{"pid", std::string_view()};
}

// Left out when it is not set.
LogField flag(std::string_view key, bool value) {
  return value ? LogField{key, LogJson{"true"}} : LogField{key, std::string_view()};
}

struct LineOf {
  Log& log;

  void operator()(const PeriodEnded& ended) const {
    const std::string id = rfc3339(ended.period.nominal);
    log.info("period_ended", {{"identity", ended.identity},
                              {"periodId", id},
                              {"nominalTime", id},
                              {"chosenTime", text_of(ended.period.chosen)},
                              {"outcome", name_of(ended.outcome)},
                              {"reason", name_of(ended.reason)},
                              {"clause", ended.clause},
                              {"seedHash", hex(ended.period.seed_hash)},
                              {"decision", LogJson{ended.request}}});
  }

  void operator()(const RunStarted& started) const {
    const ActiveExecution& run = started.run;
    if (!started.period) {
      log.info(
          "run_started",
          {{"identity", started.identity}, {"trigger", name_of(run.trigger)}, {"runId", run.run_id}, what_runs(run)});
      return;
    }
    const std::string id = rfc3339(started.period->nominal);
    log.info("run_started", {{"identity", started.identity},
                             {"periodId", id},
                             {"nominalTime", id},
                             {"chosenTime", text_of(started.period->chosen)},
                             {"outcome", name_of(Outcome::executed)},
                             {"seedHash", hex(started.period->seed_hash)},
                             {"runId", run.run_id},
                             what_runs(run),
                             {"decision", LogJson{started.request}}});
  }

  void operator()(const RunEnded& ended) const {
    log.info("run_ended", {{"identity", ended.identity},
                           {"periodId", text_of(ended.run.period)},
                           {"runId", ended.run.run_id},
                           what_runs(ended.run),
                           exit_code(ended.exit),
                           failed(ended.exit),
                           attempts(ended.exit),
                           {"reason", ended.exit.reason}});
  }

  void operator()(const RunAdopted& adopted) const {
    log.info("run_adopted", {{"identity", adopted.identity},
                             {"periodId", text_of(adopted.run.period)},
                             {"runId", adopted.run.run_id},
                             what_runs(adopted.run)});
  }

  void operator()(const RunFoundBefore& found) const {
    log.warning("already_run", {{"identity", found.identity},
                                {"periodId", rfc3339(found.period)},
                                {"runId", found.exit.run_id},
                                exit_code(found.exit)});
  }

  void operator()(const PeriodsPassedOver& passed) const {
    log.warning("passed_over", {{"identity", passed.identity},
                                {"count", static_cast<std::int64_t>(passed.periods.count)},
                                {"first", rfc3339(passed.periods.first)},
                                {"last", rfc3339(passed.periods.last)}});
  }

  void operator()(const PeriodsClosed& closed) const {
    log.warning("passed_over_closed", {{"identity", closed.identity},
                                       {"count", static_cast<std::int64_t>(closed.periods.count)},
                                       {"first", rfc3339(closed.periods.first)},
                                       {"last", rfc3339(closed.periods.last)}});
  }

  void operator()(const ManualRunDropped& dropped) const {
    log.warning("manual_run_dropped",
                {{"identity", dropped.identity}, {"runId", dropped.run_id}, {"reason", name_of(dropped.reason)}});
  }

  void operator()(const JobPaused& paused) const {
    log.info("job_paused", {{"identity", paused.identity},
                            {"until", text_of(paused.pause.until)},
                            flag("skipMissed", paused.pause.skip_missed),
                            {"by", paused.pause.by},
                            {"note", paused.pause.note}});
  }

  void operator()(const JobResumed& resumed) const {
    log.info("job_resumed", {{"identity", resumed.identity},
                             flag("skipMissed", resumed.skip_missed),
                             {"by", resumed.from.by},
                             {"note", resumed.from.note}});
  }

  void operator()(const RunRequested& requested) const {
    log.info("run_requested", {{"identity", requested.identity},
                               {"runId", requested.run_id},
                               {"outcome", name_of(requested.how)},
                               {"by", requested.from.by},
                               {"note", requested.from.note}});
  }

  // Told by who brings it to the queue.
  void operator()(const MessageOwed& /*event*/) const {}

  void operator()(const RunSignalled& signalled) const {
    log.info("run_signalled", {{"identity", signalled.identity},
                               {"runId", signalled.run_id},
                               {"signal", signalled.signal},
                               {"by", signalled.from.by},
                               {"note", signalled.from.note}});
  }

  void operator()(const RecordsWritten& /*written*/) const {}
};

}  // namespace

void log_event(Log& log, const Event& event) { std::visit(LineOf{log}, event); }

}  // namespace kron
