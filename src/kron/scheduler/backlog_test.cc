#include "kron/scheduler/backlog.h"

#include <gtest/gtest.h>
#include <vector>

namespace kron {
namespace {

using Place = Backlog::Place;

constexpr Seconds kLongest{10};

Turn turn(std::int64_t since, std::int64_t now) { return {instant_of(now), instant_of(since)}; }

std::vector<Backlog::Job> popped(Backlog& backlog) {
  std::vector<Backlog::Job> jobs;
  while (const auto next = backlog.pop()) jobs.push_back(next->first);
  return jobs;
}

TEST(Backlog, WhatIsOnTimeComesBeforeWhatIsLate) {
  Backlog backlog(kLongest);
  backlog.add(1, turn(0, 5), Place::late);
  backlog.add(2, turn(0, 5), Place::late);
  backlog.add(3, turn(0, 5), Place::on_time);
  backlog.add(2, turn(6, 7), Place::on_time);
  EXPECT_EQ(backlog.size(), 3U);
  EXPECT_EQ(popped(backlog), (std::vector<Backlog::Job>{3, 2, 1}));
  EXPECT_TRUE(backlog.empty());
}

TEST(Backlog, AJobKeepsTheTurnInWhichItWasDue) {
  Backlog backlog(kLongest);
  backlog.add(1, turn(3, 5), Place::late);
  EXPECT_EQ(backlog.turn_of(1), turn(3, 5));
  EXPECT_EQ(backlog.turn_of(2), std::nullopt);
  EXPECT_EQ(backlog.take(1), turn(3, 5));
  EXPECT_EQ(backlog.take(1), std::nullopt);
  EXPECT_EQ(backlog.pop(), std::nullopt);
}

TEST(Backlog, TwoTurnsOfAJobAreOneOfNoMoreThanTheLongest) {
  Backlog backlog(kLongest);
  backlog.add(1, turn(3, 5), Place::on_time);
  backlog.add(1, turn(6, 13), Place::on_time);
  EXPECT_EQ(backlog.turn_of(1), turn(3, 13));
  backlog.add(1, turn(14, 14), Place::on_time);
  EXPECT_EQ(backlog.turn_of(1), turn(4, 14)) << "one second more is late";
  EXPECT_EQ(backlog.take(1, turn(15, 15)), turn(5, 15));
  EXPECT_EQ(backlog.take(1, turn(15, 15)), turn(15, 15)) << "no longer here";
}

}  // namespace
}  // namespace kron
