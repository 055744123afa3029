#include <csignal>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

class AdoptionTest : public RunnerFixture {
 protected:
  std::string go_ = make_fifo("go");
  std::string told_ = make_fifo("told");
  std::string waits_ = "echo ready > " + told_ + "; read line < " + go_ + "; ";
};

TEST_F(AdoptionTest, ARunGoesOnWithoutADaemonAndTheNextOneLearnsItsEnd) {
  const ProcessIdentity process = start_and_open(shell("r1", waits_ + "echo $line; exit 42"));
  ASSERT_EQ(read_fifo(told_), "ready\n");
  start_daemon();
  EXPECT_EQ(runner_->adopt("r1", process), std::nullopt);
  EXPECT_EQ(runner_->adopt("r1", process), std::nullopt);
  EXPECT_EQ(runner_->alive(), 1U);
  write_fifo(go_, "hello\n");
  EXPECT_EQ(wait_for("r1").code, 42);
  EXPECT_EQ(output("r1"), "hello\n");
}

TEST_F(AdoptionTest, TheNextDaemonNeedNotBeItsParent) {
  const RunSpec spec = shell("r1", waits_ + "exit 42");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    const ProcessIdentity process = start_and_open(spec);
    (void)!::write(ends[1], &process.pid, sizeof process.pid);
    (void)!::write(ends[1], &process.start_time, sizeof process.start_time);
    ::kill(::getpid(), SIGKILL);
  }
  ProcessIdentity process{0, 0, clock_.boot_id()};
  ASSERT_EQ(::read(ends[0], &process.pid, sizeof process.pid), ssize_t{sizeof process.pid});
  ASSERT_EQ(::read(ends[0], &process.start_time, sizeof process.start_time), ssize_t{sizeof process.start_time});
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_EQ(::waitpid(daemon, nullptr, 0), daemon);
  ASSERT_EQ(read_fifo(told_), "ready\n");
  EXPECT_EQ(runner_->adopt("r1", process), std::nullopt);
  write_fifo(go_, "\n");
  EXPECT_EQ(wait_for("r1").code, 42);
}

TEST_F(AdoptionTest, AnEndThatNobodySawIsLearntFromTheRecord) {
  const ProcessIdentity process = start_and_open(shell("r1", "exit 42"));
  pollfd event{runner_->descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&event, 1, kPatience), 1);
  start_daemon();
  EXPECT_EQ(adopt_ended("r1", process).code, 42);
}

TEST_F(AdoptionTest, AnotherProcessWithThePidOfARunIsNotThatRun) {
  ProcessIdentity process = start_and_open(shell("r1", waits_ + "exit 42"));
  ASSERT_EQ(read_fifo(told_), "ready\n");
  start_daemon();
  ProcessIdentity reused = process;
  ++reused.start_time;
  const std::optional<RunExit> gone = runner_->adopt("r1", reused);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->code, std::nullopt);
  EXPECT_FALSE(gone->never_ran);
  EXPECT_NE(gone->reason, "");
  ProcessIdentity rebooted = process;
  rebooted.boot_id = "another";
  EXPECT_TRUE(runner_->adopt("r1", rebooted));
  EXPECT_TRUE(runner_->adopt("r1", ProcessIdentity{0, 0, clock_.boot_id()}));
  EXPECT_EQ(runner_->adopt("r1", process), std::nullopt);
  runner_->kill("r1");
  EXPECT_EQ(wait_for("r1").code, 137);
}

TEST_F(AdoptionTest, AnAdoptedRunCanBeTerminated) {
  const ProcessIdentity process = start_and_open(shell("r1", "trap 'exit 9' TERM; " + waits_));
  ASSERT_EQ(read_fifo(told_), "ready\n");
  start_daemon();
  ASSERT_EQ(runner_->adopt("r1", process), std::nullopt);
  runner_->terminate("r1");
  EXPECT_EQ(wait_for("r1").code, 9);
}

TEST_F(AdoptionTest, TheTimeoutHoldsWithoutADaemon) {
  RunSpec spec = shell("r1", "exec sleep 1000");
  spec.timeout = std::chrono::milliseconds(100);
  const ProcessIdentity process = start_and_open(spec);
  runner_.reset();
  siginfo_t how{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process.pid), &how, WEXITED), 0);
  start_daemon();
  const std::optional<RunExit> exit = runner_->adopt("r1", process);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 143);
  EXPECT_EQ(exit->reason, "timed out after 0.1s");
}

}  // namespace
}  // namespace kron::runner
