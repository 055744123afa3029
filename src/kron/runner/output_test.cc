#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

class OutputTest : public RunnerFixture {};

TEST_F(OutputTest, BothStreamsAreCapturedInOrder) {
  const RunExit exit = run(shell("r1", "echo one; echo two >&2; echo three"));
  EXPECT_EQ(output("r1"), "one\ntwo\nthree\n");
  EXPECT_EQ(exit.output_bytes, 14U);
}

TEST_F(OutputTest, IsForItsOwnerOnly) {
  run(shell("r1", "umask 0; echo secret"));
  const auto mode = [&](const std::string& name) {
    struct stat about {};
    EXPECT_EQ(::stat(directory_.file(name).c_str(), &about), 0);
    return about.st_mode & 07777;
  };
  EXPECT_EQ(mode("runs"), 0700U);
  EXPECT_EQ(mode("runs/r1"), 0700U);
  EXPECT_EQ(mode("runs/r1/output"), 0600U);
  EXPECT_EQ(mode("runs/r1/exit"), 0600U);
}

TEST_F(OutputTest, ASilentCommandLeavesNoFile) {
  run(shell("r1", "true"));
  EXPECT_FALSE(std::filesystem::exists(runner_->files().output_path("r1")));
}

TEST_F(OutputTest, DiscardedOutputIsGone) {
  RunSpec spec = shell("r1", "echo one; echo two >&2");
  spec.out = {OutputKind::discard};
  EXPECT_EQ(run(spec).output_bytes, 4U);
  EXPECT_EQ(output("r1"), "two\n");
}

TEST_F(OutputTest, AFileIsAppendedTo) {
  RunSpec spec = shell("r1", "echo one; echo two >&2");
  spec.err = {OutputKind::file, directory_.file("errors")};
  run(spec);
  spec.run_id = "r2";
  run(spec);
  EXPECT_EQ(output("r1"), "one\n");
  EXPECT_EQ(contents(directory_.file("errors")), "two\ntwo\n");
}

TEST_F(OutputTest, AFileThatCannotBeWrittenIsTheRunsFailure) {
  RunSpec spec = shell("r1", "echo one");
  spec.out = {OutputKind::file, "/nonexistent/file"};
  EXPECT_EQ(run(spec).reason, "cannot write to /nonexistent/file: No such file or directory");
  spec.run_id = "r2";
  spec.out = {OutputKind::file, directory_.file("fifo")};
  ASSERT_EQ(::mkfifo(spec.out.path.c_str(), 0600), 0);
  EXPECT_EQ(run(spec).code, 126);
}

// Our own standard output is the test's, so another process takes the part of the daemon.
TEST_F(OutputTest, InheritedOutputGoesWhereTheDaemonsGoes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t daemon = ::fork();
  if (daemon == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    RunSpec spec = shell("r1", "echo one; echo two >&2");
    spec.out = spec.err = {OutputKind::inherit};
    ::_exit(run(spec).code.value_or(99));
  }
  ::close(ends[1]);
  std::string text;
  char part[64];
  for (ssize_t got = ::read(ends[0], part, sizeof part); got > 0; got = ::read(ends[0], part, sizeof part)) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(daemon, &status, 0), daemon);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text, "one\ntwo\n");
}

TEST_F(OutputTest, OfTooMuchTheEndIsKeptAndTheCutIsMarked) {
  RunSpec spec = shell("r1", "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done");
  spec.capture = 8192;
  const RunExit exit = run(spec);
  const std::string kept = output("r1");
  const std::string mark = kept.substr(0, kept.find('\n') + 1);
  EXPECT_LE(kept.size() - mark.size(), 8192U);
  EXPECT_GE(kept.size() - mark.size(), 2048U);
  const std::string tail = kept.substr(mark.size());
  EXPECT_EQ(mark, "[kron: " + std::to_string(exit.output_bytes - tail.size()) + " bytes cut here]\n");
  EXPECT_TRUE(tail.starts_with("line ")) << tail.substr(0, 20);
  EXPECT_TRUE(tail.ends_with("line 2998\nline 2999\n"));
}

TEST_F(OutputTest, AFloodStallsNeitherTheCommandNorItsTimeout) {
  RunSpec spec = shell("r1", "exec head -c 300000000 /dev/zero");
  EXPECT_EQ(run(spec).output_bytes, 300'000'000U);
  EXPECT_LE(std::filesystem::file_size(runner_->files().output_path("r1")), kDefaultCapture + 80);
  spec = shell("r2", "exec cat /dev/zero");
  spec.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(run(spec).reason, "timed out after 0.3s");
}

TEST_F(OutputTest, AFloodingDaemonLeftBehindDoesNotHoldTheRun) {
  const std::string told = make_fifo("told");
  const std::string go = make_fifo("go");
  start_and_open(
      shell("r1", "setsid sh -c 'echo $$ > " + told + "; exec cat /dev/zero' & read line < " + go + "; exit 3"));
  const pid_t daemon = std::stoi(read_fifo(told));
  write_fifo(go, "go\n");
  EXPECT_EQ(wait_for("r1").code, 3);
  ::kill(daemon, SIGKILL);
}

TEST_F(OutputTest, WhatWasWrittenJustBeforeTheEndIsThere) {
  EXPECT_EQ(output_of_script(shell("r1", "head -c 60000 /dev/zero | tr '\\0' x")), std::string(60000, 'x'));
}

TEST_F(OutputTest, WithoutALoggerOutputToItIsDropped) {
  RunSpec spec = shell("r1", "echo one; echo two >&2");
  spec.out = spec.err = {OutputKind::syslog};
  EXPECT_EQ(run(spec).code, 0);
  EXPECT_EQ(output("r1"), "");
}

}  // namespace
}  // namespace kron::runner
