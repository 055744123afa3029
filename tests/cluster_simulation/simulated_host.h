#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/cluster/cluster_clock.h"
#include "kron/cluster/cluster_ledger.h"
#include "kron/cluster/cluster_runner.h"
#include "kron/cluster/fake/direct_link.h"
#include "kron/cluster/grants.h"
#include "kron/cluster/job_terms.h"
#include "kron/cluster/keep_alive.h"
#include "kron/cluster/output_shipper.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/env/log.h"
#include "kron/scheduler/scheduler.h"
#include "mutant.h"
#include "simulated_machine.h"

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

// One krond of a cluster: the real scheduler, ledger, clock, runner, keep-alive, shipper and reaper, with real claim
// files, on a made-up Redis and made-up processes. To its scheduler it is the runner, because it looks at what is let
// go.
class SimulatedHost : public ProcessRunner {
 public:
  struct World {
    FakeClock& clock;
    FakeRedis& redis;
    Log& log;
    const cluster::Keys& keys;
    std::string directory = {};  // of all hosts; each has one in it
    Mutant mutant = Mutant::none;
    std::function<Nanoseconds()> run_time;              // of the next run
    std::function<void(std::string violation)> accuse;  // of what must not be
    std::function<void(SimulatedHost&, Nanoseconds)> wait;
    std::function<void(const cluster::Grant&)> on_start = {};
  };
  SimulatedHost(World world, std::string name, Nanoseconds skew, cluster::Dialect dialect);

  // False: Redis is away; to be tried again.
  bool start(const std::vector<ClusterJob>& jobs);
  void die();  // kill -9
  bool reload(const std::vector<ClusterJob>& jobs);

  // What is to be done now: a tick, renewals, ends, the reaper. When it wants its next turn.
  void turn();
  [[nodiscard]] Nanoseconds next_turn() const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_up() const { return scheduler_ != nullptr; }
  [[nodiscard]] bool is_running() const { return is_up() && !stopped_until; }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] cluster::testing::DirectLink& link() { return *link_; }
  // Whether the daemon knows of this run as one whose end Redis does not know.
  [[nodiscard]] bool holds(const std::string& run_id) const { return runs_ && runs_->has(run_id); }
  // Locks of runs that were let go here, and whose commands run: run id and lock.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> locks_held() const;

  SimulatedMachine machine;
  std::optional<Nanoseconds> stopped_until = {};  // SIGSTOP
  std::map<Written::How, std::size_t> answers;
  std::size_t lost_writes_reported = 0;

  // ProcessRunner
  Result<ProcessIdentity> start(const RunSpec& spec) override;
  Status open_gate(std::string_view run_id) override;
  void abandon(std::string_view run_id) override;
  std::optional<RunExit> adopt(std::string_view run_id, const ProcessIdentity& process) override;
  void terminate(std::string_view run_id) override { runner_->terminate(run_id); }
  void kill(std::string_view run_id) override { runner_->kill(run_id); }
  std::vector<RunExit> drain_exits() override { return runner_->drain_exits(); }

 private:
  void set_terms(const std::vector<ClusterJob>& jobs);
  bool make_parts();
  bool start_scheduler(const std::vector<ClusterJob>& jobs);
  void ship();

  World world_;
  std::string name_;
  SkewedClock own_clock_;
  cluster::Dialect dialect_;
  std::map<std::string, std::string> locks_;  // of runs that were let go

  // The daemon's.
  std::unique_ptr<cluster::ClusterClock> clock_;
  std::unique_ptr<cluster::testing::DirectLink> link_;
  std::unique_ptr<cluster::Grants> grants_;
  cluster::JobTermsTable terms_;
  std::unique_ptr<cluster::ClusterLedger> ledger_;
  std::unique_ptr<MistakenLedger> mistaken_;
  std::unique_ptr<cluster::ActiveRuns> runs_;
  std::unique_ptr<cluster::ClusterRunner> runner_;
  std::unique_ptr<cluster::KeepAlive> keep_alive_;
  std::unique_ptr<cluster::OutputShipper> shipper_;
  std::unique_ptr<Scheduler> scheduler_;
  Nanoseconds next_tick_{0};
  Nanoseconds next_look_{0};
  Nanoseconds next_keep_{0};
  Nanoseconds next_ship_{0};
  Nanoseconds next_reap_{0};
};

}  // namespace kron::testing
