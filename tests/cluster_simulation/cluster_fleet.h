#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kron/base/instant.h"
#include "kron/cluster/dialect.h"
#include "kron/ledger/ledger.h"
#include "mutant.h"

namespace kron::testing {

// Some minutes of several krond on one Redis, drawn from a seed: hosts whose clocks differ, which are stopped,
// killed and started again; requests and replies that are lost, and requests that are repeated later; scripts that are
// flushed, records that are deleted, a server that stands still, is a replica for a while, or forgets everything or its
// last writes, jobs that are paused, edited and triggered.
//
// After each moment: no run was executed twice, or before its time, or without being granted; no two runs hold one
// lock; no record has gone back; no period has a second outcome; nothing was handled while its job was paused; nothing
// is active for long that nobody runs. At the end: every period has an outcome, and nothing is left behind. Only a run
// whose claim was among the writes that the server has lost may be executed once more.
struct ClusterPlan {
  std::uint64_t seed = 1;
  int hosts = 3;
  int jobs = 8;
  Seconds length = std::chrono::minutes(5);
  double lost = 0.02;      // of commands: their request, and as many of their replies
  double repeated = 0.02;  // of commands: executed once more, later
  bool kills = true;
  bool stops = true;
  bool pauses = true;
  bool steps_clock = false;  // Redis's own clock jumps by up to 3 s
  bool deletes_records = false;
  bool forgets_all = false;  // FLUSHALL; hosts are neither killed nor stopped then
  // FLUSHALL, and every host that is not stopped dies at that moment, and is there again at once.
  bool empties = false;
  bool stalls = false;        // for seconds nothing is answered; then what was sent meanwhile is executed, or lost
  bool is_replica = false;    // for seconds nothing can be written
  bool loses_writes = false;  // the server is restarted without its last writes
  bool edits = false;         // hosts read a new schedule at different times
  cluster::Dialect dialect = cluster::Dialect::seed;
  Mutant mutant = Mutant::none;

  bool operator==(const ClusterPlan&) const = default;
};

struct ClusterReport {
  std::size_t executions = 0;
  std::size_t outcomes = 0;
  std::size_t starts = 0;  // of daemons
  std::uint64_t commands = 0;
  std::map<Written::How, std::size_t> answers;
  std::size_t lost_runs = 0;        // whose claims the server has lost
  std::size_t executed_again = 0;   // of those
  std::size_t losses_reported = 0;  // by all hosts
  std::string violation;            // empty: none
};

ClusterReport simulate_cluster(const ClusterPlan& plan);

}  // namespace kron::testing
