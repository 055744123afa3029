// What chance would take long to find: records that are lost and made anew, and runs of another program.
#include <gtest/gtest.h>
#include <set>

#include "kron/base/rfc3339.h"
#include "kron/cluster/cluster_record.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/silent_log.h"
#include "simulated_host.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

constexpr Instant kScenarioStart = instant_of(1'794'000'000);

class Scenario {
 public:
  explicit Scenario(Mutant mutant, cluster::Dialect dialect = cluster::Dialect::seed) {
    for (const char* name : {"a", "b"}) {
      hosts.push_back(std::make_unique<SimulatedHost>(
          SimulatedHost::World{.clock = clock,
                               .redis = redis,
                               .log = log,
                               .keys = keys,
                               .mutant = mutant,
                               .run_time = [] { return 10ms; },
                               .accuse = [](std::string what) { FAIL() << what; },
                               .wait = [this](SimulatedHost&, Nanoseconds time) { clock.advance(time); },
                               .on_start = [](const SimulatedRun&) {}},
          name, 0s, dialect));
    }
  }

  void add_job(const char* schedule, const char* deadline) {
    ClusterJob job;
    job.definition.job = make_job({.schedule = schedule, .deadline = deadline, .identity = "job"});
    job.definition.action = jobs::Command{"true"};
    job.terms = {.locked = true,
                 .lock_name = "job",
                 .ttl = 5s,
                 .deadline = job.definition.job.policy.deadline,
                 .read_at = kScenarioStart};
    jobs.push_back(job);
  }

  SimulatedHost& host(std::size_t number) { return *hosts[number]; }
  bool start(std::size_t number) { return host(number).start(jobs); }

  void run_until(WallTime time) {
    while (clock.wall() < time) {
      for (const auto& one : hosts) one->turn();
      clock.advance(20ms);
      for (const auto& one : hosts) one->processes.advance(20ms);
    }
  }
  void run_for(Nanoseconds time) { run_until(clock.wall() + time); }

  cluster::ClusterRecord record() {
    const RedisReply reply = redis.execute({"HGET", keys.state(), "job"});
    return cluster::parse_cluster_record(reply.value.text).value_or(cluster::ClusterRecord{});
  }

  // Executed by any host, in order.
  std::vector<std::string> executed() {
    std::vector<std::string> all;
    for (const auto& one : hosts) {
      all.insert(all.end(), one->processes.executed().begin(), one->processes.executed().end());
    }
    return all;
  }
  bool has_executed_twice() {
    const std::vector<std::string> all = executed();
    return std::set<std::string>(all.begin(), all.end()).size() != all.size();
  }

  // How often the stream tells of an outcome of this period.
  int outcomes_of(Instant period) {
    int count = 0;
    for (const RedisValue& entry : redis.execute({"XRANGE", keys.outcomes(), "-", "+"}).value.items) {
      const std::string& text = entry.items[1].items[1].text;
      if (text.find("\"periodId\":\"" + rfc3339(period)) == std::string::npos) continue;
      const bool is_end_of_run = text.find("\"outcome\":\"executed\"") != std::string::npos &&
                                 text.find("\"state\":\"ended\"") != std::string::npos;
      count += is_end_of_run ? 0 : 1;
    }
    return count;
  }

  FakeClock clock{kScenarioStart};
  FakeRedis redis{[this] { return clock.wall(); }};
  SilentLog log;
  cluster::Keys keys{"{cronken}"};
  std::vector<ClusterJob> jobs;
  std::vector<std::unique_ptr<SimulatedHost>> hosts;
};

// A host runs what is due and dies; Redis forgets all; in the same second another host makes the record anew, and a
// third reads it.
bool runs_again_after_all_was_forgotten(Mutant mutant) {
  Scenario world(mutant);
  world.add_job("*/10 * * * * *", "5s");
  EXPECT_TRUE(world.start(0));
  world.run_until(kScenarioStart + 20s + 100ms);
  EXPECT_EQ(world.executed().size(), 2U);
  world.host(0).die();
  (void)world.redis.execute({"FLUSHALL"});
  EXPECT_TRUE(world.start(1));
  EXPECT_TRUE(world.start(0));
  world.run_for(2s);
  return world.has_executed_twice();
}

TEST(LostRecords, WhatWasDueBeforeARecordWasMadeDoesNotRun) {
  EXPECT_FALSE(runs_again_after_all_was_forgotten(Mutant::none));
}

TEST(LostRecords, ARecordThatCountsAtOnceIsNoticed) {
  EXPECT_TRUE(runs_again_after_all_was_forgotten(Mutant::first_sight_at_once));
}

// One host is stopped and remembers a revision; the record is lost and made anew by another, which goes on until that
// revision comes again, or for a minute.
int outcomes_after_a_revision_came_again(Mutant mutant) {
  Scenario world(mutant);
  world.add_job("* * * * * *", "0s");
  EXPECT_TRUE(world.start(0));
  EXPECT_TRUE(world.start(1));
  world.run_for(10s);
  world.host(1).stopped_until = world.clock.boot_time() + 1h;
  const std::uint64_t remembered = world.record().revision;
  world.host(0).die();
  (void)world.redis.execute({"FLUSHALL"});
  EXPECT_TRUE(world.start(0));
  for (int i = 0; i < 3000 && world.record().revision != remembered; ++i) world.run_for(20ms);
  // It wakes when the second is over in which the other has run.
  world.host(0).stopped_until = world.clock.boot_time() + 1h;
  const Instant last = world.record().state.periods.last_handled.value_or(kScenarioStart);
  world.run_for(500ms);
  world.host(1).stopped_until.reset();
  world.run_for(400ms);
  return world.outcomes_of(last);
}

TEST(LostRecords, NoRevisionComesAgain) { EXPECT_EQ(outcomes_after_a_revision_came_again(Mutant::none), 1); }

// cronken has run the period, and its lock is free again.
std::optional<Instant> handled_after_a_run_of_cronken(Mutant mutant) {
  Scenario world(mutant, cluster::Dialect::cronken);
  world.add_job("*/10 * * * * *", "1s");
  EXPECT_TRUE(world.start(0));
  world.run_until(kScenarioStart + 9s + 900ms);
  const std::string run_id = "0123456789ab4def8123456789abcdef";
  (void)world.redis.execute(
      {"HSET", world.keys.rundata(), run_id,
       R"({"host":"c","job_name":"job","status":"success","start_time":"1794000010.001","retcode":0,"output":""})"});
  (void)world.redis.execute({"ZADD", world.keys.results("job", "success"), "1794000010.005", run_id});
  world.run_until(kScenarioStart + 11s);
  EXPECT_EQ(world.executed().size(), 0U);
  const cluster::ClusterRecord record = world.record();
  if (record.state.last_outcome != Outcome::executed) return std::nullopt;
  return record.state.periods.last_handled;
}

TEST(LostRecords, ARunOfCronkenIsThePeriodsOwn) {
  EXPECT_EQ(handled_after_a_run_of_cronken(Mutant::none), kScenarioStart + 10s);
}

TEST(LostRecords, ARunThatHasBeenAndIsTakenForARefusalIsNoticed) {
  EXPECT_NE(handled_after_a_run_of_cronken(Mutant::ran_is_refused), kScenarioStart + 10s);
}

}  // namespace
}  // namespace kron::testing
