#include "kron/web/login_limits.h"

#include <gtest/gtest.h>

namespace kron::web {
namespace {

TEST(LoginLimits, FiveAreFreeThenTheWaitDoublesUpToAMinute) {
  LoginLimits limits;
  Nanoseconds now{0};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limits.wrong("a", now), std::nullopt) << i;
  for (const int wait : {1, 2, 4, 8, 16, 32, 60, 60}) {
    EXPECT_EQ(limits.wrong("a", now), std::nullopt) << "the one that begins the wait is told";
    EXPECT_EQ(limits.wrong("a", now), Seconds(wait));
    EXPECT_EQ(limits.waits("a", now), Seconds(wait));
    EXPECT_EQ(limits.wrong("b" + std::to_string(wait), now), std::nullopt) << "others are none of it";
    now += Seconds(wait);
    EXPECT_EQ(limits.waits("a", now), std::nullopt);
  }
  limits.right("a");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limits.wrong("a", now), std::nullopt);
}

TEST(LoginLimits, OfAllTogetherTwentyInASecond) {
  LoginLimits limits;
  for (int i = 0; i < LoginLimits::kMostInASecond; ++i) {
    EXPECT_EQ(limits.wrong(std::to_string(i), Nanoseconds(0)), std::nullopt);
  }
  EXPECT_EQ(limits.wrong("more", Nanoseconds(1)), Seconds(1));
  EXPECT_EQ(limits.wrong("later", Seconds(1)), std::nullopt);
}

TEST(LoginLimits, AreNoPlaceToFillWithAddresses) {
  LoginLimits limits;
  for (std::size_t i = 0; i < LoginLimits::kMostAddresses + 10; ++i) {
    (void)limits.wrong(std::to_string(i), Seconds(static_cast<std::int64_t>(i)));
  }
  EXPECT_EQ(limits.waits("0", Nanoseconds(0)), std::nullopt);
}

}  // namespace
}  // namespace kron::web
