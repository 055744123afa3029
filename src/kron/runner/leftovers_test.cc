#include "kron/runner/leftovers.h"

#include <csignal>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"

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
