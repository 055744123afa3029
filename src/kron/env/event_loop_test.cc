#include "kron/env/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "kron/env/clock.h"

namespace kron {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, WakesAtOnceForATimeThatIsPast) {
  auto loop = EventLoop::create(Nanoseconds(0)).value();
  loop->wake_at(Instant(Seconds(1)));
  EXPECT_FALSE(loop->wait().value());
  loop->wake_at(Instant(Seconds(-5)));
  EXPECT_FALSE(loop->wait().value());
}

TEST(EventLoop, WakesAtATimeOfTheShiftedClock) {
  const Nanoseconds offset = std::chrono::hours(24 * 365);
  const RealClock clock(offset);
  auto loop = EventLoop::create(offset).value();
  const Instant at = now(clock) + Seconds(1);
  loop->wake_at(at);
  EXPECT_FALSE(loop->wait().value());
  EXPECT_GE(clock.wall(), at);
}

TEST(EventLoop, WakesAtAMonotonicTime) {
  const RealClock clock;
  auto loop = EventLoop::create(Nanoseconds(0)).value();
  const Nanoseconds at = clock.monotonic() + milliseconds(30);
  loop->wake_at_monotonic(at);
  EXPECT_TRUE(loop->wait());
  EXPECT_GE(clock.monotonic(), at);
}

TEST(EventLoop, SetsATimerAgainThatHasGoneOff) {
  auto loop = EventLoop::create(Nanoseconds(0)).value();
  for (int i = 0; i < 3; ++i) {
    loop->wake_at(Instant(Seconds(1)));
    EXPECT_TRUE(loop->wait());
  }
}

TEST(EventLoop, HandsSignalsOver) {
  auto loop = EventLoop::create(Nanoseconds(0)).value();
  std::vector<int> taken;
  ASSERT_TRUE(loop->take_signals({SIGUSR1, SIGUSR2}, [&](int signal) { taken.push_back(signal); }));
  ::raise(SIGUSR2);
  ASSERT_TRUE(loop->wait());
  EXPECT_EQ(taken, std::vector<int>{SIGUSR2});
}

TEST(EventLoop, CallsTheHandlerOfAReadableDescriptorUntilItIsUnwatched) {
  auto loop = EventLoop::create(Nanoseconds(0)).value();
  const Descriptor event(::eventfd(1, EFD_CLOEXEC));
  int calls = 0;
  ASSERT_TRUE(loop->watch(event.get(), [&] { ++calls; }));
  ASSERT_TRUE(loop->wait());
  ASSERT_TRUE(loop->wait());
  EXPECT_EQ(calls, 2);
  loop->unwatch(event.get());
  loop->wake_at(Instant(Seconds(1)));
  ASSERT_TRUE(loop->wait());
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace kron
