#include "kron/env/sync_pool.h"

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
void expect_all_done(SyncPool& pool, std::size_t count) {
  std::vector<std::atomic<int>> pieces(count);
  std::atomic<std::size_t> next = 0;
  pool.run_on_all([&] {
    for (std::size_t i = next++; i < pieces.size(); i = next++) ++pieces[i];
  });
  for (const auto& piece : pieces) ASSERT_EQ(piece, 1);
}

TEST(SyncPool, DoesEachPieceOnceBeforeItReturns) {
  SyncPool pool(7);
  for (int round = 0; round < 1000; ++round) expect_all_done(pool, 20);
}

TEST(SyncPool, WorksAtTheSameTime) {
  SyncPool pool(3);
  std::latch all_are_in_it(4);
  std::atomic<int> left = 4;
  pool.run_on_all([&] {
    if (left-- > 0) all_are_in_it.arrive_and_wait();
  });
}

// How often this thread has worked: a thread that is made anew begins at 0, whatever id it gets.
thread_local int times_worked = 0;

TEST(SyncPool, IsTheSameThreadsEveryTime) {
  constexpr int kRounds = 200;
  SyncPool pool(2);
  for (int round = 1; round <= kRounds; ++round) {
    std::mutex mutex;
    std::condition_variable came;
    std::set<std::thread::id> seen;
    std::vector<int> worked;
    pool.run_on_all([&] {
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

TEST(SyncPool, ServesSeveralAtOnce) {
  SyncPool pool(3);
  std::vector<std::jthread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (int round = 0; round < 300; ++round) expect_all_done(pool, 9);
    });
  }
}

TEST(SyncPool, NobodyIsNeeded) {
  SyncPool pool(0);
  expect_all_done(pool, 3);
}

}  // namespace
}  // namespace kron
