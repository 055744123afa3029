#include "kron/env/clock.h"

#include <gtest/gtest.h>

#include "kron/env/fake/fake_clock.h"

namespace kron {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;

constexpr Instant kStart = instant_of(1'767'225'600);

TEST(RealClock, AgreesWithTheSystemAndNeverGoesBack) {
  const RealClock clock;
  const auto system_time = std::chrono::system_clock::now();
  EXPECT_LT(std::chrono::abs(clock.wall() - system_time), 10s);
  const Nanoseconds monotonic = clock.monotonic();
  const Nanoseconds boot_time = clock.boot_time();
  EXPECT_LE(monotonic, clock.monotonic());
  EXPECT_LE(boot_time, clock.boot_time());
  EXPECT_GE(boot_time + 1s, monotonic);
  EXPECT_EQ(clock.boot_id().size(), 36U);
  EXPECT_EQ(clock.boot_id(), RealClock().boot_id());
}

TEST(RealClock, OffsetShiftsTheWallClockOnly) {
  const RealClock shifted(1h);
  const RealClock plain;
  const Nanoseconds wall = shifted.wall() - plain.wall();
  EXPECT_LT(std::chrono::abs(wall - 1h), 10s);
  EXPECT_LT(std::chrono::abs(shifted.boot_time() - plain.boot_time()), 10s);
}

TEST(FakeClock, AdvanceMovesAllJumpTheWallSleepNotTheMonotonic) {
  FakeClock clock(kStart);
  clock.advance(10s);
  clock.jump(-1h);
  clock.sleep(5s);
  EXPECT_EQ(clock.wall(), kStart + 15s - 1h);
  EXPECT_EQ(clock.monotonic(), 10s);
  EXPECT_EQ(clock.boot_time(), 15s);
}

TEST(FakeClock, RebootStartsAnotherBoot) {
  FakeClock clock(kStart);
  const std::string before = clock.boot_id();
  clock.advance(10s);
  clock.reboot(90s);
  EXPECT_NE(clock.boot_id(), before);
  EXPECT_EQ(clock.boot_time(), 0s);
  EXPECT_EQ(clock.wall(), kStart + 100s);
}

TEST(Clock, NowIsTheWallClockFlooredToTheSecond) {
  FakeClock clock(kStart);
  clock.advance(999ms);
  EXPECT_EQ(now(clock), kStart);
  clock.jump_to(WallTime(-1ms));
  EXPECT_EQ(now(clock), instant_of(-1));
}

}  // namespace
}  // namespace kron
