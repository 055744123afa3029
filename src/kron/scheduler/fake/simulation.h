#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kron/base/instant.h"
#include "kron/scheduler/fake/daemon.h"

namespace kron::testing {

// Years of a daemon's life, drawn from a seed: jobs of all kinds in zones with and without daylight saving, commands
// that misbehave, an operator who suspends, triggers, edits and removes, a clock that is set, machines that sleep, lose
// power or fill their disk. Witness judges every step.
struct SimulationPlan {
  std::uint64_t seed = 1;
  int jobs = 20;
  Seconds length = std::chrono::hours(24 * 30);
  Seconds between_events = std::chrono::hours(12);  // on average
  bool quiet = false;                               // nothing but time passes: then every period must have an outcome
  std::optional<std::size_t> max_running = {};      // none: drawn
  Mutation mutation = Mutation::none;

  // For those who look on; none of it changes what happens.
  Observer on_event = {};
  std::function<void(Instant now, bool is_up)> on_life = {};  // a daemon begins, or has died
  std::function<void(const Outside& outside, const Scheduler& scheduler)> at_end = {};
};

struct SimulationReport {
  std::size_t executions = 0;
  std::size_t outcomes = 0;
  std::size_t events = 0;
  std::size_t power_cuts = 0;
  std::size_t restarts = 0;  // all deaths of the daemon
  std::size_t clock_jumps = 0;
  std::size_t broken = 0;        // the ledger gave up, and the daemon was started anew
  std::size_t answers = 0;       // to what operators asked
  std::size_t unanswered = 0;    // they asked a daemon that died
  std::size_t paused = 0;        // jobs, by their failures
  std::size_t waits = 0;         // periods that waited for a run when somebody looked
  std::size_t superseded = 0;    // periods that waited in vain for the run before them, or for a slot
  std::size_t slot_waits = 0;    // periods that waited for a slot when somebody looked
  std::size_t without_slot = 0;  // periods that were missed because there was none
  std::size_t spread = 0;        // late periods that were announced to start later, and did
  std::size_t retried = 0;       // runs of several attempts
  std::size_t ruled = 0;         // runs that failed, or not, unlike their exit code
  std::size_t opened = 0;        // alarms, as they were submitted; each once for each destination
  std::size_t closed = 0;
  std::size_t repeated = 0;
  std::size_t late = 0;   // of all these messages
  std::string violation;  // empty: none; else what, when, and after which event
};

SimulationReport simulate(const SimulationPlan& plan);

}  // namespace kron::testing
