#include "kron/env/crew.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <set>

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

TEST(Crew, IsTheSameThreadsEveryTime) {
  Crew crew(2);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 200; ++round) {
    crew.share([&] {
      const std::scoped_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_LE(seen.size(), 3U);
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
