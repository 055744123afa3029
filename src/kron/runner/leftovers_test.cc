#include "kron/runner/leftovers.h"

#include <csignal>
#include <sys/wait.h>

#include "kron/runner/cgroups.h"
#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

// What kron-exec leaves behind when it is killed under its command.
class LeftoversTest : public RunnerFixture {
 protected:
  // A run whose script writes a PID into the FIFO `told`, which $TOLD names.
  RunSpec telling(const std::string& run_id, const std::string& script) {
    RunSpec spec = shell(run_id, script);
    spec.environment = {{"TOLD", told_}, {"KRON_RUN_ID", run_id}};
    return spec;
  }
  Descriptor told_process() { return Descriptor(open_pidfd(std::stoi(read_fifo(told_)))); }

  static bool is_gone(const Descriptor& process) { return !process || has_ended(process.get()); }
  static bool goes(const Descriptor& process) {
    pollfd event{process.get(), POLLIN, 0};
    return !process || ::poll(&event, 1, kPatience) == 1;
  }

  std::string told_ = make_fifo("told");
};

TEST_F(LeftoversTest, AKilledHelperTakesWhatItsCommandStartedAlong) {
  const ProcessIdentity helper = start_and_open(telling("r1", "sleep 1000 & echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  const RunExit exit = wait_for("r1");
  EXPECT_TRUE(is_gone(child)) << "the end was told while it still ran";
  EXPECT_EQ(exit.code, std::nullopt);
  EXPECT_EQ(exit.reason,
            "kron-exec was ended by signal 9 before it could record the end; what it left running was ended");
  EXPECT_EQ(runner_->alive(), 0U);
}

TEST_F(LeftoversTest, SessionsOfTheirOwnDoNotHideThem) {
  const ProcessIdentity helper =
      start_and_open(telling("r1", "setsid sh -c 'echo $$ > $TOLD; exec sleep 1000' & wait"));
  const Descriptor child = told_process();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_TRUE(is_gone(child));
}

TEST_F(LeftoversTest, AnEmptyEnvironmentDoesNotHideThem) {
  const ProcessIdentity helper = start_and_open(telling("r1", "env -i sleep 1000 & echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_TRUE(is_gone(child));
}

TEST_F(LeftoversTest, ProcessesThatIgnoreSignalsAndForkGoToo) {
  const ProcessIdentity helper = start_and_open(telling(
      "r1",
      "trap '' TERM HUP INT; for i in 1 2 3 4 5; do (while :; do sleep 0.01; done) & done; echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_TRUE(is_gone(child));
  EXPECT_EQ(end_leftovers({"r1", helper.pid, runner_->files().read_started("r1"), false}).count, 0U);
}

TEST_F(LeftoversTest, OtherRunsAreLeftAlone) {
  start_and_open(telling("other", "sleep 1000 & echo $! > $TOLD; wait"));
  const Descriptor others = told_process();
  const ProcessIdentity helper = start_and_open(telling("r1", "sleep 1000 & echo $! > $TOLD; wait"));
  told_process();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_FALSE(is_gone(others));
  runner_->kill("other");
  EXPECT_EQ(wait_for("other").code, 128 + SIGKILL);
}

// Run ids follow from job and period: two kronds of a machine that have the same job have runs of the same id.
TEST_F(LeftoversTest, ARunOfTheSameIdOfAnotherDaemonIsLeftAlone) {
  const TemporaryDirectory elsewhere;
  Result<std::unique_ptr<RealProcessRunner>> other =
      RealProcessRunner::create({.helper = KRON_EXEC, .state_directory = elsewhere.path()}, clock_);
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->start(telling("r1", "sleep 1000 & echo $! > $TOLD; wait")));
  ASSERT_TRUE((*other)->open_gate("r1"));
  const Descriptor others = told_process();
  const ProcessIdentity helper =
      start_and_open(telling("r1", "setsid sh -c 'echo $$ > $TOLD; exec sleep 1000' & wait"));
  const Descriptor child = told_process();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_TRUE(is_gone(child));
  EXPECT_FALSE(is_gone(others));
  (*other)->kill("r1");
  ASSERT_TRUE(goes(others));
}

TEST_F(LeftoversTest, ACommandThatEndsByItselfLeavesItsDaemonsAlone) {
  const RunExit exit = run(telling("r1", "sleep 1000 > /dev/null 2>&1 & echo $! > $TOLD"));
  EXPECT_EQ(exit.code, 0);
  const Descriptor daemon = told_process();
  EXPECT_FALSE(is_gone(daemon));
  ASSERT_TRUE(signal_pidfd(daemon.get(), SIGKILL));
}

TEST_F(LeftoversTest, AHelperThatCannotRecordTheEndHasSeenItAllTheSame) {
  // A directory where the record should go.
  const RunExit exit = run(telling(
      "r1", "mkdir -p " + directory_.path() + "/runs/r1/exit/x; sleep 1000 > /dev/null 2>&1 & echo $! > $TOLD"));
  EXPECT_EQ(exit.code, std::nullopt);
  const Descriptor daemon = told_process();
  EXPECT_FALSE(is_gone(daemon));
  ASSERT_TRUE(signal_pidfd(daemon.get(), SIGKILL));
}

TEST_F(LeftoversTest, TheNextDaemonEndsWhatWasLeftWhileThereWasNone) {
  const ProcessIdentity helper = start_and_open(telling("r1", "sleep 1000 & echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  const Descriptor helper_process(open_pidfd(helper.pid));
  runner_.reset();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  ASSERT_TRUE(goes(helper_process));
  ASSERT_EQ(::waitpid(helper.pid, nullptr, 0), helper.pid);
  start_daemon();
  const RunExit exit = adopt_ended("r1", helper);
  EXPECT_TRUE(is_gone(child));
  EXPECT_EQ(exit.reason,
            "kron-exec ended while no daemon was there, and left no record; what it left running was ended");
}

// Where the machine lets us make cgroups, as root without systemd does.
class LeftoversInCgroupTest : public LeftoversTest {
 protected:
  void SetUp() override {
    if (own_.empty()) GTEST_SKIP() << "no cgroup v2 that we may divide";
    start_daemon({.cgroup = own_});
  }

  std::string cgroup_of(const std::string& run_id) const {
    const std::optional<Session> session = runner_->files().read_started(run_id);
    return session ? session->cgroup : "";
  }

  // Nothing tells that it is the run's but its cgroup.
  std::string hidden(const std::string& command) const {
    return "env -i TOLD=$TOLD setsid --fork sh -c 'echo $$ > $TOLD; exec env -i " + command + "'";
  }

  std::string own_ = find_own_cgroup();
};

TEST_F(LeftoversInCgroupTest, NothingThatAProcessChangesAboutItselfHidesIt) {
  const ProcessIdentity helper = start_and_open(telling("r1", hidden("sleep 1000") + "; sleep 1000"));
  const Descriptor child = told_process();
  const std::string cgroup = cgroup_of("r1");
  EXPECT_EQ(cgroup, own_ + "/kron-r1-" + std::to_string(helper.pid));
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  const RunExit exit = wait_for("r1");
  EXPECT_TRUE(is_gone(child));
  EXPECT_EQ(exit.reason,
            "kron-exec was ended by signal 9 before it could record the end; what it left running was ended");
  EXPECT_FALSE(std::filesystem::exists(cgroup));
}

TEST_F(LeftoversInCgroupTest, ManyThatForkGoTooAndSoDoSubCgroups) {
  const ProcessIdentity helper = start_and_open(
      telling("r1", "sub=" + own_ + "/kron-r1-$PPID/sub; mkdir $sub; " +
                        "(echo 0 > $sub/cgroup.procs; while :; do sleep 0.01; done) & "
                        "for i in 1 2 3 4 5; do (while :; do sleep 0.01; done) & done; echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  const std::string cgroup = cgroup_of("r1");
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_TRUE(is_gone(child));
  EXPECT_NE(kron::testing::read_file(cgroup + "/cgroup.events").find("populated 0"), std::string::npos);
  EXPECT_EQ(::rmdir((cgroup + "/sub").c_str()), 0);
  EXPECT_EQ(::rmdir(cgroup.c_str()), 0);
}

TEST_F(LeftoversInCgroupTest, TheNextDaemonFindsTheCgroup) {
  const ProcessIdentity helper = start_and_open(telling("r1", hidden("sleep 1000") + "; sleep 1000"));
  const Descriptor child = told_process();
  const Descriptor helper_process(open_pidfd(helper.pid));
  runner_.reset();
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  ASSERT_TRUE(goes(helper_process));
  ASSERT_EQ(::waitpid(helper.pid, nullptr, 0), helper.pid);
  start_daemon();  // one that makes no cgroups itself
  adopt_ended("r1", helper);
  EXPECT_TRUE(is_gone(child));
}

TEST_F(LeftoversInCgroupTest, ACommandThatEndsByItselfLeavesItsDaemonsAloneAndTheirCgroupToThem) {
  const RunExit exit = run(telling("r1", hidden("sleep 1000 > /dev/null 2>&1")));
  EXPECT_EQ(exit.code, 0);
  const Descriptor daemon = told_process();
  const std::string cgroup = cgroup_of("r1");
  remove_empty_cgroups(own_);
  EXPECT_FALSE(is_gone(daemon));
  EXPECT_TRUE(std::filesystem::exists(cgroup));
  ASSERT_TRUE(signal_pidfd(daemon.get(), SIGKILL));
  ASSERT_TRUE(goes(daemon));
  // It leaves its cgroup a moment after its end is told.
  for (int i = 0; i < kPatience / 10 && remove_empty_cgroups(own_) == 0; ++i) ::usleep(10'000);
  EXPECT_FALSE(std::filesystem::exists(cgroup));
}

TEST_F(LeftoversInCgroupTest, OneThatIsRefusedOrAbandonedLeavesNoCgroup) {
  EXPECT_EQ(run({.run_id = "r1", .command = {"/nonexistent"}}).code, kNotFound);
  const ProcessIdentity helper = start(shell("r2", "true"));
  const std::string abandoned = own_ + "/kron-r2-" + std::to_string(helper.pid);
  for (int i = 0; i < kPatience / 10 && !std::filesystem::exists(abandoned); ++i) ::usleep(10'000);
  EXPECT_TRUE(std::filesystem::exists(abandoned));
  const Descriptor process(open_pidfd(helper.pid));
  runner_->abandon("r2");
  ASSERT_TRUE(goes(process));
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_FALSE(std::filesystem::exists(cgroup_of("r1")));
}

TEST_F(LeftoversInCgroupTest, ACgroupThatIsNotTheRunsIsNotTouched) {
  start_and_open(telling("r1", "echo $$ > $TOLD; exec sleep 1000"));
  const Descriptor child = told_process();
  const std::optional<Session> session = runner_->files().read_started("r1");
  ASSERT_TRUE(session);
  EXPECT_EQ(end_leftovers({"r", 0, Session{999'999'999, 0, session->cgroup}, false}).count, 0U);
  EXPECT_FALSE(is_gone(child));
  runner_->kill("r1");
  wait_for("r1");
}

TEST_F(LeftoversInCgroupTest, WithoutACgroupTheSessionHasToDo) {
  start_daemon({.cgroup = own_ + "/not-there"});
  const ProcessIdentity helper = start_and_open(telling("r1", "sleep 1000 & echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  EXPECT_EQ(cgroup_of("r1"), "");
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  wait_for("r1");
  EXPECT_TRUE(is_gone(child));
}

TEST_F(LeftoversTest, ASessionThatBeganLaterIsAnothers) {
  start_and_open(telling("r1", "sleep 1000 & echo $! > $TOLD; wait"));
  const Descriptor child = told_process();
  std::optional<Session> session = runner_->files().read_started("r1");
  ASSERT_TRUE(session);
  EXPECT_LE(*start_time_of(session->id), session->tick);
  session->tick = 0;  // an earlier one that had the same number
  EXPECT_EQ(end_leftovers({"another", 0, session, false}).count, 0U);
  EXPECT_FALSE(is_gone(child));
  runner_->kill("r1");
  wait_for("r1");
}

}  // namespace
}  // namespace kron::runner
