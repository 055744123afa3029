#include "kron/runner/exec/command.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::exec {
namespace {

class CommandTest : public ::testing::Test {
 protected:
  // In a process of its own, which plays kron-exec: starts a command that would leave a file, and waits for it.
  [[noreturn]] void be_parent() {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    Instructions instructions;
    char* arguments[] = {command_.data(), mark_.data(), nullptr};
    char* variables[] = {nullptr};
    instructions.arguments = arguments;
    instructions.variables = variables;
    instructions.directory = "/";
    Refusal refusal;
    const pid_t command = start_command(instructions, {0, 1, 2}, RunCgroup(nullptr, ""), -1, refusal);
    ::waitpid(command, nullptr, 0);
    ::_exit(0);
  }

  runner::TemporaryDirectory directory_;
  std::string command_ = "/usr/bin/touch";
  std::string mark_ = directory_.file("executed");
};

// The signal that would end the command with us is asked for by the command's own process: we may be dead by then.
TEST_F(CommandTest, IsNotExecutedWhenItsParentDiedBeforeItCouldBeWatched) {
  const pid_t parent = ::fork();
  if (parent == 0) be_parent();
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_TRUE(WIFSTOPPED(status));
  // ThreadSanitizer makes a fork of a vfork.
  ASSERT_EQ(::ptrace(PTRACE_SETOPTIONS, parent, nullptr, PTRACE_O_TRACEVFORK | PTRACE_O_TRACEFORK), 0);
  ASSERT_EQ(::ptrace(PTRACE_CONT, parent, nullptr, nullptr), 0);
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_THAT(status >> 8, ::testing::AnyOf(SIGTRAP | (PTRACE_EVENT_VFORK << 8), SIGTRAP | (PTRACE_EVENT_FORK << 8)));
  unsigned long message = 0;
  ASSERT_EQ(::ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &message), 0);
  const auto child = static_cast<pid_t>(message);
  ASSERT_EQ(::waitpid(child, &status, __WALL), child);  // it stops before its first instruction
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_EQ(::ptrace(PTRACE_CONT, child, nullptr, nullptr), 0);
  // We see its end because we trace it, whoever is its parent now.
  while (::waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  }
  EXPECT_FALSE(std::filesystem::exists(mark_));
}

}  // namespace
}  // namespace kron::exec
