#include "kron/cluster/cluster_runner.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/testing/temporary_directory.h"

namespace kron::cluster {
namespace {

using kron::testing::Behaviour;
using kron::testing::CapturingLog;
using kron::testing::FakeClock;
using kron::testing::FakeProcessRunner;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// What it is asked to start, as it was asked.
class SpyRunner : public FakeProcessRunner {
 public:
  Result<ProcessIdentity> start(const RunSpec& spec) override {
    specs.push_back(spec);
    if (on_start) on_start();
    return FakeProcessRunner::start(spec);
  }
  Status open_gate(std::string_view run_id) override {
    if (on_gate) on_gate();
    return FakeProcessRunner::open_gate(run_id);
  }
  std::vector<RunSpec> specs;
  std::function<void()> on_start;
  std::function<void()> on_gate;
};

class ClusterRunnerTest : public ::testing::Test {
 protected:
  ClusterRunnerTest() {
    cluster_.advance(Seconds(5));
    start_daemon();
  }

  void start_daemon() {
    runner_.reset();
    runs_ = std::make_unique<ActiveRuns>(Claims::open(directory_.path()).value());
    runner_ = std::make_unique<ClusterRunner>(ClusterRunner::Parts{processes_, grants_, *runs_, cluster_, host_, log_,
                                                                   [] { return "vm#2"; }, [this] { ++woken_; }});
    EXPECT_TRUE(runner_->recover());
  }

  static RunSpec spec(const std::string& run_id) {
    return {.run_id = run_id, .command = {"true"}, .environment = {{"A", "1"}, {"KRON_FENCING_TOKEN", "forged"}}};
  }
  Grant grant(const std::string& run_id) {
    return {.run_id = run_id,
            .job = "nightly",
            .period = instant_of(990),
            .chosen = instant_of(1000),
            .start_time = "1000.250000",
            .fence = 17,
            .lock_key = "{c}:locks:x",
            .ttl = Seconds(10),
            .sent = host_.boot_time()};
  }
  // As the scheduler does.
  Status run(const std::string& run_id, std::optional<Grant> granted) {
    EXPECT_TRUE(runner_->start(spec(run_id)));
    if (granted) grants_.put(*std::move(granted));
    return runner_->open_gate(run_id);
  }
  std::vector<std::string> claim_files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path() + "/claims")) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
  Claim claim_in_file(const std::string& run_id) {
    const std::vector<Claims::Found> all = Claims::open(directory_.path())->read_all().value();
    for (const Claims::Found& found : all) {
      if (found.run_id == run_id) return found.claim;
    }
    return {};
  }
  std::optional<RunExit> exit_of(const std::string& run_id) {
    std::optional<RunExit> exit;
    runs_->with(run_id, [&](const ActiveRun& run) { exit = run.exit; });
    return exit;
  }

  kron::testing::TemporaryDirectory directory_;
  FakeClock host_{instant_of(995)};
  FakeClock cluster_{instant_of(995)};
  SpyRunner processes_;
  CapturingLog log_;
  Grants grants_;
  int woken_ = 0;
  std::unique_ptr<ActiveRuns> runs_;
  std::unique_ptr<ClusterRunner> runner_;
};

TEST_F(ClusterRunnerTest, WhoLosesAClaimPaysForNoProcessAndNoFile) {
  const Result<ProcessIdentity> placeholder = runner_->start(spec("r1"));
  ASSERT_TRUE(placeholder);
  EXPECT_NE(placeholder->pid, 0) << "that would be a task";
  EXPECT_EQ(runner_->start(spec("r1")).error().code, Code::conflict);
  runner_->abandon("r1");
  EXPECT_THAT(processes_.specs, IsEmpty());
  EXPECT_THAT(claim_files(), IsEmpty());
  EXPECT_EQ(runner_->open_gate("r1").error().code, Code::not_found);
  EXPECT_THAT(runner_->drain_exits(), IsEmpty());
}

TEST_F(ClusterRunnerTest, AGrantedRunHasItsFileBeforeItsProcessAndItsPidBeforeItsGate) {
  bool was_there = false;
  pid_t pid_at_gate = 0;
  processes_.on_start = [&] { was_there = claim_in_file("r1").grant.job == "nightly"; };
  processes_.on_gate = [&] { pid_at_gate = claim_in_file("r1").process.pid; };
  host_.advance(Seconds(100));
  ASSERT_TRUE(run("r1", grant("r1")));
  EXPECT_TRUE(was_there);
  EXPECT_GT(pid_at_gate, 0);
  EXPECT_THAT(processes_.executed(), ElementsAre("r1"));
  const Claim claim = claim_in_file("r1");
  EXPECT_EQ(claim.grant.fence, 17U);
  EXPECT_EQ(claim.process.pid, pid_at_gate);
  ASSERT_EQ(processes_.specs.size(), 1U);
  EXPECT_THAT(processes_.specs[0].environment,
              ElementsAre(Pair("A", "1"), Pair("KRON_FENCING_TOKEN", "17"), Pair("KRON_HOST", "vm#2")));
  ASSERT_TRUE(processes_.specs[0].lease);
  std::int64_t deadline = 0;
  ASSERT_EQ(::pread(*processes_.specs[0].lease, &deadline, sizeof deadline, 0), ssize_t{sizeof deadline});
  EXPECT_EQ(Nanoseconds(deadline), Seconds(109)) << "from when the claim was sent";
}

TEST_F(ClusterRunnerTest, ARunWithoutALockHasNoLease) {
  Grant free = grant("r1");
  free.lock_key.clear();
  ASSERT_TRUE(run("r1", free));
  EXPECT_EQ(processes_.specs.at(0).lease, std::nullopt);
  EXPECT_THAT(claim_files(), ElementsAre("r1"));
}

TEST_F(ClusterRunnerTest, AnEndIsToldAtOnceOnTheClustersClockAndIsLeftToTheShipper) {
  processes_.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(3), .exit_code = 4}; });
  ASSERT_TRUE(run("r1", grant("r1")));
  EXPECT_EQ(runner_->active_of("nightly").size(), 1U);
  processes_.advance(Seconds(3));
  const std::vector<RunExit> exits = runner_->drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].code, 4);
  EXPECT_EQ(exit_of("r1"), exits[0]);
  EXPECT_THAT(runner_->active_of("nightly"), IsEmpty());
  EXPECT_THAT(claim_files(), ElementsAre("r1")) << "until Redis has answered";
  EXPECT_EQ(runs_->ended(), 1U);
  runs_->remove("r1");
  EXPECT_THAT(claim_files(), IsEmpty());
  EXPECT_TRUE(runs_->wait_for_ends(Nanoseconds(0)));
}

TEST_F(ClusterRunnerTest, ARunIsNotStartedTwice) {
  ASSERT_TRUE(run("r1", grant("r1")));
  EXPECT_EQ(runner_->start(spec("r1")).error().code, Code::conflict);
}

TEST_F(ClusterRunnerTest, WithoutAGrantNothingRuns) {
  EXPECT_FALSE(run("r1", std::nullopt));
  EXPECT_THAT(processes_.specs, IsEmpty());
  EXPECT_THAT(claim_files(), IsEmpty());
  EXPECT_EQ(woken_, 1);
  const std::vector<RunExit> exits = runner_->drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_TRUE(exits[0].never_ran);
  EXPECT_THAT(runner_->drain_exits(), IsEmpty());
}

TEST_F(ClusterRunnerTest, AProcessThatCannotBeStartedEndsItsClaimAsFailed) {
  processes_.fail_next_start({Code::io, "no more processes"});
  EXPECT_FALSE(run("r1", grant("r1")));
  const std::vector<RunExit> exits = runner_->drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].reason, "start failed: no more processes");
  EXPECT_EQ(exits[0].code, std::nullopt);
  EXPECT_EQ(exit_of("r1"), exits[0]);
  EXPECT_EQ(woken_, 1);
  EXPECT_THAT(claim_files(), ElementsAre("r1"));
}

TEST_F(ClusterRunnerTest, AFileThatCannotBeWrittenEndsTheClaimAsFailed) {
  std::ofstream(directory_.path() + "/claims/r1") << "somebody's lease";
  EXPECT_FALSE(run("r1", grant("r1")));
  EXPECT_THAT(processes_.specs, IsEmpty());
  EXPECT_EQ(runner_->drain_exits().size(), 1U);
  EXPECT_TRUE(exit_of("r1"));
}

TEST_F(ClusterRunnerTest, AGateThatDoesNotOpenGivesTheExitOfTheRealRunner) {
  ASSERT_TRUE(runner_->start(spec("r1")));
  grants_.put(grant("r1"));
  processes_.fail_next_gate();
  EXPECT_FALSE(runner_->open_gate("r1"));
  EXPECT_EQ(runner_->drain_exits().size(), 1U);
  EXPECT_TRUE(exit_of("r1"));
}

TEST_F(ClusterRunnerTest, AfterARestartWhatRunsGoesOn) {
  processes_.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60), .exit_code = 7}; });
  ASSERT_TRUE(run("r1", grant("r1")));
  processes_.daemon_dies();
  start_daemon();
  const std::vector<ActiveExecution> active = runner_->active_of("nightly");
  ASSERT_EQ(active.size(), 1U);
  EXPECT_EQ(active[0].run_id, "r1");
  EXPECT_EQ(active[0].period, instant_of(990));
  EXPECT_EQ(active[0].chosen, instant_of(1000));
  EXPECT_EQ(active[0].started_at, instant_of(1000));
  EXPECT_FALSE(active[0].is_task());
  EXPECT_THAT(runner_->active_of("another"), IsEmpty());
  EXPECT_EQ(runner_->adopt("r1", {-1, 0, ""}), std::nullopt);
  EXPECT_EQ(runner_->adopt("r1", {-1, 0, ""}), std::nullopt) << "a reload asks again";
  processes_.advance(Seconds(60));
  EXPECT_EQ(runner_->drain_exits().at(0).code, 7);
  EXPECT_EQ(exit_of("r1")->code, 7);
}

TEST_F(ClusterRunnerTest, AfterARestartAnEndThatNobodySawIsToldByItsRecord) {
  processes_.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(3), .exit_code = 5}; });
  ASSERT_TRUE(run("r1", grant("r1")));
  processes_.daemon_dies();
  processes_.advance(Seconds(3));
  start_daemon();
  EXPECT_EQ(exit_of("r1")->code, 5) << "Redis is told, whatever has become of the job";
  EXPECT_EQ(runner_->active_of("nightly").size(), 1U) << "so that the scheduler hears of it";
  EXPECT_EQ(runner_->adopt("r1", {-1, 0, ""})->code, 5);
  EXPECT_THAT(runner_->active_of("nightly"), IsEmpty());
  EXPECT_THAT(runner_->drain_exits(), IsEmpty());
}

TEST_F(ClusterRunnerTest, AfterTheMachineWentDownTheCodeIsUnknown) {
  processes_.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60)}; });
  ASSERT_TRUE(run("r1", grant("r1")));
  processes_.machine_dies();
  start_daemon();
  ASSERT_TRUE(exit_of("r1"));
  EXPECT_EQ(exit_of("r1")->code, std::nullopt);
}

TEST_F(ClusterRunnerTest, AClaimWithoutAPidNeverRan) {
  processes_.on_start = [this] {
    // The daemon dies here: its file is there, and says nothing of a process.
    std::filesystem::copy(directory_.path() + "/claims/r1", directory_.path() + "/claims/r2.copy");
  };
  ASSERT_TRUE(run("r1", grant("r1")));
  runs_->remove("r1");
  Claim claim = claim_in_file("r1");
  claim.grant = grant("r2");
  ASSERT_TRUE(Claims::open(directory_.path())->create(claim, Seconds(1)));
  std::filesystem::remove(directory_.path() + "/claims/r2.copy");
  start_daemon();
  ASSERT_TRUE(exit_of("r2"));
  EXPECT_TRUE(exit_of("r2")->never_ran);
  EXPECT_TRUE(runner_->adopt("r2", {-1, 0, ""})->never_ran);
}

TEST_F(ClusterRunnerTest, ADamagedClaimIsSaidAndPutAway) {
  std::ofstream(directory_.path() + "/claims/r1") << "12345678{\"job\":";
  start_daemon();
  EXPECT_EQ(log_.lines_of("claim_damaged").size(), 1U);
  EXPECT_THAT(claim_files(), IsEmpty());
  EXPECT_EQ(runs_->size(), 0U);
}

TEST_F(ClusterRunnerTest, ARunThatNobodyKnowsIsOver) {
  const auto exit = runner_->adopt("r9", {-1, 0, ""});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, std::nullopt);
}

TEST_F(ClusterRunnerTest, SignalsReachTheRealRun) {
  processes_.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60)}; });
  ASSERT_TRUE(run("r1", grant("r1")));
  ASSERT_TRUE(run("r2", grant("r2")));
  runner_->terminate("r1");
  runner_->kill("r2");
  runner_->kill("never there");
  EXPECT_EQ(runner_->drain_exits().size(), 2U);
}

}  // namespace
}  // namespace kron::cluster
