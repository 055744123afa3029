#include "kron/env/fake/fake_process_runner.h"

#include <gtest/gtest.h>

namespace kron::testing {
namespace {

using namespace std::chrono_literals;

RunSpec run(std::string id) { return {.run_id = std::move(id), .command = {"true"}}; }

class FakeProcessRunnerTest : public ::testing::Test {
 protected:
  void start_and_open(const std::string& id) {
    ASSERT_TRUE(runner_.start(run(id)));
    ASSERT_TRUE(runner_.open_gate(id));
  }
  void behave(Behaviour behaviour) {
    runner_.behave([behaviour](const RunSpec&) { return behaviour; });
  }

  using Ids = std::vector<std::string>;
  FakeProcessRunner runner_;
};

TEST_F(FakeProcessRunnerTest, NothingRunsBeforeItsGateIsOpen) {
  ASSERT_TRUE(runner_.start(run("a")));
  runner_.advance(1h);
  EXPECT_EQ(runner_.executed(), Ids{});
  ASSERT_TRUE(runner_.open_gate("a"));
  EXPECT_EQ(runner_.executed(), Ids{"a"});
  EXPECT_FALSE(runner_.open_gate("a"));
}

TEST_F(FakeProcessRunnerTest, AnAbandonedRunExecutesNothingAndReportsNothing) {
  ASSERT_TRUE(runner_.start(run("a")));
  runner_.abandon("a");
  EXPECT_FALSE(runner_.open_gate("a"));
  EXPECT_EQ(runner_.alive(), 0U);
  EXPECT_TRUE(runner_.drain_exits().empty());
}

TEST_F(FakeProcessRunnerTest, ExitsComeOnceInTheOrderTheyHappened) {
  runner_.behave([](const RunSpec& spec) {
    return spec.run_id == "a" ? Behaviour{.runs_for = 9s} : Behaviour{.runs_for = 5s, .exit_code = 3};
  });
  start_and_open("a");
  start_and_open("b");
  EXPECT_EQ(runner_.next_end(), 5s);
  runner_.advance(10s);
  EXPECT_EQ(runner_.drain_exits(), (std::vector<RunExit>{{"b", 3, {}}, {"a", 0, {}}}));
  EXPECT_TRUE(runner_.drain_exits().empty());
}

TEST_F(FakeProcessRunnerTest, TermEndsWhatDoesNotIgnoreItAndKillAllButTheUnkillable) {
  behave({.runs_for = 1h});
  start_and_open("polite");
  behave({.runs_for = 1h, .ignores_term = true});
  start_and_open("stubborn");
  behave({.runs_for = 1h, .unkillable = true});
  start_and_open("stuck");
  for (const char* id : {"polite", "stubborn", "stuck"}) runner_.terminate(id);
  EXPECT_EQ(runner_.drain_exits(), (std::vector<RunExit>{{"polite", 143, {}}}));
  for (const char* id : {"polite", "stubborn", "stuck"}) runner_.kill(id);
  EXPECT_EQ(runner_.drain_exits(), (std::vector<RunExit>{{"stubborn", 137, {}}}));
  EXPECT_EQ(runner_.alive(), 1U);
}

TEST_F(FakeProcessRunnerTest, StartsAndGatesCanFail) {
  runner_.fail_next_start({Code::io, "no more processes"});
  EXPECT_FALSE(runner_.start(run("a")));
  ASSERT_TRUE(runner_.start(run("b")));
  runner_.fail_next_gate();
  EXPECT_FALSE(runner_.open_gate("b"));
  EXPECT_EQ(runner_.executed(), Ids{});
  EXPECT_EQ(runner_.drain_exits(), (std::vector<RunExit>{{"b", std::nullopt, {}, true}}));
}

TEST_F(FakeProcessRunnerTest, AnIgnoredTermIsFollowedByKillAfterTheGraceEvenWithoutADaemon) {
  behave({.runs_for = 1h, .ignores_term = true});
  RunSpec spec = run("a");
  spec.grace = 7s;
  const ProcessIdentity identity = runner_.start(spec).value();
  ASSERT_TRUE(runner_.open_gate("a"));
  runner_.terminate("a");
  EXPECT_EQ(runner_.next_end(), 7s);
  runner_.daemon_dies();
  runner_.advance(7s);
  EXPECT_EQ(runner_.adopt("a", identity), (RunExit{"a", 137, {}}));
}

TEST_F(FakeProcessRunnerTest, WhenTheDaemonDiesGatesCloseAndCommandsGoOn) {
  behave({.runs_for = 5s, .exit_code = 4});
  const ProcessIdentity held = runner_.start(run("held")).value();
  const ProcessIdentity ended = runner_.start(run("ended")).value();
  ASSERT_TRUE(runner_.open_gate("ended"));
  behave({.runs_for = 1h});
  const ProcessIdentity running = runner_.start(run("running")).value();
  ASSERT_TRUE(runner_.open_gate("running"));
  runner_.daemon_dies();
  runner_.advance(10s);

  EXPECT_TRUE(runner_.drain_exits().empty()) << "nobody is told about runs it has not adopted";
  EXPECT_EQ(runner_.adopt("held", held), (RunExit{"held", std::nullopt, {}, true}));
  EXPECT_EQ(runner_.adopt("ended", ended), (RunExit{"ended", 4, {}}));
  EXPECT_EQ(runner_.adopt("running", running), std::nullopt);
  runner_.advance(1h);
  EXPECT_EQ(runner_.drain_exits(), (std::vector<RunExit>{{"running", 0, {}}}));
  EXPECT_EQ(runner_.executed(), (Ids{"ended", "running"}));
}

TEST_F(FakeProcessRunnerTest, WhenTheMachineDiesNothingIsAlive) {
  behave({.runs_for = 1h});
  const ProcessIdentity identity = runner_.start(run("a")).value();
  ASSERT_TRUE(runner_.open_gate("a"));
  runner_.machine_dies();
  EXPECT_EQ(runner_.alive(), 0U);
  EXPECT_EQ(runner_.adopt("a", identity), (RunExit{"a", std::nullopt, {}}));
  EXPECT_NE(runner_.start(run("b"))->boot_id, identity.boot_id);
}

TEST_F(FakeProcessRunnerTest, AReusedPidIsAnotherProcess) {
  behave({.runs_for = 5s, .vanishes = true});
  const ProcessIdentity first = runner_.start(run("a")).value();
  ASSERT_TRUE(runner_.open_gate("a"));
  runner_.advance(5s);
  EXPECT_EQ(runner_.drain_exits(), (std::vector<RunExit>{{"a", std::nullopt, {}}}));
  runner_.reuse_pid(first.pid);
  const ProcessIdentity second = runner_.start(run("b")).value();
  EXPECT_EQ(second.pid, first.pid);
  EXPECT_NE(second, first);
  EXPECT_EQ(runner_.adopt("b", first), (RunExit{"b", std::nullopt, {}}));
}

TEST_F(FakeProcessRunnerTest, ACopyIsAnotherMachineWithTheSameHistory) {
  ASSERT_TRUE(runner_.start(run("a")));
  FakeProcessRunner copy = runner_;
  ASSERT_TRUE(copy.open_gate("a"));
  EXPECT_EQ(runner_.executed(), Ids{});
  EXPECT_EQ(copy.executed(), Ids{"a"});
}

}  // namespace
}  // namespace kron::testing
