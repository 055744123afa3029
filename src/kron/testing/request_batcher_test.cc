#include "kron/testing/request_batcher.h"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

namespace kron::testing {
namespace {

TEST(RequestBatcher, EveryoneGetsItsOwnAnswer) {
  std::atomic<int> at_work{0};
  RequestBatcher<int, int> doubled(7, [&](std::span<const int> numbers) {
    EXPECT_EQ(++at_work, 1);
    EXPECT_LE(numbers.size(), 7U);
    std::vector<int> answers;
    for (const int number : numbers) answers.push_back(2 * number);
    --at_work;
    return answers;
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(doubled.ask(1000 * t + i), 2 * (1000 * t + i));
    });
  }
}

TEST(RequestBatcher, WhatArrivesWhileAGroupIsDoneIsDoneTogether) {
  constexpr std::size_t kOthers = 5;
  std::latch first_began(1);
  std::vector<std::size_t> groups;
  const RequestBatcher<int, int>* itself = nullptr;
  RequestBatcher<int, int> batcher(100, [&](std::span<const int> numbers) {
    groups.push_back(numbers.size());
    if (groups.size() == 1) {
      first_began.count_down();
      while (itself->waiting() < kOthers) std::this_thread::yield();
    }
    return std::vector<int>(numbers.begin(), numbers.end());
  });
  itself = &batcher;
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { EXPECT_EQ(batcher.ask(0), 0); });
  first_began.wait();
  for (int i = 1; i <= static_cast<int>(kOthers); ++i) {
    threads.emplace_back([&, i] { EXPECT_EQ(batcher.ask(i), i); });
  }
  threads.clear();
  EXPECT_EQ(groups, (std::vector<std::size_t>{1, kOthers}));
}

}  // namespace
}  // namespace kron::testing
