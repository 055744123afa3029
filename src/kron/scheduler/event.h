#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "kron/core/decision.h"
#include "kron/core/open_periods.h"
#include "kron/core/state.h"
#include "kron/env/process_runner.h"
#include "kron/scheduler/operator_request.h"
#include "kron/state/record.h"

// What happened to jobs, as values. A scheduler collects them in the step that they belong to and hands them to its
// observers once the step is durable; what is logged, counted, kept and shown is made from them.
namespace kron {

struct PeriodEnded {  // without a run
  std::string identity;
  Decision period;
  Outcome outcome = Outcome::skipped;
  Reason reason = Reason::none;
  std::string clause;  // of the constraints, when it is excluded by one
  Instant at;
  std::string request;  // JSON: with it `kron decide` makes the same decision again
};

struct RunStarted {
  std::string identity;
  ActiveExecution run;
  std::optional<Decision> period = {};  // when the schedule set it going
  std::string request = {};             // as above
};

struct RunEnded {
  std::string identity;
  ActiveExecution run;
  RunExit exit;
  Instant at;
};

struct RunAdopted {  // of an earlier daemon, and still alive
  std::string identity;
  ActiveExecution run;
};

struct RunFoundBefore {  // its record did not tell of it; the period counts as executed, and is not run again
  std::string identity;
  Instant period;
  RunExit exit;
};

struct PeriodsPassedOver {
  std::string identity;
  PassedOver periods;
  Instant at;
};

struct PeriodsClosed {  // given up to keep a record within its limits: should the clock come back, they stay closed
  std::string identity;
  PassedOver periods;
};

struct ManualRunDropped {  // it was promised, and never started
  std::string identity;
  std::string run_id;
  Reason reason = Reason::none;
  Instant at;
};

// What operators asked for.

struct JobPaused {
  std::string identity;
  Suspension pause;
};

struct JobResumed {
  std::string identity;
  bool skip_missed = false;
  Attribution from;
  Instant at;
};

struct RunRequested {
  std::string identity;
  std::string run_id;
  Triggered::How how = Triggered::How::started;
  Attribution from;
};

struct RunSignalled {
  std::string identity;  // empty: another host's run
  std::string run_id;
  std::string signal;  // TERM or KILL
  Attribution from;
};

struct MessageOwed {  // of a job's alarm: it is durable in the record, and not yet known to be in the queue
  std::string identity;
  AlarmMessage message;
};

struct RecordsWritten {
  std::size_t count = 0;
  Nanoseconds took{0};
};

using Event =
    std::variant<PeriodEnded, RunStarted, RunEnded, RunAdopted, RunFoundBefore, PeriodsPassedOver, PeriodsClosed,
                 ManualRunDropped, JobPaused, JobResumed, RunRequested, RunSignalled, MessageOwed, RecordsWritten>;

// On the scheduler's thread, so it waits for nobody; it must not call the scheduler.
using Observer = std::function<void(const Event&)>;

}  // namespace kron
