#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/cluster/cluster_record.h"
#include "kron/cluster/keys.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/silent_log.h"
#include "kron/testing/temporary_directory.h"
#include "simulated_host.h"

namespace kron::testing {

inline constexpr Instant kScenarioStart = instant_of(1'794'000'000);

// Two hosts, one job, and a Redis that loses nothing but what it is told to: for what chance would take long to find.
class Scenario {
 public:
  Scenario(Mutant mutant, const char* schedule, const char* deadline,
           cluster::Dialect dialect = cluster::Dialect::seed);

  SimulatedHost& host(std::size_t number) { return *hosts_[number]; }
  void start(std::size_t number);
  void stop(std::size_t number) { host(number).stopped_until = clock.boot_time() + std::chrono::hours(1); }
  void wake(std::size_t number) { host(number).stopped_until = clock.boot_time(); }
  void forget_all() { (void)ask({"FLUSHALL"}); }
  // Redis forgets all, and with it this host, which dies.
  void forget_all_with(std::size_t number);

  void run_until(WallTime time);
  void run_for(Nanoseconds time) { run_until(clock.wall() + time); }
  RedisValue ask(const RedisCommand& command) { return redis.execute(command).value; }

  cluster::ClusterRecord record();
  // Runs that were executed, by any host; a run that was executed twice is there twice.
  std::vector<std::string> executed();
  // `what_ran_again` when a run was executed twice, else the trouble.
  std::string found(const char* what_ran_again);
  // How often the stream tells of an outcome of this period.
  int outcomes_of(Instant period);
  // What went wrong in the scenario itself.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  FakeClock clock{kScenarioStart};
  FakeRedis redis{[this] { return clock.wall(); }};
  cluster::Keys keys{"{cronken}"};

 private:
  void wait(SimulatedHost& who, Nanoseconds time);

  SilentLog log_;
  TemporaryDirectory directory_{memory_directory()};
  std::vector<ClusterJob> jobs_;
  std::vector<std::unique_ptr<SimulatedHost>> hosts_;
  std::string trouble_;
};

// What each finds wrong; empty: nothing.

// A host runs what is due and dies; Redis forgets all; in the same second another host makes the record anew, and a
// third reads it.
std::string after_all_was_forgotten(Mutant mutant);

// One host is stopped right after it has read the record; another runs what is due and dies; Redis forgets all; the
// record is made anew, and the first host goes on.
std::string after_a_record_was_made_anew(Mutant mutant);

// The same, but who has run what is due lives, and puts the record back.
std::string after_a_record_was_put_back(Mutant mutant);

// One host is stopped and remembers a revision; the record is lost and made anew by another, which goes on until that
// revision comes again, or for a minute.
std::string after_a_revision_came_again(Mutant mutant);

// One host runs what is due; Redis forgets all; another, which has seen fewer tokens, notices that first. `more`: so
// many were granted to other jobs, and the other has not heard of them either.
std::string after_one_noticed_that_knew_less(Mutant mutant, std::uint64_t more);

// cronken has run the period, and its lock is free again.
std::string after_a_run_of_cronken(Mutant mutant);

}  // namespace kron::testing
