#include "kron/http/budget.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace kron::http {
namespace {

const Budget::User kRoot{.name = "root", .is_preferred = true};
const Budget::User kAnn{.name = "ann", .is_preferred = false};
const Budget::User kBob{.name = "bob", .is_preferred = false};
constexpr SharedLimit kLimit{.most = 10, .kept = 3, .of_one_user = 5};

TEST(Budget, OneUserHasItsCapAndOthersHaveTheRest) {
  Budget budget(kLimit);
  EXPECT_TRUE(budget.take(kAnn, 5));
  EXPECT_FALSE(budget.take(kAnn, 1)) << "one more than one user may have";
  EXPECT_TRUE(budget.take(kBob, 2));
  EXPECT_FALSE(budget.take(kBob, 1)) << "what is kept is not for him";
  EXPECT_TRUE(budget.take(kRoot, 3));
  EXPECT_FALSE(budget.take(kRoot, 1)) << "there is no more";
}

TEST(Budget, APreferredUserHasNoCap) {
  Budget budget(kLimit);
  EXPECT_TRUE(budget.take(kRoot, 10));
  EXPECT_FALSE(budget.take(kRoot, 1));
  EXPECT_FALSE(budget.take(kAnn, 1));
  budget.give_back(kRoot, 1);
  EXPECT_TRUE(budget.take(kAnn, 1)) << "nothing is kept from who is there while there is room for the preferred";
}

TEST(Budget, WhatCannotBeTakenLeavesNothingBehind) {
  Budget budget(kLimit);
  EXPECT_FALSE(budget.take(kAnn, 6));
  EXPECT_FALSE(budget.take(kRoot, 11));
  EXPECT_TRUE(budget.take(kAnn, 5));
}

TEST(Budget, AShareGivesBackAllOfIt) {
  const auto budget = std::make_shared<Budget>(kLimit);
  {
    Share share(budget, kAnn);
    EXPECT_TRUE(share.grow(2));
    EXPECT_TRUE(share.grow(3));
    EXPECT_FALSE(share.grow(1));
    EXPECT_EQ(share.amount(), 5U);
  }
  Share again(budget, kAnn);
  EXPECT_TRUE(again.grow(5));
  again.release();
  EXPECT_TRUE(again.grow(5)) << "it may be used again";
}

TEST(Budget, ManyThreadsTakeNoMoreThanThereIs) {
  const auto budget = std::make_shared<Budget>(SharedLimit{.most = 100, .kept = 0, .of_one_user = 100});
  std::vector<std::thread> threads;
  for (uid_t uid = 1; uid <= 4; ++uid) {
    threads.emplace_back([&budget, uid] {
      for (int i = 0; i < 1000; ++i) {
        Share share(budget, {.name = std::to_string(uid), .is_preferred = false});
        (void)share.grow(60);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(budget->take(kAnn, 100)) << "all of it came back";
}

}  // namespace
}  // namespace kron::http
