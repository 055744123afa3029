#include <csignal>
#include <fstream>
#include <functional>
#include <sys/stat.h>
#include <thread>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/protocol.h"

namespace kron::runner {
namespace {

using std::chrono::milliseconds;

// Several attempts of one run, by the real kron-exec.
class RetriesTest : public RunnerFixture {
 protected:
  static RunSpec retried(std::uint32_t times, std::uint32_t backoff, std::string script) {
    RunSpec spec = shell("r1", std::move(script));
    spec.process.retry = times;
    spec.process.backoff = backoff;
    return spec;
  }

  static void wait_until(const std::function<bool()>& is_so) {
    for (int left = kPatience; !is_so() && left > 0; left -= 5) std::this_thread::sleep_for(milliseconds(5));
    ASSERT_TRUE(is_so());
  }

  // Its first attempt has failed, and the second is hours away.
  ProcessIdentity start_and_wait_for_backoff(RunSpec spec) {
    const ProcessIdentity process = start_and_open(spec);
    EXPECT_EQ(read_fifo(told_), "ready\n");
    const auto path = directory_.file("runs/r1/started");
    wait_until([&] { return std::filesystem::file_size(path) == 0; });
    return process;
  }

  std::string told_ = make_fifo("told");
  std::string go_ = make_fifo("go");
  std::string fails_ = "echo ready > " + told_ + "; exit 7";
};

TEST_F(RetriesTest, ACommandThatFailsIsExecutedAgainUntilItSucceeds) {
  const RunExit exit = run(retried(5, 0, "echo try $KRON_ATTEMPT; [ $KRON_ATTEMPT = 3 ] || exit 4"));
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(exit.reason, "");
  EXPECT_EQ(exit.attempts, 3U);
  EXPECT_EQ(output("r1"),
            "try 1\n[kron: attempt 2 of 6, 0s after exit 4]\ntry 2\n[kron: attempt 3 of 6, 0s after exit 4]\ntry 3\n");
  EXPECT_EQ(exit.output_bytes, output("r1").size());
}

TEST_F(RetriesTest, TheEndIsThatOfTheLastAttempt) {
  RunExit exit = run(retried(2, 0, "[ $KRON_ATTEMPT = 3 ] || kill -SEGV $$; exit 9"));
  EXPECT_EQ(exit.code, 9);
  EXPECT_EQ(exit.signal, 0);
  EXPECT_EQ(exit.reason, "");
  EXPECT_EQ(exit.attempts, 3U);
  RunSpec spec = retried(2, 0, "[ $KRON_ATTEMPT != 3 ] || kill -SEGV $$; exit 9");
  spec.run_id = "r2";
  exit = run(spec);
  EXPECT_EQ(exit.signal, SIGSEGV);
  EXPECT_EQ(exit.attempts, 3U);
}

TEST_F(RetriesTest, WithoutRetryThereIsOneAttemptAndNobodyCounts) {
  const RunExit exit = run(shell("r1", "echo $KRON_ATTEMPT; exit 1"));
  EXPECT_EQ(exit.attempts, 1U);
  EXPECT_EQ(output("r1"), "\n");
  EXPECT_EQ(contents(directory_.file("runs/r1/exit")).find("attempts"), std::string::npos);
}

TEST_F(RetriesTest, ASuccessIsNotTriedAgain) {
  const RunExit exit = run(retried(kMostRetries, 0, "echo $KRON_ATTEMPT"));
  EXPECT_EQ(exit.attempts, 1U);
  EXPECT_EQ(output("r1"), "1\n");
}

TEST_F(RetriesTest, AllAttemptsAreMadeAndNoMore) {
  RunSpec spec = retried(kMostRetries, 0, "exit 1");
  spec.out = spec.err = {OutputKind::discard};
  EXPECT_EQ(run(spec).attempts, kMostRetries + 1);
  EXPECT_EQ(output("r1"), "") << "nothing is captured, so nothing is marked";
}

TEST_F(RetriesTest, EachWaitIsTwiceAsLongAsTheOneBefore) {
  const RunExit exit = run(retried(2, 1, "exit 1"));
  EXPECT_EQ(output("r1"), "[kron: attempt 2 of 3, 1s after exit 1]\n[kron: attempt 3 of 3, 2s after exit 1]\n");
  ASSERT_TRUE(exit.took);
  EXPECT_GE(*exit.took, Seconds(3));
}

TEST_F(RetriesTest, ALineThatWasNotEndedIsEndedBeforeTheMark) {
  run(retried(1, 0, "printf %s half; exit 1"));
  EXPECT_EQ(output("r1"), "half\n[kron: attempt 2 of 2, 0s after exit 1]\nhalf");
}

TEST_F(RetriesTest, EachAttemptHasTheWholeInputAndItsOwnSession) {
  RunSpec spec = retried(1, 0, "cat; ps -o sid= -p $$ | tr -d ' ' > " + told_ + "; exit 1");
  spec.input = "text\n";
  start_and_open(spec);
  const std::string first = read_fifo(told_);
  const std::string second = read_fifo(told_);
  EXPECT_EQ(wait_for("r1").attempts, 2U);
  EXPECT_NE(first, second);
  EXPECT_EQ(output("r1"), "text\n[kron: attempt 2 of 2, 0s after exit 1]\ntext\n");
}

TEST_F(RetriesTest, WhatCannotBeExecutedIsTriedAgain) {
  RunSpec spec = retried(2, 0, "");
  spec.command = {"/nonexistent/program"};
  RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 127);
  EXPECT_EQ(exit.attempts, 3U);
  EXPECT_EQ(exit.reason, "cannot execute /nonexistent/program: No such file or directory");
  // A program that comes meanwhile is found.
  spec.run_id = "r2";
  spec.process.backoff = 1;
  spec.command = {directory_.file("late")};
  start_and_open(spec);
  wait_until([&] { return std::filesystem::exists(directory_.file("runs/r2/started")); });
  { std::ofstream(directory_.file("late.new")) << "#!/bin/sh\necho found\n"; }
  ASSERT_EQ(::chmod(directory_.file("late.new").c_str(), 0755), 0);
  std::filesystem::rename(directory_.file("late.new"), directory_.file("late"));
  exit = wait_for("r2");
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(exit.reason, "");
}

TEST_F(RetriesTest, WhatAnAttemptLeavesBehindHoldsUpNobody) {
  const RunExit exit = run(retried(1, 0, "sleep 30 & echo $KRON_ATTEMPT; exit 1"));
  EXPECT_EQ(exit.attempts, 2U);
  ASSERT_TRUE(exit.took);
  EXPECT_LT(*exit.took, Seconds(25));
  EXPECT_EQ(output("r1"), "1\n[kron: attempt 2 of 2, 0s after exit 1]\n2\n");
}

TEST_F(RetriesTest, TermEndsTheWaiting) {
  start_and_wait_for_backoff(retried(3, 3600, fails_));
  runner_->terminate("r1");
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, "terminated before attempt 2");
  EXPECT_EQ(exit.attempts, 1U);
}

TEST_F(RetriesTest, KillEndsTheWaiting) {
  start_and_wait_for_backoff(retried(3, 3600, fails_));
  runner_->kill("r1");
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, "killed before attempt 2");
}

TEST_F(RetriesTest, AnAttemptThatWasTerminatedIsTheLast) {
  RunSpec spec = retried(3, 0, "echo ready > " + told_ + "; sleep 1000 & wait");
  start_and_open(spec);
  ASSERT_EQ(read_fifo(told_), "ready\n");
  runner_->terminate("r1");
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_EQ(exit.reason, "terminated");
  EXPECT_EQ(exit.attempts, 1U);
}

TEST_F(RetriesTest, TheTimeoutBoundsAllAttemptsTogether) {
  RunSpec spec = retried(3, 0, "[ $KRON_ATTEMPT = 2 ] || exit 1; exec sleep 1000");
  spec.timeout = milliseconds(500);
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_EQ(exit.reason, "timed out after 0.5s");
  EXPECT_EQ(exit.attempts, 2U);
}

TEST_F(RetriesTest, AnAttemptThatTheTimeoutLeavesNoTimeForIsNotWaitedFor) {
  RunSpec spec = retried(3, 3600, "exit 7");
  spec.timeout = std::chrono::minutes(30);
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, "no time left in its timeout for attempt 2");
  EXPECT_EQ(exit.attempts, 1U);
}

TEST_F(RetriesTest, ALeaseThatRunsOutEndsTheWaiting) {
  const Descriptor lease(::open(directory_.file("lease").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const auto set = [&](Nanoseconds at) {
    const std::int64_t count = at.count();
    ASSERT_EQ(::pwrite(lease.get(), &count, sizeof count, 0), ssize_t{sizeof count});
  };
  set(clock_.boot_time() + milliseconds(500));
  RunSpec spec = retried(3, 3600, "exit 7");
  spec.lease = lease.get();
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, kLeaseOver);
  EXPECT_EQ(exit.attempts, 1U);
}

TEST_F(RetriesTest, AttemptsGoOnWithoutADaemonAndTheNextOneLearnsOfThem) {
  const ProcessIdentity process =
      start_and_open(retried(3, 0, "echo $KRON_ATTEMPT > " + told_ + "; read code < " + go_ + "; exit $code"));
  ASSERT_EQ(read_fifo(told_), "1\n");
  start_daemon();
  write_fifo(go_, "5\n");
  ASSERT_EQ(read_fifo(told_), "2\n");
  start_daemon();
  EXPECT_EQ(runner_->adopt("r1", process), std::nullopt);
  write_fifo(go_, "0\n");
  const RunExit exit = wait_for("r1");
  EXPECT_EQ(exit.code, 0);
  EXPECT_EQ(exit.attempts, 2U);
}

TEST_F(RetriesTest, WhenTheHelperIsKilledTheRunIsOver) {
  for (const bool waits : {true, false}) {
    SCOPED_TRACE(waits);
    RunSpec spec = retried(3, waits ? 3600 : 0,
                           waits ? fails_ : "[ $KRON_ATTEMPT = 2 ] || exit 1; echo ready > " + told_ + "; sleep 1000");
    ProcessIdentity process;
    if (waits) {
      process = start_and_wait_for_backoff(spec);
    } else {
      spec.run_id = "r2";
      process = start_and_open(spec);
      ASSERT_EQ(read_fifo(told_), "ready\n");
    }
    ASSERT_EQ(::kill(process.pid, SIGKILL), 0);
    const RunExit exit = wait_for(spec.run_id);
    EXPECT_EQ(exit.code, std::nullopt);
    EXPECT_FALSE(exit.never_ran);
    EXPECT_TRUE(exit.reason.starts_with("kron-exec was ended by signal 9")) << exit.reason;
  }
}

// Our own standard output is the test's, so another process takes the part of the daemon.
TEST_F(RetriesTest, InheritedOutputIsThatOfEveryAttempt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    start_daemon();
    RunSpec spec = retried(1, 0, "echo one; echo two >&2; exit 3");
    spec.out = spec.err = {OutputKind::inherit};
    ::_exit(run(spec).attempts == 2 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char part[64];
  for (ssize_t got = ::read(ends[0], part, sizeof part); got > 0; got = ::read(ends[0], part, sizeof part)) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  EXPECT_EQ(text, "one\ntwo\none\ntwo\n");
}

}  // namespace
}  // namespace kron::runner
