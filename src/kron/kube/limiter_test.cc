#include "kron/kube/limiter.h"

#include <gtest/gtest.h>

#include "kron/testing/property.h"

namespace kron::kube {
namespace {

using Ids = std::vector<Limiter::Id>;
using std::chrono::milliseconds;

constexpr Limiter::Options kTwoASecond{.per_second = 2, .burst = 3};

TEST(Limiter, LetsABurstThroughAndThenSoManyASecond) {
  Limiter limiter(kTwoASecond);
  for (Limiter::Id id = 1; id <= 6; ++id) limiter.enqueue(CallClass::write, id, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0)).now, (Ids{1, 2, 3}));
  EXPECT_EQ(limiter.next(Seconds(0)), milliseconds(500));
  EXPECT_EQ(limiter.release(milliseconds(499)).now, Ids{});
  EXPECT_EQ(limiter.release(milliseconds(500)).now, Ids{4});
  EXPECT_EQ(limiter.release(milliseconds(1500)).now, (Ids{5, 6}));
  EXPECT_EQ(limiter.next(milliseconds(1500)), std::nullopt);
}

TEST(Limiter, SavesNoMoreThanABurst) {
  Limiter limiter(kTwoASecond);
  EXPECT_EQ(limiter.release(Seconds(0)).now, Ids{});
  for (Limiter::Id id = 1; id <= 6; ++id) limiter.enqueue(CallClass::write, id, Seconds(1000));
  EXPECT_EQ(limiter.release(Seconds(1000)).now.size(), 3U);
}

TEST(Limiter, ServesTheClassesInTheirOrder) {
  Limiter limiter({.per_second = 1, .burst = 2});
  limiter.enqueue(CallClass::event, 1, Seconds(0));
  limiter.enqueue(CallClass::remove, 2, Seconds(0));
  limiter.enqueue(CallClass::write, 3, Seconds(0));
  limiter.enqueue(CallClass::lease, 4, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0)).now, (Ids{4, 3, 2}));
  EXPECT_EQ(limiter.release(Seconds(1)).now, Ids{1});
}

TEST(Limiter, NeverHoldsUpTheLease) {
  Limiter limiter({.per_second = 0.001, .burst = 1});
  limiter.hold(CallClass::lease, Seconds(100));
  for (Limiter::Id id = 1; id <= 5; ++id) limiter.enqueue(CallClass::lease, id, Seconds(0));
  EXPECT_EQ(limiter.next(Seconds(0)), Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0)).now.size(), 5U);
}

TEST(Limiter, TheLeaseWaitsForNothingAndTakesNothingAway) {
  Limiter limiter({.per_second = 0.001, .burst = 2});
  for (Limiter::Id id = 1; id <= 3; ++id) limiter.enqueue(CallClass::write, id, Seconds(0));
  limiter.enqueue(CallClass::lease, 11, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0), 1).now, (Ids{11, 1})) << "it is before those who came first";
  limiter.enqueue(CallClass::lease, 12, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0), 1).now, (Ids{12, 2})) << "none of the burst is the lease's";
  for (const CallClass of : {CallClass::lease, CallClass::write}) limiter.hold(of, Seconds(60));
  limiter.enqueue(CallClass::lease, 13, Seconds(1));
  EXPECT_EQ(limiter.next(Seconds(1)), Seconds(1));
  EXPECT_EQ(limiter.release(Seconds(1), 0).now, Ids{13}) << "no token, no room, and a pause that the server asked for";
}

TEST(Limiter, StopsAClassForAsLongAsTheServerAsks) {
  Limiter limiter(kTwoASecond);
  limiter.hold(CallClass::write, Seconds(7));
  limiter.hold(CallClass::write, Seconds(5));  // the longer of two counts
  limiter.enqueue(CallClass::write, 1, Seconds(0));
  limiter.enqueue(CallClass::remove, 2, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0)).now, Ids{2});
  EXPECT_EQ(limiter.next(Seconds(0)), Seconds(7));
  EXPECT_EQ(limiter.release(Seconds(6)).now, Ids{});
  EXPECT_EQ(limiter.release(Seconds(7)).now, Ids{1});
}

TEST(Limiter, ReleasesNoMoreThanThereIsRoomFor) {
  Limiter limiter({.per_second = 100, .burst = 10});
  limiter.enqueue(CallClass::remove, 1, Seconds(0));
  for (Limiter::Id id = 2; id <= 4; ++id) limiter.enqueue(CallClass::write, id, Seconds(0));
  limiter.enqueue(CallClass::lease, 5, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0), 0).now, Ids{5});
  EXPECT_EQ(limiter.release(Seconds(0), 2).now, (Ids{2, 3}));
  limiter.enqueue_first(CallClass::write, 6, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0), 9).now, (Ids{6, 4, 1}));
}

TEST(Limiter, DropsEventsThatAreLate) {
  Limiter limiter(kTwoASecond);
  limiter.hold(CallClass::event, Seconds(60));
  limiter.enqueue(CallClass::event, 1, Seconds(0));
  limiter.enqueue(CallClass::event, 2, Seconds(8));
  EXPECT_EQ(limiter.next(Seconds(0)), Seconds(10) + Nanoseconds(1));
  EXPECT_EQ(limiter.release(Seconds(10)).dropped, Ids{});
  EXPECT_EQ(limiter.release(Seconds(11)).dropped, Ids{1});
  EXPECT_EQ(limiter.waiting(), 1U);
}

TEST(Limiter, EventsGiveWayToWhatIsUnderWayButNotForEver) {
  Limiter limiter({.per_second = 100, .burst = 100});
  limiter.others_work(true);
  limiter.enqueue(CallClass::event, 1, Seconds(0));
  limiter.enqueue(CallClass::event, 2, milliseconds(700));
  limiter.enqueue(CallClass::remove, 3, Seconds(0));
  EXPECT_EQ(limiter.release(Seconds(0)).now, Ids{3});
  EXPECT_EQ(limiter.next(Seconds(0)), Seconds(1)) << "and nobody need ask before";
  EXPECT_EQ(limiter.release(milliseconds(999)).now, Ids{});
  EXPECT_EQ(limiter.release(Seconds(1)).now, Ids{1});
  limiter.others_work(false);
  EXPECT_EQ(limiter.next(Seconds(1)), Seconds(1));
  EXPECT_EQ(limiter.release(Seconds(1)).now, Ids{2});
}

TEST(Limiter, ForgetsWhatIsWithdrawn) {
  Limiter limiter(kTwoASecond);
  limiter.enqueue(CallClass::write, 1, Seconds(0));
  limiter.enqueue(CallClass::write, 2, Seconds(0));
  limiter.withdraw(1);
  EXPECT_EQ(limiter.release(Seconds(0)).now, Ids{2});
}

// However the times are spaced: never more than burst + rate × time, each call once, and next() is never too late.
TEST(Limiter, KeepsItsPromiseOverAnyTimes) {
  testing::for_all(200, [](const std::vector<std::uint16_t>& pauses) {
    Limiter limiter({.per_second = 5, .burst = 4});
    Nanoseconds now(0);
    std::size_t enqueued = 0;
    std::size_t made = 0;
    for (const std::uint16_t pause : pauses) {
      now += milliseconds(pause % 2000);
      limiter.enqueue(CallClass::write, ++enqueued, now);
      limiter.enqueue(CallClass::remove, ++enqueued, now);
      made += limiter.release(now).now.size();
      RC_ASSERT(static_cast<double>(made) <= 4 + 5 * std::chrono::duration<double>(now).count() + 1e-6);
    }
    while (made < enqueued) {
      const auto next = limiter.next(now);
      RC_ASSERT(next.has_value());
      RC_ASSERT(*next - now <= milliseconds(201));
      now = std::max(now, *next);
      const auto released = limiter.release(now).now.size();
      RC_ASSERT(released > 0U);
      made += released;
    }
    RC_ASSERT(limiter.waiting() == 0U);
  });
}

}  // namespace
}  // namespace kron::kube
