#include "kron/env/event_loop.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
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

TEST(EventLoop, SleepsUntilTimesThatNoTimerCanHold) {
  const RealClock clock;
  const Nanoseconds century = std::chrono::hours(24 * 365 * 100);
  for (const Nanoseconds offset : {Nanoseconds(0), century, -century, Nanoseconds(1) - Nanoseconds::max()}) {
    auto loop = EventLoop::create(offset).value();
    for (const Instant far : {instant_of(10'413'792'000), instant_of(std::int64_t{1} << 40), Instant::max()}) {
      loop->wake_at(far);
      const Nanoseconds at = clock.monotonic() + milliseconds(5);
      loop->wake_at_monotonic(at);
      EXPECT_TRUE(loop->wait());
      EXPECT_GE(clock.monotonic(), at) << far.time_since_epoch().count() << " woke it at once";
    }
  }
}

TEST(EventLoop, NoticesAClockThatWasSetWhileNobodyWaited) {
  bool is_set = false;
  const auto set_timer = [&](int timer, int flags, const itimerspec& at) {
    const bool done = EventLoop::set_timer(timer, flags, at);
    if (!is_set || (flags & TFD_TIMER_CANCEL_ON_SET) == 0) return done;
    is_set = false;
    errno = ECANCELED;  // as the kernel: the timer is set, and nothing else tells of the clock
    return false;
  };
  auto loop = EventLoop::create(Nanoseconds(0), set_timer).value();
  const Instant in_ten_years = now(RealClock()) + std::chrono::hours(24 * 365 * 10);
  is_set = true;
  loop->wake_at(in_ten_years);
  EXPECT_TRUE(loop->wait().value()) << "and it does not sleep";
  loop->wake_at_monotonic(RealClock().monotonic() + milliseconds(1));
  EXPECT_FALSE(loop->wait().value()) << "it tells of it once";
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
