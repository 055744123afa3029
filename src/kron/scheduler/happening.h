#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <variant>

#include "kron/core/decision.h"
#include "kron/core/open_periods.h"
#include "kron/core/state.h"
#include "kron/env/process_runner.h"
#include "kron/ledger/state_record.h"

// What a scheduler tells of its work, each thing once it is durable.
namespace kron {

struct PeriodEnded {  // without a run
  std::string identity;
  Decision period;
  Outcome outcome = Outcome::skipped;
  Reason reason = Reason::none;
  std::string clause;  // of the constraints, when it is excluded by one
  Instant at;
};

struct RunStarted {
  std::string identity;
  ActiveExecution run;
};

struct RunEnded {
  std::string identity;
  ActiveExecution run;
  RunExit exit;
  Instant at;
};

struct PeriodsPassedOver {
  std::string identity;
  PassedOver periods;
  Instant at;
};

struct ManualRunDropped {  // it was promised, and never started
  std::string identity;
  std::string run_id;
  Reason reason = Reason::none;
  Instant at;
};

struct RecordsWritten {
  std::size_t count = 0;
  Nanoseconds took{0};
};

using Happening = std::variant<PeriodEnded, RunStarted, RunEnded, PeriodsPassedOver, ManualRunDropped, RecordsWritten>;
using Tell = std::function<void(const Happening&)>;

}  // namespace kron
