#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/pidfd.h"

namespace kron::runner {
namespace {

using std::chrono::milliseconds;

class EndingTest : public RunnerFixture {
 protected:
  static bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }
};

TEST_F(EndingTest, TheExitCodeIsTheCommands) {
  for (const int code : {0, 1, 42, 255}) {
    const RunExit exit = run(shell("r" + std::to_string(code), "exit " + std::to_string(code)));
    EXPECT_EQ(exit.code, code);
    EXPECT_EQ(exit.reason, "");
    EXPECT_FALSE(exit.never_ran);
  }
}

TEST_F(EndingTest, ASignalIsToldAs128AndItsNumber) {
  const RunExit exit = run(shell("r1", "kill -SEGV $$"));
  EXPECT_EQ(exit.code, 128 + SIGSEGV);
  EXPECT_EQ(exit.signal, SIGSEGV);
  EXPECT_EQ(exit.reason, "ended by signal 11 (Segmentation fault)");
}

TEST_F(EndingTest, AnExitCodeThatLooksLikeASignalIsNone) {
  const RunExit exit = run(shell("r1", "exit 143"));
  EXPECT_EQ(exit.code, 143);
  EXPECT_EQ(exit.signal, 0);
}

// As krond forks its front and its deliverer while runs go on.
TEST_F(EndingTest, AnEndIsToldOnceAlthoughAForkedChildHoldsItsDescriptors) {
  start(shell("r1", "true"));
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  ASSERT_GT(child, 0);
  EXPECT_TRUE(runner_->open_gate("r1"));
  EXPECT_EQ(wait_for("r1").code, 0);
  pollfd event{runner_->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 0), 0) << "there is nothing left to tell of";
  EXPECT_TRUE(runner_->drain_exits().empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(EndingTest, TheTimeItEndedIsOnTheDaemonsClock) {
  start_daemon({.clock_offset = std::chrono::hours(24)});
  const Instant before = now(clock_);
  const RunExit exit = run(shell("r1", "true"));
  ASSERT_TRUE(exit.ended);
  EXPECT_GE(*exit.ended, before + std::chrono::hours(24));
  EXPECT_LE(*exit.ended, now(clock_) + std::chrono::hours(24));
}

TEST_F(EndingTest, ACommandThatIsNotThereEndsWith127) {
  const RunExit missing = run({.run_id = "r1", .command = {"/nonexistent/program"}});
  EXPECT_EQ(missing.code, 127);
  EXPECT_EQ(missing.reason, "cannot execute /nonexistent/program: No such file or directory");
  EXPECT_EQ(run({.run_id = "r2", .command = {"no-such-program-anywhere"}}).code, 127);
}

TEST_F(EndingTest, ACommandThatMayNotBeExecutedEndsWith126) {
  const RunExit exit = run({.run_id = "r1", .command = {"/etc/passwd"}});
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.reason, "cannot execute /etc/passwd: Permission denied");
  EXPECT_EQ(run({.run_id = "r2", .command = {"/tmp"}}).code, 126);
}

TEST_F(EndingTest, AnUnknownUserOrGroupEndsWith126WhenTheGateOpens) {
  RunSpec spec = shell("r1", "echo ran");
  spec.user = "no-such-user";
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.reason, "there is no user 'no-such-user'; create it, or correct user");
  spec = shell("r2", "echo ran");
  spec.group = "no-such-group";
  EXPECT_EQ(run(spec).code, 126);
  EXPECT_EQ(output("r1") + output("r2"), "");
}

TEST_F(EndingTest, AnAbsurdCommandEndsWith126) {
  EXPECT_EQ(run({.run_id = "empty", .command = {}}).code, 126);
  EXPECT_EQ(run({.run_id = "nul", .command = {std::string("a\0b", 3)}}).code, 126);
  EXPECT_EQ(run({.run_id = "long", .command = {"/bin/echo", std::string(1 << 20, 'x')}}).code, 126);
  const RunExit exit = run({.run_id = "longer", .command = {"/bin/echo", std::string(9 << 20, 'x')}});
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.reason, "the command with its variables and input is longer than 8M; shorten it");
}

TEST_F(EndingTest, ATimeoutTermsTheGroup) {
  RunSpec spec = shell("r1", "sleep 1000 & wait");
  spec.timeout = milliseconds(50);
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_EQ(exit.reason, "timed out after 0.05s");
}

TEST_F(EndingTest, ATimeoutKillsTheWholeGroupAfterTheGrace) {
  const std::string told = make_fifo("told");
  RunSpec spec = shell("r1", "trap '' TERM; (trap '' TERM; (trap '' TERM; exec sleep 1000) & echo $! > " + told +
                                 "; exec sleep 1000) & wait; sleep 1000");
  spec.timeout = milliseconds(200);
  spec.grace = milliseconds(50);
  start_and_open(spec);
  const pid_t grandchild = std::stoi(read_fifo(told));
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.reason, "timed out after 0.2s, killed after 0.05s of grace");
  EXPECT_FALSE(is_alive(grandchild));
}

TEST_F(EndingTest, ACommandThatObeysTermDoesNotSpareAGrandchildThatDoesNot) {
  const std::string told = make_fifo("told");
  RunSpec spec = shell("r1", "(trap '' TERM; echo ready > " + told + "; exec sleep 1000) & wait");
  spec.grace = milliseconds(50);
  start_and_open(spec);
  ASSERT_EQ(read_fifo(told), "ready\n");
  runner_->terminate("r1");
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_EQ(exit.reason, "terminated, killed after 0.05s of grace");
}

TEST_F(EndingTest, TerminateDoesNotWaitForTheGraceWhenTheGroupIsGone) {
  const std::string told = make_fifo("told");
  RunSpec spec = shell("r1", "trap 'exit 7' TERM; sh -c 'echo ready > " + told + "; exec sleep 1000' & wait");
  spec.grace = std::chrono::hours(1);
  start_and_open(spec);
  ASSERT_EQ(read_fifo(told), "ready\n");
  runner_->terminate("r1");
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, "terminated");
}

TEST_F(EndingTest, TerminateReachesAStoppedCommand) {
  const std::string told = make_fifo("told");
  RunSpec spec = shell("r1", "echo ready > " + told + "; kill -STOP $$; sleep 1000");
  spec.grace = std::chrono::hours(1);
  start_and_open(spec);
  ASSERT_EQ(read_fifo(told), "ready\n");
  runner_->terminate("r1");
  EXPECT_EQ(wait_for("r1").reason, "terminated");
}

TEST_F(EndingTest, KillEndsWhatIgnoresTerm) {
  const std::string told = make_fifo("told");
  start_and_open(shell("r1", "trap '' TERM; echo ready > " + told + "; while :; do sleep 1000; done"));
  ASSERT_EQ(read_fifo(told), "ready\n");
  runner_->terminate("r1");
  runner_->kill("r1");
  EXPECT_EQ(wait_for("r1").code, 128 + SIGKILL);
  runner_->kill("r1");
  runner_->terminate("r1");
  EXPECT_EQ(runner_->alive(), 0U);
}

TEST_F(EndingTest, ACommandDoesNotOutliveAHelperThatWasKilled) {
  const std::string told = make_fifo("told");
  const ProcessIdentity helper = start_and_open(shell("r1", "echo $$ > " + told + "; exec sleep 1000"));
  const pid_t command = std::stoi(read_fifo(told));
  const Descriptor process(open_pidfd(command));
  ASSERT_EQ(::kill(helper.pid, SIGKILL), 0);
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, std::nullopt);
  pollfd event{process.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, kPatience), 1);
}

TEST_F(EndingTest, ADaemonThatKeepsTheOutputOpenDoesNotHoldTheRun) {
  const std::string told = make_fifo("told");
  const RunExit exit =
      run(shell("r1", "echo before; setsid sh -c 'echo $$ > " + told + "; exec sleep 1000' & echo after"));
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(output("r1"), "before\nafter\n");
  const pid_t daemon = std::stoi(read_fifo(told));
  EXPECT_TRUE(is_alive(daemon));
  ::kill(daemon, SIGKILL);
}

TEST_F(EndingTest, ADaemonThatClosesItsOutputDoesNotHoldTheRun) {
  const std::string told = make_fifo("told");
  const RunExit exit =
      run(shell("r1", "setsid sh -c 'exec >&- 2>&-; echo $$ > " + told + "; exec sleep 1000' & echo done"));
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(output("r1"), "done\n");
  ::kill(std::stoi(read_fifo(told)), SIGKILL);
}

TEST_F(EndingTest, ACommandThatClosesItsOutputIsStillWaitedFor) {
  const std::string told = make_fifo("told");
  const std::string go = make_fifo("go");
  start_and_open(shell("r1", "exec >&- 2>&-; echo closed > " + told + "; read line < " + go + "; exit 5"));
  ASSERT_EQ(read_fifo(told), "closed\n");
  EXPECT_TRUE(runner_->drain_exits().empty());
  write_fifo(go, "go\n");
  EXPECT_EQ(wait_for("r1").code, 5);
}

}  // namespace
}  // namespace kron::runner
