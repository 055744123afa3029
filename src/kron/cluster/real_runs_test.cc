#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>

#include "kron/cluster/cluster_runner.h"
#include "kron/cluster/fake/scripted_link.h"
#include "kron/cluster/keep_alive.h"
#include "kron/cluster/output_shipper.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/protocol.h"

// Real processes, by the real kron-exec, under a link whose answers the test chooses.
namespace kron::cluster {
namespace {

using std::chrono::milliseconds;

class RealRunsTest : public runner::RunnerFixture {
 protected:
  RealRunsTest() { start_host(); }

  void start_host() {
    shipper_.reset();
    keep_.reset();
    cluster_runner_.reset();
    link_.posted.clear();
    start_daemon();
    runs_.emplace(Claims::open(directory_.path()).value());
    cluster_runner_.emplace(
        ClusterRunner::Parts{*runner_, grants_, *runs_, clock_, clock_, log_, [] { return "vm#2"; }});
    keep_.emplace(*runs_, link_, Keys("{c}"), clock_, log_);
    shipper_.emplace(*runs_, link_, Keys("{c}"), clock_, log_,
                     OutputShipper::Options{.runs_directory = directory_.path() + "/runs", .host = "vm"});
    ASSERT_TRUE(cluster_runner_->recover());
  }

  void let_go(const std::string& run_id, const std::string& script, Seconds ttl) {
    ASSERT_TRUE(cluster_runner_->start(shell(run_id, script)));
    grants_.put({.run_id = run_id,
                 .job = "job",
                 .start_time = "1000.000000",
                 .fence = 17,
                 .lock_key = ttl > Seconds(0) ? "lock" : "",
                 .ttl = ttl,
                 .sent = clock_.boot_time()});
    ASSERT_TRUE(cluster_runner_->open_gate(run_id));
  }

  // One turn of the daemon: at most `wait` until something of the real runner happens.
  void turn(milliseconds wait) {
    pollfd event{runner_->descriptor(), POLLIN, 0};
    (void)::poll(&event, 1, static_cast<int>(wait.count()));
    for (RunExit& exit : cluster_runner_->drain_exits()) exits_.push_back(std::move(exit));
    keep_->tick();
    shipper_->tick();
    while (!link_.posted.empty()) {
      const std::string script = link_.posted.front().script();
      if (script == "keep" && !confirms_) break;
      if (script == "keep") {
        link_.answer("kept", {ScriptedLink::list_value({}), ScriptedLink::list_value(lost_)});
      } else if (script == "push") {
        link_.answer("ok", {ScriptedLink::text_value("1")});
      } else {
        ends_.push_back(link_.answer("ended").command);
      }
    }
  }
  RunExit end_of_run() {
    const Nanoseconds give_up = clock_.monotonic() + Seconds(60);
    while ((exits_.empty() || runs_->size() > 0) && clock_.monotonic() < give_up) turn(milliseconds(50));
    EXPECT_EQ(exits_.size(), 1U);
    EXPECT_EQ(ends_.size(), 1U);
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/claims"));
    return exits_.empty() ? RunExit{} : exits_.front();
  }
  bool end_says(std::string_view text) {
    for (const std::string& word : ends_.at(0)) {
      if (word.find(text) != std::string::npos) return true;
    }
    return false;
  }

  kron::testing::CapturingLog log_;
  Grants grants_;
  ScriptedLink link_{clock_};
  std::optional<ActiveRuns> runs_;
  std::optional<ClusterRunner> cluster_runner_;
  std::optional<KeepAlive> keep_;
  std::optional<OutputShipper> shipper_;
  std::vector<RunExit> exits_;
  std::vector<RedisCommand> ends_;
  bool confirms_ = true;
  std::vector<std::string> lost_;
};

TEST_F(RealRunsTest, ARunKnowsItsTokenAndItsHostAndItsEndIsTold) {
  let_go("r1", "echo $KRON_FENCING_TOKEN $KRON_HOST; exit 3", Seconds(10));
  EXPECT_EQ(end_of_run().code, 3);
  EXPECT_EQ(ends_.at(0).back(), "17 vm#2");
  EXPECT_TRUE(end_says(R"("retcode":3,"output":"17 vm#2\n")"));
}

TEST_F(RealRunsTest, ALockThatIsRenewedKeepsTheRunAliveBeyondItsTtl) {
  // Long enough that a busy machine still renews it in time.
  let_go("r1", "sleep 6; exit 5", Seconds(5));
  EXPECT_EQ(end_of_run().code, 5);
}

TEST_F(RealRunsTest, ALockThatIsNotRenewedEndsTheRunBeforeItsTtl) {
  confirms_ = false;
  const Nanoseconds sent = clock_.boot_time();
  let_go("r1", "sleep 1000", Seconds(1));
  while (exits_.empty() && clock_.boot_time() < sent + Seconds(60)) turn(milliseconds(1000));
  const Nanoseconds took = clock_.boot_time() - sent;
  confirms_ = true;
  const RunExit exit = end_of_run();
  EXPECT_EQ(exit.reason, runner::kLeaseOver);
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_GE(took, milliseconds(900));
  EXPECT_TRUE(end_says(R"("status":"fail","retcode":-9)"));
}

TEST_F(RealRunsTest, ALockThatIsLostEndsTheRunAtOnce) {
  lost_ = {"r1"};
  const Nanoseconds sent = clock_.boot_time();
  let_go("r1", "sleep 1000", Seconds(30));
  // The next renewal would be due in ten seconds.
  runs_->with("r1", [&](ActiveRun& run) { run.claim.grant.sent = Nanoseconds(0); });
  EXPECT_EQ(end_of_run().reason, runner::kLeaseOver);
  EXPECT_LT(clock_.boot_time() - sent, Seconds(20));
}

TEST_F(RealRunsTest, ARunWithoutALockGoesOnWithoutConfirmation) {
  confirms_ = false;
  let_go("r1", "sleep 2; exit 6", Seconds(0));
  const Nanoseconds give_up = clock_.monotonic() + Seconds(60);
  while (exits_.empty() && clock_.monotonic() < give_up) turn(milliseconds(100));
  EXPECT_EQ(exits_.at(0).code, 6);
}

TEST_F(RealRunsTest, AfterARestartTheRunIsAdoptedAndItsOutputGoesOn) {
  const std::string told = make_fifo("told");
  const std::string go = make_fifo("go");
  let_go("r1", "echo before; echo ready > " + told + "; read line < " + go + "; echo after; exit 8", Seconds(30));
  ASSERT_EQ(read_fifo(told), "ready\n");
  runs_->with("r1", [&](ActiveRun& run) {
    run.claim.lines_shipped = 1;
    run.claim.bytes_shipped = 7;
    EXPECT_TRUE(run.file.write(run.claim));
  });
  start_host();
  ASSERT_EQ(cluster_runner_->active_of("job").size(), 1U);
  EXPECT_EQ(cluster_runner_->adopt("r1", {}), std::nullopt);
  write_fifo(go, "\n");
  EXPECT_EQ(end_of_run().code, 8);
  EXPECT_EQ(ends_.at(0).back(), "after");
  EXPECT_TRUE(end_says(R"("output":"before\nafter\n")"));
}

TEST_F(RealRunsTest, TerminateReachesTheWholeGroup) {
  const std::string told = make_fifo("told");
  let_go(
      "r1",
      "(trap 'echo child > " + told + "; exit 0' TERM; echo ready > " + told + "; while :; do sleep 0.1; done) & wait",
      Seconds(30));
  ASSERT_EQ(read_fifo(told), "ready\n");
  cluster_runner_->terminate("r1");
  EXPECT_EQ(read_fifo(told), "child\n");
  EXPECT_EQ(end_of_run().signal, SIGTERM);
}

}  // namespace
}  // namespace kron::cluster
