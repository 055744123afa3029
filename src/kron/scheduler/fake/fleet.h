#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kron/base/instant.h"
#include "kron/ledger/ledger.h"

namespace kron::testing {

// Hours of several daemons that share their jobs and one record of each, drawn from a seed: they come to the record in
// any order, late, or not at all; steps are refused and answers lost; daemons are killed and started again; operators
// ask for runs, of one daemon or of all, while the ledger is slow. No period may be executed twice by all of them
// together, and each must end with one outcome, or be reported as passed over; whoever asked is answered.
struct FleetPlan {
  std::uint64_t seed = 1;
  int hosts = 3;
  int jobs = 8;
  Seconds length = std::chrono::hours(2);
  int fault_in = 10;          // one of so many steps meets a fault; 0: none
  bool loses_writes = false;  // records go back to what they were a while ago: then a period may have two outcomes
  bool takes_all = false;     // the server compares no revisions, to see that it is noticed
};

struct FleetReport {
  std::size_t executions = 0;
  std::size_t outcomes = 0;
  std::size_t restarts = 0;
  std::map<Written::How, std::size_t> answers;
  std::size_t requests_answered = 0;
  std::string violation;  // empty: none
};

FleetReport simulate_fleet(const FleetPlan& plan);

}  // namespace kron::testing
