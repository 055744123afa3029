#include "kron/scheduler/timer_heap.h"

#include <gtest/gtest.h>
#include <vector>

namespace kron {
namespace {

std::vector<std::uint32_t> due_by(TimerHeap& timers, Instant now) {
  std::vector<std::uint32_t> jobs;
  while (const auto due = timers.pop_due(now)) jobs.push_back(due->job);
  return jobs;
}

TEST(TimerHeap, GivesOutJobsByTimeThenByNumber) {
  TimerHeap timers;
  timers.set(3, instant_of(20));
  timers.set(2, instant_of(10));
  timers.set(1, instant_of(10));
  timers.set(0, instant_of(30));
  EXPECT_EQ(timers.earliest(), instant_of(10));
  EXPECT_EQ(due_by(timers, instant_of(20)), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(timers.earliest(), instant_of(30));
}

TEST(TimerHeap, TheLastTimeThatWasSetCounts) {
  TimerHeap timers;
  timers.set(1, instant_of(10));
  timers.set(1, instant_of(20));
  timers.set(1, instant_of(10));
  timers.set(2, instant_of(15));
  EXPECT_EQ(timers.time_of(2), instant_of(15));
  timers.set(2, std::nullopt);
  EXPECT_EQ(timers.time_of(2), std::nullopt);
  EXPECT_EQ(timers.time_of(99), std::nullopt);
  EXPECT_EQ(due_by(timers, instant_of(100)), std::vector<std::uint32_t>{1}) << "once";
  EXPECT_EQ(timers.earliest(), std::nullopt);
}

TEST(TimerHeap, TimesThatWereReplacedDoNotPileUp) {
  TimerHeap timers;
  constexpr std::uint32_t kJobs = 100;
  for (std::int64_t round = 0; round < 1000; ++round) {
    for (std::uint32_t job = 0; job < kJobs; ++job) timers.set(job, instant_of(1'000'000 - round + job));
  }
  EXPECT_LE(timers.places(), 2 * kJobs + TimerHeap::kMostReplaced);
  EXPECT_EQ(due_by(timers, instant_of(2'000'000)).size(), kJobs);
  EXPECT_EQ(timers.places(), 0U);
}

}  // namespace
}  // namespace kron
