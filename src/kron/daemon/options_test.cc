#include "kron/daemon/options.h"

#include <gtest/gtest.h>

namespace kron::daemon {
namespace {

TEST(Options, AnOffsetMayHaveASign) {
  EXPECT_EQ(*parse_offset("36h"), Nanoseconds(std::chrono::hours(36)));
  EXPECT_EQ(*parse_offset("+1m30s"), Nanoseconds(Seconds(90)));
  EXPECT_EQ(*parse_offset("-500ms"), Nanoseconds(std::chrono::milliseconds(-500)));
  for (const char* wrong : {"", "-", "--1s", "1", "tomorrow"}) EXPECT_FALSE(parse_offset(wrong)) << wrong;
}

TEST(Options, AnOffsetKeepsTheClockInTheYearsOfSchedules) {
  const Instant machine = instant_of(1'800'000'000);
  EXPECT_TRUE(check_offset(kLastInstant - machine, machine));
  EXPECT_FALSE(check_offset(kLastInstant - machine + Seconds(1), machine));
  EXPECT_TRUE(check_offset(kFirstInstant - machine, machine));
  EXPECT_FALSE(check_offset(kFirstInstant - machine - Nanoseconds(1), machine));
  EXPECT_FALSE(check_offset(Nanoseconds::max(), machine));
}

}  // namespace
}  // namespace kron::daemon
