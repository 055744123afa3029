#include "kron/env/crew.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <gtest/gtest.h>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace kron {
namespace {

// Does each piece once, whoever does it.
void expect_all_done(Crew& crew, std::size_t count) {
  std::vector<std::atomic<int>> pieces(count);
  std::atomic<std::size_t> next = 0;
  crew.share([&] {
    for (std::size_t i = next++; i < pieces.size(); i = next++) ++pieces[i];
  });
  for (const auto& piece : pieces) ASSERT_EQ(piece, 1);
}

TEST(Crew, DoesEachPieceOnceBeforeItReturns) {
  Crew crew(7);
  for (int round = 0; round < 1000; ++round) expect_all_done(crew, 20);
}

TEST(Crew, WorksAtTheSameTime) {
  Crew crew(3);
  std::latch all_are_in_it(4);
  std::atomic<int> left = 4;
  crew.share([&] {
    if (left-- > 0) all_are_in_it.arrive_and_wait();
  });
}

// How often this thread has worked: a thread that is made anew begins at 0, whatever id it gets.
thread_local int times_worked = 0;

TEST(Crew, IsTheSameThreadsEveryTime) {
  constexpr int kRounds = 200;
  Crew crew(2);
  for (int round = 1; round <= kRounds; ++round) {
    std::mutex mutex;
    std::condition_variable came;
    std::set<std::thread::id> seen;
    std::vector<int> worked;
    crew.share([&] {
      std::unique_lock lock(mutex);
      worked.push_back(++times_worked);
      seen.insert(std::this_thread::get_id());
      came.notify_all();
      // Nobody leaves before all are there, so that none can work twice in a round.
      EXPECT_TRUE(came.wait_for(lock, std::chrono::seconds(60), [&] { return seen.size() == 3; }));
    });
    ASSERT_EQ(seen.size(), 3U) << "in round " << round;
    ASSERT_EQ(worked, (std::vector{round, round, round}));
  }
}

TEST(Crew, ServesSeveralAtOnce) {
  Crew crew(3);
  std::vector<std::jthread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (int round = 0; round < 300; ++round) expect_all_done(crew, 9);
    });
  }
}

TEST(Crew, NobodyIsNeeded) {
  Crew crew(0);
  expect_all_done(crew, 3);
}

}  // namespace
}  // namespace kron
