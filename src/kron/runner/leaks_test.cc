#include <csignal>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kron/runner/fake/runner_fixture.h"
#include "kron/testing/scale.h"

namespace kron::runner {
namespace {

class LeaksTest : public RunnerFixture {
 protected:
  static std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  // Processes that have ended and that nobody has reaped among them; the one that stays to fork itself is none of them.
  bool has_children() const {
    std::ifstream children("/proc/thread-self/children");
    pid_t child = 0;
    while (children >> child) {
      if (child != runner_->fork_server()) return true;
    }
    return false;
  }

  // Ends the test's process, which is a child of its own: 0 when all is well.
  template <class Body>
  static int in_a_process_of_its_own(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      body();
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(LeaksTest, DescriptorsAndProcessesAreFlatOverManyRuns) {
  const int status = in_a_process_of_its_own([this] {
    run(shell("first", "echo text"));
    const std::size_t before = open_descriptors();
    for (int round = 0; round < kron::testing::scaled(10); ++round) {
      std::vector<std::string> ids;
      for (int i = 0; i < 20; ++i) ids.push_back("r" + std::to_string(round) + "-" + std::to_string(i));
      for (const std::string& id : ids) start({.run_id = id, .command = {"/bin/echo", id}});
      runner_->abandon(ids.back());
      ids.pop_back();
      for (const std::string& id : ids) EXPECT_TRUE(runner_->open_gate(id));
      for (const std::string& id : ids) EXPECT_EQ(wait_for(id).code, 0);
    }
    while (runner_->alive() > 0) {
      pollfd event{runner_->descriptor(), POLLIN, 0};
      ASSERT_EQ(::poll(&event, 1, kPatience), 1);
      EXPECT_TRUE(runner_->drain_exits().empty());
    }
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(has_children());
  });
  EXPECT_EQ(status, 0);
}

TEST_F(LeaksTest, AsTheProcessThatGetsTheOrphansItReapsThemAndLosesNoRun) {
  const int status = in_a_process_of_its_own([this] {
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    start_daemon({.reaps_orphans = true});
    const pid_t orphan = ::fork();
    if (orphan == 0) ::_exit(0);
    const ProcessIdentity held = start(shell("held", "true"));
    start(shell("abandoned", "true"));
    for (int i = 0; i < 20; ++i) start_and_open(shell("r" + std::to_string(i), "true & true"));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(wait_for("r" + std::to_string(i)).code, 0);
    runner_->abandon("abandoned");
    ::kill(held.pid, SIGKILL);
    while (has_children()) {
      pollfd event{runner_->descriptor(), POLLIN, 0};
      ASSERT_EQ(::poll(&event, 1, kPatience), 1);
      EXPECT_TRUE(runner_->drain_exits().empty());
    }
    EXPECT_FALSE(runner_->open_gate("held"));
    EXPECT_EQ(wait_for("held").code, std::nullopt);
    EXPECT_EQ(runner_->alive(), 0U);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kron::runner
