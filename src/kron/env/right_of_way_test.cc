#include "kron/env/right_of_way.h"

#include <atomic>
#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace kron {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

TEST(RightOfWay, HoldsNobodyUpWhileItIsNotTaken) {
  RightOfWay way(hours(1), hours(0));
  way.give_way();
  way.take();
  way.leave();
  way.give_way();
}

TEST(RightOfWay, OthersWaitUntilItIsLeft) {
  RightOfWay way(hours(1), hours(0));
  way.take();
  std::atomic<bool> is_left = false;
  std::promise<void> begun;
  std::jthread other([&] {
    begun.set_value();
    way.give_way();
    EXPECT_TRUE(is_left);
  });
  begun.get_future().wait();
  std::this_thread::sleep_for(milliseconds(20));  // for it to do wrong, if it does
  is_left = true;
  way.leave();
}

TEST(RightOfWay, HoldsOthersUpForSoLongAndThenAgain) {
  RightOfWay way(milliseconds(20), milliseconds(0));
  const auto begin = Steady::now();
  way.take();
  way.give_way();
  EXPECT_GE(Steady::now() - begin, milliseconds(20));
  way.give_way();
  EXPECT_GE(Steady::now() - begin, milliseconds(40));
}

TEST(RightOfWay, AfterAllTheirWaitingOthersNeedNotWaitForAWhile) {
  RightOfWay way(milliseconds(20), hours(1));
  way.take();
  way.give_way();
  way.leave();
  way.take();
  way.give_way();  // and does not take an hour
}

TEST(RightOfWay, OneWhoTakesItAgainAndAgainStarvesNobody) {
  RightOfWay way(milliseconds(1), milliseconds(1));
  std::jthread greedy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      way.take();
      way.leave();
    }
  });
  for (int i = 0; i < 100; ++i) way.give_way();
}

}  // namespace
}  // namespace kron
