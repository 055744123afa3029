#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

using std::chrono::milliseconds;

class LeaseTest : public RunnerFixture {
 protected:
  LeaseTest() : file_(::open(directory_.file("lease").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}

  void set(Nanoseconds deadline) {
    const std::int64_t count = deadline.count();
    ASSERT_EQ(::pwrite(file_.get(), &count, sizeof count, 0), ssize_t{sizeof count});
  }
  void set_after(Nanoseconds time) { set(clock_.boot_time() + time); }

  RunSpec leased(std::string run_id, std::string script) {
    RunSpec spec = shell(std::move(run_id), std::move(script));
    spec.lease = file_.get();
    return spec;
  }

  Descriptor file_;
  std::string told_ = make_fifo("told");
  std::string go_ = make_fifo("go");
};

TEST_F(LeaseTest, WhenItRunsOutTheWholeGroupIsKilledWithoutGrace) {
  const Nanoseconds deadline = clock_.boot_time() + milliseconds(500);
  set(deadline);
  RunSpec spec = leased("r1", "trap '' TERM; (trap '' TERM; echo $PPID > " + told_ + "; exec sleep 1000) & sleep 1000");
  spec.grace = Seconds(60);
  start_and_open(spec);
  const pid_t leader = std::atoi(read_fifo(told_).c_str());
  ASSERT_GT(leader, 0);
  const RunExit exit = wait_for("r1");
  const Nanoseconds late = clock_.boot_time() - deadline;
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(exit.reason, kLeaseOver);
  EXPECT_EQ(::kill(-leader, 0), -1) << "some of the group live";
  EXPECT_GE(late, Nanoseconds(0));
  EXPECT_LT(late, Seconds(5));  // a machine that has time needs milliseconds; here it must only not wait for the grace
  RecordProperty("late_us", static_cast<int>(late.count() / 1000));
}

TEST_F(LeaseTest, OneThatIsExtendedLives) {
  set_after(milliseconds(400));
  start_and_open(leased("r1", "echo ready > " + told_ + "; read line < " + go_ + "; exit 7"));
  ASSERT_EQ(read_fifo(told_), "ready\n");
  set_after(milliseconds(800));
  // Passes the first deadline.
  pollfd event{runner_->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 600), 0);
  set_after(Seconds(60));
  EXPECT_EQ(::poll(&event, 1, 600), 0);
  write_fifo(go_, "\n");
  EXPECT_EQ(wait_for("r1").code, 7);
}

TEST_F(LeaseTest, OneThatIsOverBeforeTheGateOpensExecutesNothing) {
  set_after(Seconds(-1));
  const RunExit exit = run(leased("r1", "echo ran"));
  EXPECT_TRUE(exit.never_ran);
  EXPECT_EQ(exit.code, std::nullopt);
  EXPECT_EQ(exit.reason, kLeaseOverBefore);
  EXPECT_EQ(output("r1"), "");
}

TEST_F(LeaseTest, AFileThatSaysNothingIsOver) {
  EXPECT_TRUE(run(leased("r1", "echo ran")).never_ran);
  set(Nanoseconds(-5));
  EXPECT_TRUE(run(leased("r2", "echo ran")).never_ran);
  EXPECT_EQ(output("r2"), "");
}

TEST_F(LeaseTest, OneWithoutAnEndNeverRunsOut) {
  set(Nanoseconds::max());
  EXPECT_EQ(run(leased("r1", "exit 3")).code, 3);
}

TEST_F(LeaseTest, OneThatIsLostKillsAtOnceWhenKrondSaysSo) {
  set_after(Seconds(60));
  start_and_open(leased("r1", "echo ready > " + told_ + "; exec sleep 1000"));
  ASSERT_EQ(read_fifo(told_), "ready\n");
  set(Nanoseconds(1));
  runner_->kill("r1");
  EXPECT_EQ(wait_for("r1").reason, kLeaseOver);
}

TEST_F(LeaseTest, ItEndsARunThatIsBeingTerminated) {
  set_after(Seconds(60));
  RunSpec spec =
      leased("r1", "trap 'echo hears > " + told_ + "' TERM; echo ready > " + told_ + "; while :; do sleep 0.1; done");
  spec.grace = Seconds(60);
  start_and_open(spec);
  ASSERT_EQ(read_fifo(told_), "ready\n");
  runner_->terminate("r1");
  ASSERT_EQ(read_fifo(told_), "hears\n");
  set(Nanoseconds(1));
  runner_->kill("r1");
  EXPECT_EQ(wait_for("r1").reason, std::string("terminated, ") + kLeaseOver);
}

// The daemon is a process of its own here, and it is stopped: nothing of it can help.
TEST_F(LeaseTest, ItRunsOutWhileTheDaemonIsStoppedOrDead) {
  for (const int stop : {SIGSTOP, SIGKILL}) {
    const std::string run_id = "r" + std::to_string(stop);
    set_after(milliseconds(700));
    const RunSpec spec = leased(run_id, "echo $PPID > " + told_ + "; exec sleep 1000");
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      start_daemon();
      start_and_open(spec);
      for (;;) ::pause();
    }
    const pid_t helper = std::atoi(read_fifo(told_).c_str());
    ASSERT_GT(helper, 0);
    const Descriptor process(open_pidfd(helper));
    ASSERT_EQ(::kill(daemon, stop), 0);
    pollfd event{process.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&event, 1, kPatience), 1) << "it lives on";
    const std::optional<RunExit> exit = runner_->files().read_exit(run_id);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->reason, kLeaseOver);
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
  }
}

TEST_F(LeaseTest, AnAdoptedRunGoesOnUnderItsLease) {
  set_after(Seconds(60));
  const ProcessIdentity process =
      start_and_open(leased("r1", "echo ready > " + told_ + "; read line < " + go_ + "; exit 9"));
  ASSERT_EQ(read_fifo(told_), "ready\n");
  start_daemon();
  ASSERT_EQ(runner_->adopt("r1", process), std::nullopt);
  set_after(Seconds(120));
  write_fifo(go_, "\n");
  EXPECT_EQ(wait_for("r1").code, 9);
}

TEST_F(LeaseTest, ItGoesWithLongInstructionsAndIsNotTheCommands) {
  set_after(Seconds(60));
  RunSpec spec = leased("r1", "wc -c; ls /proc/self/fd | wc -l; readlink /proc/$PPID/fd/6");
  spec.input = std::string(3 * kMostInRequest, 'x');
  EXPECT_EQ(output_of_script(spec), std::to_string(3 * kMostInRequest) + "\n4\n" + directory_.file("lease") + "\n");
  // And the next, without one, holds none.
  const std::string held = output_of_script(shell("r2", "for fd in /proc/$PPID/fd/*; do readlink $fd; done"));
  EXPECT_EQ(held.find(directory_.file("lease")), std::string::npos) << held;
}

}  // namespace
}  // namespace kron::runner
