#include <fstream>
#include <gmock/gmock.h>

#include "kron/runner/cgroups.h"
#include "kron/runner/exec/command.h"
#include "kron/runner/exec/run_cgroup.h"
#include "kron/runner/fake/runner_fixture.h"
#include "kron/runner/protocol.h"

// Limits of a whole run. What the kernel does with them needs a machine whose controllers are cgroup v2's; the files
// are the same in any directory.
namespace kron::runner {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class RunLimitsTest : public RunnerFixture {
 protected:
  void put(const std::string& name, const std::string& content) { std::ofstream(directory_.file(name)) << content; }
  std::string get(const std::string& name) { return contents(directory_.file(name)); }
  int opened() {
    if (!opened_) opened_ = Descriptor(::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return opened_.get();
  }

 private:
  Descriptor opened_;
};

TEST_F(RunLimitsTest, AreWrittenAsTheKernelReadsThem) {
  for (const char* name : {"memory.max", "memory.oom.group", "pids.max", "cpu.max"}) put(name, "");
  ProcessSettings settings;
  EXPECT_EQ(exec::write_run_limits(opened(), settings), nullptr);
  EXPECT_EQ(get("memory.max") + get("memory.oom.group") + get("pids.max") + get("cpu.max"), "");
  settings.memory_max = 512 << 20;
  settings.tasks_max = 100;
  settings.cpu_max = 150;
  EXPECT_EQ(exec::write_run_limits(opened(), settings), nullptr);
  EXPECT_EQ(get("memory.max"), "536870912");
  EXPECT_EQ(get("memory.oom.group"), "1");
  EXPECT_EQ(get("pids.max"), "100");
  EXPECT_EQ(get("cpu.max"), "150000 100000");
  settings = {};
  settings.cpu_max = kMostCpuMax;
  put("cpu.max", "");
  EXPECT_EQ(exec::write_run_limits(opened(), settings), nullptr);
  EXPECT_EQ(get("cpu.max"), "100000000 100000");
}

TEST_F(RunLimitsTest, OneThatCannotBeSetIsNamed) {
  ProcessSettings settings;
  settings.memory_max = 512 << 20;
  EXPECT_STREQ(exec::write_run_limits(opened(), settings), "memory_max");
  put("memory.max", "");
  EXPECT_EQ(exec::write_run_limits(opened(), settings), nullptr);  // older kernels have no memory.oom.group
  settings.tasks_max = 5;
  EXPECT_STREQ(exec::write_run_limits(opened(), settings), "tasks_max");
  put("pids.max", "");
  settings.cpu_max = 50;
  EXPECT_STREQ(exec::write_run_limits(opened(), settings), "cpu_max");
}

TEST_F(RunLimitsTest, TheNumberOfAnEventIsRead) {
  const auto killed = [&] { return exec::number_after(opened(), "memory.events", "oom_kill "); };
  EXPECT_EQ(killed(), 0U);
  put("memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n");
  EXPECT_EQ(killed(), 2U);
  put("memory.events", "oom_kill 7\n");
  EXPECT_EQ(killed(), 7U);
  put("memory.events", "low 0\n");
  EXPECT_EQ(killed(), 0U);
  put("memory.events", "");
  EXPECT_EQ(killed(), 0U);
}

TEST_F(RunLimitsTest, WithoutACgroupARunIsNotExecuted) {
  RunSpec spec = shell("r1", "echo ran");
  spec.process.memory_max = 64 << 20;
  spec.process.tasks_max = 5;
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, kCannotExecute);
  EXPECT_THAT(exit.reason,
              HasSubstr("cannot set memory_max (memory), tasks_max (pids) of the run: krond has no cgroup"));
  EXPECT_EQ(output("r1"), "");
}

TEST_F(RunLimitsTest, WithoutTheControllerARunIsNotExecuted) {
  put("cgroup.subtree_control", "cpuset memory io pids\n");
  start_daemon({.cgroup = directory_.path()});
  RunSpec spec = shell("r1", "echo ran");
  spec.process.cpu_max = 50;
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, kCannotExecute);
  EXPECT_THAT(exit.reason, HasSubstr("cannot set cpu_max (cpu) of the run: its controller is not to be had below"));
}

// kron-exec trusts nobody that the limits hold.
TEST_F(RunLimitsTest, WhereTheFilesAreMissingARunIsNotExecuted) {
  put("cgroup.subtree_control", "memory pids cpu\n");
  start_daemon({.cgroup = directory_.path()});
  RunSpec spec = shell("r1", "echo ran");
  spec.process.tasks_max = 50;
  const RunExit exit = run(spec);
  EXPECT_EQ(exit.code, kCannotExecute);
  EXPECT_THAT(exit.reason, HasSubstr("cannot set tasks_max of the run: No such file or directory"));
  EXPECT_EQ(output("r1"), "[kron: " + exit.reason + "]\n");
}

TEST_F(RunLimitsTest, ACommandThatCannotBePutIntoItsCgroupIsNotExecuted) {
  exec::Instructions instructions;
  char program[] = "/bin/true";
  instructions.arguments = instructions.few;
  instructions.arguments[0] = program;
  instructions.variables = instructions.few + 2;  // both end with a null
  instructions.directory = "/";
  instructions.process.tasks_max = 5;
  exec::Refusal refusal;
  // No cgroup at all, and a directory that is none.
  EXPECT_LT(exec::start_command(instructions, {0, 1, 2}, exec::RunCgroup(nullptr, "r1"), -1, refusal), 0);
  EXPECT_STREQ(refusal.object, "a process in a cgroup");
  const exec::RunCgroup fake(directory_.path().c_str(), "r1");
  EXPECT_LT(exec::start_command(instructions, {0, 1, 2}, fake, -1, refusal), 0);
  EXPECT_EQ(refusal.error, EBADF);
}

// Where the machine has them, as root on one whose controllers are all cgroup v2's.
class RealRunLimitsTest : public RunnerFixture {
 protected:
  void SetUp() override {
    const std::string own = find_own_cgroup();
    // Not turned on here: that would move processes of others.
    const Controllers found = controllers_in(contents(own + "/cgroup.subtree_control"));
    if (!found.memory || !found.pids) GTEST_SKIP() << "no cgroup v2 with memory and pids that we may divide";
    start_daemon({.cgroup = own});
  }
};

TEST_F(RealRunLimitsTest, TooMuchMemoryKillsTheWholeRun) {
  RunSpec spec = shell("r1", "head -c 200000000 /dev/zero | tail -c 190000000 > /dev/null; echo went on");
  spec.process.memory_max = 32 << 20;
  const RunExit exit = run(spec);
  EXPECT_NE(exit.code, 0);
  EXPECT_THAT(exit.reason, EndsWith(kOutOfMemory));
  EXPECT_EQ(output("r1"), "");
}

TEST_F(RealRunLimitsTest, ChildrenCountToo) {
  RunSpec spec = shell("r1", "for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait");
  spec.process.tasks_max = 4;
  const RunExit exit = run(spec);
  EXPECT_NE(exit.code, 0);
}

}  // namespace
}  // namespace kron::runner
