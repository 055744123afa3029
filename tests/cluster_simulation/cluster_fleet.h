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
// flushed, records that are deleted, a server that forgets everything, jobs that are paused, edited and triggered.
//
// After each moment: no run was executed twice, or before its time, or without being granted; no two runs hold one
// lock; no record has gone back; no period has a second outcome; nothing was handled while its job was paused; nothing
// is active for long that nobody runs. At the end: every period has an outcome, and nothing is left behind.
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
  bool edits = false;        // hosts read a new schedule at different times
  cluster::Dialect dialect = cluster::Dialect::seed;
  Mutant mutant = Mutant::none;
};

struct ClusterReport {
  std::size_t executions = 0;
  std::size_t outcomes = 0;
  std::size_t starts = 0;  // of daemons
  std::uint64_t commands = 0;
  std::map<Written::How, std::size_t> answers;
  std::string violation;  // empty: none
};

ClusterReport simulate_cluster(const ClusterPlan& plan);

}  // namespace kron::testing
