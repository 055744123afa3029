#include "kron/cluster/fence_watch.h"

#include <gtest/gtest.h>

namespace kron::cluster {
namespace {

bool is_loss(FenceWatch& watch, std::uint64_t fence) {
  Heading heading;
  heading.fence = fence;
  return watch.note(heading).has_value();
}

TEST(FenceWatch, NoticesACounterThatHasGoneBackOnceUntilItIsRaised) {
  FenceWatch watch;
  EXPECT_FALSE(is_loss(watch, 40));
  EXPECT_FALSE(is_loss(watch, 47));
  EXPECT_TRUE(is_loss(watch, 46));
  EXPECT_TRUE(watch.needs_raise());
  EXPECT_FALSE(is_loss(watch, 46));
  EXPECT_FALSE(is_loss(watch, 47 + RaiseCall::kJump));
  EXPECT_FALSE(watch.needs_raise());
  EXPECT_TRUE(is_loss(watch, 46)) << "another loss";
}

TEST(FenceWatch, NoticesAJumpThatAHostHasMadeThatHadSeenLess) {
  FenceWatch watch;
  EXPECT_FALSE(is_loss(watch, 103));
  EXPECT_TRUE(is_loss(watch, 100 + RaiseCall::kJump));
}

TEST(FenceWatch, TakesWhatIsGrantedInAWhileForNoJump) {
  FenceWatch watch;
  EXPECT_FALSE(is_loss(watch, 5'000'000)) << "the first that it sees";
  EXPECT_FALSE(is_loss(watch, 5'000'000 + FenceWatch::kFar - 1));
}

}  // namespace
}  // namespace kron::cluster
