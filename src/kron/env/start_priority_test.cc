#include "kron/env/start_priority.h"

#include <atomic>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>

namespace kron {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

TEST(StartPriority, HoldsNobodyUpWhileItIsNotTaken) {
  StartPriority priority(hours(1), hours(0));
  priority.yield_to_starts();
  priority.begin();
  priority.end();
  priority.yield_to_starts();
}

// What the kernel says of a thread of ours: S while it sleeps, waiting for something.
char state_of(pid_t thread) {
  std::string stat;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat"), stat);
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? '?' : stat.at(name_end + 2);
}

TEST(StartPriority, OthersWaitUntilItIsLeft) {
  StartPriority priority(hours(1), hours(0));
  priority.begin();
  std::atomic<bool> is_left = false;
  std::atomic<bool> is_through = false;
  std::promise<pid_t> begun;
  std::jthread other([&] {
    begun.set_value(::gettid());
    priority.yield_to_starts();
    EXPECT_TRUE(is_left);
    is_through = true;
  });
  const pid_t thread = begun.get_future().get();
  const auto limit = Steady::now() + std::chrono::seconds(60);
  while (!is_through && Steady::now() < limit && state_of(thread) != 'S') std::this_thread::yield();
  EXPECT_FALSE(is_through);
  is_left = true;
  priority.end();
  other.join();
  EXPECT_TRUE(is_through);
}

TEST(StartPriority, HoldsOthersUpForSoLongAndThenAgain) {
  StartPriority priority(milliseconds(20), milliseconds(0));
  const auto begin = Steady::now();
  priority.begin();
  priority.yield_to_starts();
  EXPECT_GE(Steady::now() - begin, milliseconds(20));
  priority.yield_to_starts();
  EXPECT_GE(Steady::now() - begin, milliseconds(40));
}

TEST(StartPriority, AfterAllTheirWaitingOthersNeedNotWaitForAWhile) {
  StartPriority priority(milliseconds(20), hours(1));
  priority.begin();
  priority.yield_to_starts();
  priority.end();
  priority.begin();
  priority.yield_to_starts();  // and does not take an hour
}

TEST(StartPriority, OneWhoTakesItAgainAndAgainStarvesNobody) {
  StartPriority priority(milliseconds(1), milliseconds(1));
  std::atomic<int> taken = 0;
  std::jthread greedy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      priority.begin();
      ++taken;
      const auto until = Steady::now() + std::chrono::microseconds(200);
      while (Steady::now() < until) continue;
      priority.end();
    }
  });
  while (taken == 0) std::this_thread::yield();
  const int before = taken;
  std::future<void> others = std::async(std::launch::async, [&] {
    for (int i = 0; i < 100; ++i) priority.yield_to_starts();
  });
  EXPECT_EQ(others.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  while (taken == before) std::this_thread::yield();  // it goes on all the while
  greedy.request_stop();
}

}  // namespace
}  // namespace kron
