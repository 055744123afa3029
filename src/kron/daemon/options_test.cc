#include "kron/daemon/options.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(Options, ThePlacesOfRootAreTheSystems) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_EQ(*default_config(), "/etc/krond.d");
  EXPECT_EQ(*default_state_directory(), "/var/lib/krond");
}

TEST(Options, APathIsTakenFromTheDirectoryWeAreIn) {
  EXPECT_EQ(absolute_path("/a/../b"), "/b");
  EXPECT_TRUE(absolute_path("jobs").ends_with("/jobs"));
  EXPECT_TRUE(absolute_path("jobs").starts_with("/"));
}

}  // namespace
}  // namespace kron::daemon
