#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/cluster/cluster_clock.h"
#include "kron/cluster/cluster_ledger.h"
#include "kron/cluster/fake/direct_link.h"
#include "kron/cluster/grants.h"
#include "kron/cluster/job_terms.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/env/log.h"
#include "kron/scheduler/scheduler.h"
#include "mutant.h"

namespace kron::testing {

// A job of the cluster.
struct ClusterJob {
  jobs::JobDefinition definition;
  cluster::JobTerms terms;
};

// This machine's clock is wrong, and always by as much.
class SkewedClock : public Clock {
 public:
  SkewedClock(const FakeClock& clock, Nanoseconds skew) : clock_(clock), skew_(skew) {}
  WallTime wall() const override { return clock_.wall() + skew_; }
  Nanoseconds monotonic() const override { return clock_.monotonic(); }
  Nanoseconds boot_time() const override { return clock_.boot_time(); }
  const std::string& boot_id() const override { return clock_.boot_id(); }

 private:
  const FakeClock& clock_;
  Nanoseconds skew_;
};

// A run that was let go: what a host keeps of it in a file, and its helper of its lease.
struct SimulatedRun {
  cluster::Grant grant;
  ProcessIdentity process;
  Nanoseconds ends{0};   // boot time
  Nanoseconds lease{0};  // likewise; then its helper kills it
  bool is_over = false;  // it has exited, and that is to be told
};

// One krond of a cluster: the real scheduler, ledger and clock on a made-up Redis, and a runner that does with leases,
// ends and renewals what the real one does.
class SimulatedHost : public ProcessRunner {
 public:
  struct World {
    FakeClock& clock;
    FakeRedis& redis;
    Log& log;
    const cluster::Keys& keys;
    Mutant mutant = Mutant::none;
    std::function<Nanoseconds()> run_time;              // of the next run
    std::function<void(std::string violation)> accuse;  // of what must not be
    std::function<void(SimulatedHost&, Nanoseconds)> wait;
    std::function<void(const SimulatedRun&)> on_start;
  };
  SimulatedHost(World world, std::string name, Nanoseconds skew, cluster::Dialect dialect);

  // False: Redis is away; to be tried again.
  bool start(const std::vector<ClusterJob>& jobs);
  void die();  // kill -9
  bool reload(const std::vector<ClusterJob>& jobs);

  // What is to be done now: a tick, renewals, the reaper. When it wants its next turn.
  void turn();
  [[nodiscard]] Nanoseconds next_turn() const;
  // What goes on without the daemon.
  void enforce_leases();
  [[nodiscard]] std::optional<Nanoseconds> next_lease() const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_up() const { return scheduler_ != nullptr; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] cluster::testing::DirectLink& link() { return *link_; }
  [[nodiscard]] const std::map<std::string, SimulatedRun>& runs() const { return runs_; }
  FakeProcessRunner processes;
  std::optional<Nanoseconds> stopped_until = {};  // SIGSTOP
  std::map<Written::How, std::size_t> answers;

  // ProcessRunner
  Result<ProcessIdentity> start(const RunSpec& spec) override;
  Status open_gate(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override;
  void terminate(std::string_view run_id) override { processes.terminate(run_id); }
  void kill(std::string_view run_id) override;
  std::vector<RunExit> drain_exits() override;

 private:
  void set_terms(const std::vector<ClusterJob>& jobs);
  std::vector<ActiveExecution> active_of(std::string_view identity) const;
  void finish(const std::string& run_id, std::optional<int> code);
  void keep();
  void reap();
  void assert_runs();

  World world_;
  std::string name_;
  SkewedClock own_clock_;
  cluster::Dialect dialect_;
  std::map<std::string, SimulatedRun> runs_;  // outlive the daemon, as files do
  std::map<std::string, ProcessIdentity> held_;
  std::map<std::string, Nanoseconds> run_times_;

  // The daemon's.
  std::unique_ptr<cluster::ClusterClock> clock_;
  std::unique_ptr<cluster::testing::DirectLink> link_;
  cluster::Grants grants_;
  cluster::JobTermsTable terms_;
  std::unique_ptr<cluster::ClusterLedger> ledger_;
  std::unique_ptr<MistakenLedger> mistaken_;
  std::unique_ptr<Scheduler> scheduler_;
  Nanoseconds next_tick_{0};
  Nanoseconds next_look_{0};
  Nanoseconds next_keep_{0};
  Nanoseconds next_reap_{0};
};

}  // namespace kron::testing
