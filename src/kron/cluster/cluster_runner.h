#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kron/cluster/active_runs.h"
#include "kron/cluster/grants.h"
#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/process_runner.h"
#include "kron/state/record.h"

namespace kron::cluster {

// Runs of a host in a cluster: claimed first, spawned second, so that who loses a claim pays for no process.
//
// start() only remembers what is to run; open_gate() finds the grant that the ledger got for it, writes the claim file,
// and has the real runner start the process with that file as its lease. Ends are told to the scheduler at once, and to
// Redis by the output shipper, which repeats itself until it is answered. On the scheduler's thread, but for active_of.
class ClusterRunner : public ProcessRunner {
 public:
  struct Parts {
    ProcessRunner& processes;
    Grants& grants;
    ActiveRuns& runs;
    const Clock& clock;  // the cluster's: its wall() is Redis's
    const Clock& host;   // what kron-exec stamps with
    Log& log;
    std::function<std::string()> instance;  // KRON_HOST; asked when a run is let go
    std::function<void()> exits = {};       // called when drain_exits has something the real runner does not know of
  };
  // All of them outlive it.
  explicit ClusterRunner(Parts parts) : parts_(std::move(parts)) {}

  // Once, before anything is loaded: takes up the runs of an earlier daemon of this state directory. What is over is
  // told to Redis by the shipper, whatever has become of its job.
  Status recover();

  // The identity is a placeholder: there is no process before open_gate.
  Result<ProcessIdentity> start(const RunSpec& spec) override;
  Status open_gate(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override;
  std::optional<RunExit> earlier_run(std::string_view run_id) override;
  void terminate(std::string_view run_id) override;
  void kill(std::string_view run_id) override;
  std::vector<RunExit> drain_exits() override;

  // This host's runs of a job that the scheduler has not been told the end of, oldest first: for ClusterLedger::load.
  // From any thread.
  [[nodiscard]] std::vector<ActiveExecution> active_of(std::string_view job) const { return parts_.runs.of(job); }

 private:
  Status start_claimed(RunSpec spec, const Grant& grant);
  void take_up(Claims::Found found);
  void on_cluster_time(RunExit& exit, std::string_view start_time) const;
  Status fail_to_start(ActiveRun run, const Error& why);

  Parts parts_;
  std::map<std::string, RunSpec, std::less<>> held_;
  std::vector<RunExit> exits_;                                // that the real runner does not know of
  std::map<std::string, RunExit, std::less<>> ended_before_;  // found over by recover(), and not told yet
};

}  // namespace kron::cluster
