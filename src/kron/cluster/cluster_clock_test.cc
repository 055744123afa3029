#include "kron/cluster/cluster_clock.h"

#include <gtest/gtest.h>

#include "kron/env/fake/fake_clock.h"

namespace kron::cluster {
namespace {

using namespace std::chrono_literals;

class ClusterClockTest : public ::testing::Test {
 protected:
  // Redis said `time` (since the epoch) while this machine's boot clock went from `sent` to `received`.
  void sample(Nanoseconds time, Nanoseconds sent, Nanoseconds received) { clock.note({time, sent, received}); }

  kron::testing::FakeClock host{instant_of(5'000)};  // its boot clock begins at 0
  ClusterClock clock{host};
};

TEST_F(ClusterClockTest, IsNotSetBeforeTheFirstSample) {
  EXPECT_FALSE(clock.is_set());
  sample(1000s, 0s, 0s);
  EXPECT_TRUE(clock.is_set());
}

TEST_F(ClusterClockTest, IsRedisTimeCarriedByTheBootClock) {
  sample(1000s, 0s, 0s);
  host.advance(3s);
  host.jump(1h);  // whatever the host's own clock does
  EXPECT_EQ(clock.wall().time_since_epoch(), 1003s);
}

TEST_F(ClusterClockTest, BeginsRatherBehindThanAhead) {
  host.advance(2s);
  sample(1000s, 0s, 2s);  // it was 1000 s at some moment between
  EXPECT_EQ(clock.wall().time_since_epoch(), 1000s);
}

TEST_F(ClusterClockTest, MovesOnlyWhenItIsProvenWrong) {
  sample(1000s, 0s, 0s);
  sample(1001s, 0s, 5s);  // 996 to 1001 s at zero: as it says
  EXPECT_EQ(clock.wall().time_since_epoch(), 1000s);
  sample(1003s, 0s, 1s);  // 1002 to 1003 s at zero: it is behind
  EXPECT_EQ(clock.wall().time_since_epoch(), 1002s);
  sample(990s, 0s, 1s);  // 989 to 990 s at zero: Redis's clock was set back
  EXPECT_EQ(clock.wall().time_since_epoch(), 990s);
}

TEST_F(ClusterClockTest, TellsHowFarItIsAheadOfTheHost) {
  EXPECT_EQ(clock.ahead_of_host(), 0s);
  sample(5'002s, 0s, 0s);
  EXPECT_EQ(clock.ahead_of_host(), 2s);
}

}  // namespace
}  // namespace kron::cluster
