#include <csignal>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/pidfd.h"
#include "kron/runner/process_identity.h"

namespace kron::runner {
namespace {

class GateTest : public RunnerFixture {
 protected:
  RunSpec marking(const std::string& run_id) { return shell(run_id, "echo ran >> " + directory_.file("ran")); }

  // Waits for the end of a process that is not our child.
  static void wait_for_process(const ProcessIdentity& process) {
    const Descriptor descriptor(open_pidfd(process.pid));
    pollfd event{descriptor.get(), POLLIN, 0};
    if (descriptor && start_time_of(process.pid) == process.start_time) {
      EXPECT_EQ(::poll(&event, 1, kPatience), 1);
    }
  }

  static void kill_daemon(const ProcessIdentity&) { ::kill(::getpid(), SIGKILL); }

  // A daemon that lives in another process and ends after `last` in the way that `last` ends it.
  template <class Last>
  ProcessIdentity in_a_daemon_that_dies(const RunSpec& spec, Last last) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      const ProcessIdentity process = start(spec);
      (void)!::write(ends[1], &process.pid, sizeof process.pid);
      (void)!::write(ends[1], &process.start_time, sizeof process.start_time);
      last(process);
      ::_exit(0);
    }
    ::close(ends[1]);
    ProcessIdentity process{0, 0, clock_.boot_id()};
    EXPECT_EQ(::read(ends[0], &process.pid, sizeof process.pid), ssize_t{sizeof process.pid});
    EXPECT_EQ(::read(ends[0], &process.start_time, sizeof process.start_time), ssize_t{sizeof process.start_time});
    ::close(ends[0]);
    EXPECT_EQ(::waitpid(daemon, nullptr, 0), daemon);
    return process;
  }
};

TEST_F(GateTest, NothingRunsBeforeItOpens) {
  const ProcessIdentity process = start(marking("r1"));
  EXPECT_EQ(start_time_of(process.pid), process.start_time);
  EXPECT_EQ(process.boot_id, clock_.boot_id());
  EXPECT_EQ(runner_->alive(), 1U);
  EXPECT_EQ(contents(directory_.file("ran")), "");
  ASSERT_TRUE(runner_->open_gate("r1"));
  EXPECT_EQ(wait_for("r1").code, 0);
  EXPECT_EQ(contents(directory_.file("ran")), "ran\n");
  EXPECT_EQ(runner_->alive(), 0U);
}

TEST_F(GateTest, AnAbandonedRunExecutesNothingAndLeavesNothing) {
  const ProcessIdentity process = start(marking("r1"));
  runner_->abandon("r1");
  start_and_open(shell("r2", "true"));
  wait_for("r2");
  wait_for_process(process);
  EXPECT_TRUE(runner_->drain_exits().empty());
  EXPECT_EQ(runner_->alive(), 0U);
  EXPECT_EQ(contents(directory_.file("ran")), "");
  EXPECT_FALSE(std::filesystem::exists(directory_.file("runs/r1")));
}

TEST_F(GateTest, AnAbandonedRunLeavesTheRecordOfAnEarlierOneOfItsId) {
  EXPECT_EQ(run(shell("r1", "exit 7")).code, 7);
  const ProcessIdentity process = start(marking("r1"));
  runner_->abandon("r1");
  wait_for_process(process);
  EXPECT_TRUE(runner_->drain_exits().empty());
  EXPECT_EQ(runner_->earlier_run("r1")->code, 7);
  EXPECT_EQ(contents(directory_.file("ran")), "");
}

TEST_F(GateTest, ARunThatIsLetGoSaysSoBeforeItExecutesAnything) {
  const std::string started = directory_.file("runs/r1/started");
  start(shell("r1", "test -e " + started + " && exit 7"));
  EXPECT_FALSE(std::filesystem::exists(started));
  EXPECT_EQ(runner_->earlier_run("r1"), std::nullopt);
  ASSERT_TRUE(runner_->open_gate("r1"));
  EXPECT_EQ(wait_for("r1").code, 7);
  EXPECT_EQ(runner_->earlier_run("r1")->code, 7);
  std::filesystem::remove(directory_.file("runs/r1/exit"));
  EXPECT_EQ(runner_->earlier_run("r1")->code, std::nullopt);
  EXPECT_EQ(runner_->earlier_run(".."), std::nullopt);
}

TEST_F(GateTest, ARunThatDiedAtItsGateWasNotLetGo) {
  wait_for_process(in_a_daemon_that_dies(marking("r1"), kill_daemon));
  EXPECT_EQ(runner_->earlier_run("r1"), std::nullopt);
}

TEST_F(GateTest, ADaemonThatEndsClosesIt) {
  const ProcessIdentity process = in_a_daemon_that_dies(marking("r1"), [](const ProcessIdentity&) {});
  wait_for_process(process);
  EXPECT_EQ(contents(directory_.file("ran")), "");
}

TEST_F(GateTest, ADaemonThatIsKilledClosesItAndTheNextOneLearnsThatNothingRan) {
  const ProcessIdentity process = in_a_daemon_that_dies(marking("r1"), kill_daemon);
  wait_for_process(process);
  EXPECT_EQ(contents(directory_.file("ran")), "");
  const RunExit exit = adopt_ended("r1", process);
  EXPECT_TRUE(exit.never_ran);
  EXPECT_EQ(exit.code, std::nullopt);
  EXPECT_EQ(exit.reason, "the daemon ended before it let this run go");
}

TEST_F(GateTest, ARunThatIsStartedAnewIsNotSaidNeverToHaveRun) {
  wait_for_process(in_a_daemon_that_dies(marking("r1"), kill_daemon));
  const std::string fifo = make_fifo("up");
  const ProcessIdentity process = start_and_open(shell("r1", "echo up > " + fifo + "; exec sleep 1000"));
  EXPECT_EQ(read_fifo(fifo), "up\n");
  ASSERT_EQ(::kill(process.pid, SIGKILL), 0);
  const RunExit exit = wait_for("r1");
  EXPECT_FALSE(exit.never_ran);
  EXPECT_EQ(exit.reason, "kron-exec was ended by signal 9 before it could record the end");
}

TEST_F(GateTest, ThatARunNeverRanIsNotSaidAfterItWasStartedAnewAndRan) {
  int release[2];
  ASSERT_EQ(::pipe(release), 0);
  // Somebody who holds the gate a while longer stands for a kron-exec that is slow to notice.
  const ProcessIdentity slow = in_a_daemon_that_dies(marking("r1"), [&](const ProcessIdentity& run) {
    char byte = 0;
    if (::fork() != 0) kill_daemon(run);
    (void)!::read(release[0], &byte, 1);
  });
  const ProcessIdentity anew = start_and_open(marking("r1"));
  EXPECT_EQ(wait_for("r1").code, 0);
  EXPECT_EQ(::write(release[1], "x", 1), 1);
  wait_for_process(slow);
  EXPECT_EQ(adopt_ended("r1", anew).code, 0);
  EXPECT_EQ(contents(directory_.file("ran")), "ran\n");
  ::close(release[0]);
  ::close(release[1]);
}

TEST_F(GateTest, ADaemonThatIsKilledAfterOpeningItLeavesTheRunRunning) {
  const ProcessIdentity process = in_a_daemon_that_dies(marking("r1"), [this](const ProcessIdentity& run) {
    EXPECT_TRUE(runner_->open_gate("r1"));
    kill_daemon(run);
  });
  wait_for_process(process);
  EXPECT_EQ(contents(directory_.file("ran")), "ran\n");
  const RunExit exit = adopt_ended("r1", process);
  EXPECT_FALSE(exit.never_ran);
  EXPECT_EQ(exit.code, 0);
}

TEST_F(GateTest, ItCannotBeOpenedWhenItsProcessIsGone) {
  const ProcessIdentity process = start(marking("r1"));
  ASSERT_EQ(::kill(process.pid, SIGKILL), 0);
  wait_for_process(process);
  EXPECT_TRUE(runner_->drain_exits().empty());
  EXPECT_FALSE(runner_->open_gate("r1"));
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, std::nullopt);
  EXPECT_EQ(exit.reason, "kron-exec was ended by signal 9 before it could record the end");
  EXPECT_EQ(contents(directory_.file("ran")), "");
}

TEST_F(GateTest, OpensOnceAndOnlyForARunThatIsHeld) {
  start_and_open(marking("r1"));
  EXPECT_EQ(runner_->open_gate("r1").error().code, Code::not_found);
  EXPECT_EQ(runner_->open_gate("r2").error().code, Code::not_found);
  wait_for("r1");
  EXPECT_EQ(contents(directory_.file("ran")), "ran\n");
}

TEST_F(GateTest, OneRunDoesNotHoldTheGateOfAnother) {
  const ProcessIdentity held = start(marking("held"));
  start_and_open(shell("running", "read line < " + make_fifo("go")));
  runner_->abandon("held");
  wait_for_process(held);
  EXPECT_EQ(contents(directory_.file("ran")), "");
  runner_->kill("running");
  EXPECT_EQ(wait_for("running").code, 137);
}

TEST_F(GateTest, AFailedStartLeavesNoProcess) {
  EXPECT_EQ(runner_->start(marking("../r1")).error().code, Code::invalid);
  EXPECT_EQ(runner_->start(marking("")).error().code, Code::invalid);
  start(marking("r1"));
  EXPECT_EQ(runner_->start(marking("r1")).error().code, Code::conflict);
  runner_->abandon("r1");
  Result<std::unique_ptr<RealProcessRunner>> other =
      RealProcessRunner::create({.helper = "/nonexistent/kron-exec", .state_directory = directory_.path()}, clock_);
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->start(marking("r2")).error().code, Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(directory_.file("runs/r2")));
  EXPECT_EQ((*other)->alive(), 0U);
}

TEST_F(GateTest, ItsEndIsSeenEvenIfTheSystemForgotToWatchIt) {
  start(marking("r1"));
  // As if the kernel refused to change what is watched.
  int forgotten = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) != "anon_inode:[pidfd]") continue;
    const int pidfd = std::stoi(entry.path().filename());
    if (::epoll_ctl(runner_->descriptor(), EPOLL_CTL_DEL, pidfd, nullptr) == 0) ++forgotten;
  }
  ASSERT_EQ(forgotten, 1);
  ASSERT_TRUE(runner_->open_gate("r1"));
  EXPECT_EQ(wait_for("r1").code, 0);
}

}  // namespace
}  // namespace kron::runner
