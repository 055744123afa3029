#include "kron/daemon/claimed_tasks.h"

#include <gtest/gtest.h>

namespace kron::daemon {
namespace {

TEST(ClaimedTasks, ARunThatIsLetGoHasEnded) {
  int rings = 0;
  ClaimedTasks tasks([&] { ++rings; });
  tasks.hold("r1", {"t1", "MAIL", "null"});
  tasks.hold("r2", {"t2", "MAIL", "null"});
  EXPECT_TRUE(tasks.drain_exits().empty()) << "nothing has been recorded yet";
  EXPECT_EQ(rings, 0);

  tasks.release("r1");
  tasks.abandon("r2");
  tasks.release("r2");
  EXPECT_EQ(rings, 1);
  const std::vector<RunExit> exits = tasks.drain_exits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].run_id, "r1");
  EXPECT_EQ(exits[0].code, 0);
  EXPECT_EQ(exits[0].reason, "submitted as task t1");
  EXPECT_TRUE(tasks.drain_exits().empty()) << "each end once";
}

TEST(ClaimedTasks, ARunOfAnEarlierDaemonWasOverWhenItWasClaimed) {
  ClaimedTasks tasks([] {});
  tasks.resume("r1", {"t1", "MAIL", "null"});
  ASSERT_EQ(tasks.drain_exits().size(), 1U);
}

}  // namespace
}  // namespace kron::daemon
