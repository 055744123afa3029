#include "kron/cluster/run_services.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "kron/cluster/cluster_runner.h"
#include "kron/cluster/link_thread.h"
#include "kron/cluster/rundata.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/env/fake/silent_log.h"
#include "kron/runner/fake/runner_fixture.h"

// Everything of a host that a run passes through, with its threads, on a Redis in memory.
namespace kron::cluster {
namespace {

class RunServicesTest : public runner::RunnerFixture {
 protected:
  RunServicesTest() {
    services_.emplace(runs_, link_, keys_, clock_, log_,
                      RunServices::Options{.ship = {.runs_directory = directory_.path() + "/runs",
                                                    .host = "vm",
                                                    .cadence = std::chrono::milliseconds(50)}});
    runner_of_cluster_.emplace(
        ClusterRunner::Parts{*runner_, grants_, runs_, clock_, clock_, log_, [] { return "vm"; }});
  }
  ~RunServicesTest() override { link_.stop(Nanoseconds(0)); }

  void let_go(const std::string& run_id, const std::string& script) {
    const std::string start = start_time_of(clock_.wall());
    (void)redis_.execute({"HSET", keys_.rundata(), run_id, running_blob(Dialect::seed, "vm", "job").with(start)});
    (void)redis_.execute({"ZADD", keys_.active(), start, run_id});
    (void)redis_.execute({"SET", keys_.lock(run_id), run_id, "PX", "2000"});
    ASSERT_TRUE(runner_of_cluster_->start(shell(run_id, script)));
    grants_.put({.run_id = run_id,
                 .job = "job",
                 .start_time = start,
                 .fence = 1,
                 .lock_key = keys_.lock(run_id),
                 .ttl = Seconds(2),
                 .sent = clock_.boot_time()});
    ASSERT_TRUE(runner_of_cluster_->open_gate(run_id));
  }
  std::size_t drain(std::size_t count) {
    std::size_t ended = 0;
    const Nanoseconds give_up = clock_.monotonic() + Seconds(60);
    while (ended < count && clock_.monotonic() < give_up) {
      pollfd event{runner_->descriptor(), POLLIN, 0};
      (void)::poll(&event, 1, 1000);
      for (const RunExit& exit : runner_of_cluster_->drain_exits()) {
        EXPECT_EQ(exit.code, 0) << exit.reason;
        ++ended;
      }
    }
    return ended;
  }
  RunData rundata(const std::string& run_id) {
    return parse_rundata(redis_.execute({"HGET", keys_.rundata(), run_id}).value.text).value_or(RunData{});
  }

  kron::testing::FakeRedis redis_{[this] { return clock_.wall(); }};
  kron::testing::SilentLog log_;
  Keys keys_{"{c}"};
  LinkThread link_{redis_.connection(), keys_, clock_, log_};
  Grants grants_;
  ActiveRuns runs_{Claims::open(directory_.path()).value()};
  std::optional<RunServices> services_;
  std::optional<ClusterRunner> runner_of_cluster_;
};

TEST_F(RunServicesTest, RunsStartAndEndAndEveryEndIsToldBeforeTheHostStops) {
  ASSERT_TRUE(link_.start());
  ASSERT_TRUE(services_->start());
  for (int i = 0; i < 20; ++i) let_go("r" + std::to_string(i), "echo one; echo " + std::to_string(i));
  let_go("long", "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.3; done");
  EXPECT_EQ(drain(21), 21U);
  EXPECT_TRUE(services_->stop(Seconds(30)));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/claims"));
  for (int i = 0; i < 20; ++i) {
    const RunData run = rundata("r" + std::to_string(i));
    EXPECT_EQ(run.status, RunStatus::success);
    EXPECT_EQ(run.output, "one\n" + std::to_string(i) + "\n");
  }
  // Its lock lasts two seconds, and it has outlived that.
  EXPECT_EQ(rundata("long").status, RunStatus::success);
  EXPECT_EQ(redis_.execute({"ZCARD", keys_.output("long")}).value.integer, 10);
  EXPECT_EQ(redis_.execute({"ZCARD", keys_.active()}).value.integer, 0);
}

TEST_F(RunServicesTest, WhileRedisIsAwayARunGoesOnAndIsToldWhenItIsBack) {
  ASSERT_TRUE(link_.start());
  ASSERT_TRUE(services_->start());
  let_go("r1", "echo before; sleep 0.3; echo after");
  redis_.refuse_connections(Error{Code::unreachable, "away"});
  EXPECT_EQ(drain(1), 1U);
  EXPECT_EQ(runs_.ended(), 1U);
  redis_.refuse_connections(std::nullopt);
  EXPECT_TRUE(services_->stop(Seconds(30)));
  EXPECT_EQ(rundata("r1").output, "before\nafter\n");
  EXPECT_EQ(redis_.execute({"ZCARD", keys_.output("r1")}).value.integer, 2);
}

}  // namespace
}  // namespace kron::cluster
