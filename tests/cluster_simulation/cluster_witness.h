#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster_fleet.h"
#include "simulated_host.h"

namespace kron::testing {

// Looks at a simulated cluster, and says what is wrong with it. What may be is in cluster_fleet.h.
class ClusterWitness {
 public:
  // All of it outlives the witness.
  struct Seen {
    const ClusterPlan& plan;
    const FakeClock& clock;
    FakeRedis& redis;
    const cluster::Keys& keys;
    const std::vector<ClusterJob>& jobs;
    const std::vector<std::unique_ptr<SimulatedHost>>& hosts;
    const std::string& directory;               // of the hosts
    const Nanoseconds& redis_ahead;             // of `clock`
    const std::optional<Nanoseconds>& stepped;  // when Redis's clock was last moved
    const std::optional<std::string>& paused;   // a job
    Seconds calm{0};                            // at the end nothing went wrong for so long
  };
  explicit ClusterWitness(Seen seen) : seen_(seen) {}

  // The first is what is reported.
  void accuse(std::string violation);
  [[nodiscard]] bool has_accused() const { return !report_.violation.empty(); }

  // When they happen.
  void check_start(const cluster::Grant& grant);
  void check_executions(SimulatedHost& host);
  void check_outcomes();
  // After each moment.
  void look();

  // Redis has lost all, or a record; or it is made to lose its last writes now.
  void all_is_forgotten();
  void record_is_deleted() { is_lossy_ = true; }
  void lose_writes(const std::function<void()>& restart);

  // At the end. What it has counted, and its accusation.
  ClusterReport conclude();

 private:
  using Key = std::pair<std::string, std::string>;  // whose period, and which

  RedisValue ask(const RedisCommand& command) { return seen_.redis.execute(command).value; }
  void check_holders();
  void check_records();
  void check_orphans();
  void take_outcome(const std::string& text);
  [[nodiscard]] std::optional<Key> outcome_key(const std::string& text) const;
  [[nodiscard]] const cluster::JobTerms& terms_of(const std::string& job) const;
  std::map<std::string, std::string> last_entries();
  void expect_every_period();
  void expect_nothing_left();

  Seen seen_;
  ClusterReport report_;
  std::set<std::string> executed_;
  std::map<std::string, std::string> of_runs_;  // job and period
  std::map<std::string, std::string> records_;
  std::map<Key, std::string> outcomes_;
  std::vector<std::array<std::string, 3>> passed_over_;
  std::map<std::string, Nanoseconds> orphans_;
  std::string last_entry_ = "0-0";
  bool is_lossy_ = false;            // records were lost: they may go back, for a while
  std::set<std::string> lost_runs_;  // whose claims were among lost writes
  std::set<Key> lost_outcomes_;
  std::optional<Nanoseconds> lost_writes_at_;
};

}  // namespace kron::testing
