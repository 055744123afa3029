#include "kron/env/in_parallel.h"

#include <atomic>
#include <gtest/gtest.h>

namespace kron {
namespace {

TEST(InParallel, DoesEachPartOnceAndWaitsForAll) {
  for (const std::size_t parts : {1U, 2U, 7U}) {
    std::vector<std::atomic<int>> done(parts);
    in_parallel(parts, [&](std::size_t part) { ++done[part]; });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(InParallel, LittleWorkIsOnePart) {
  EXPECT_EQ(parts_of(0, 100), 1U);
  EXPECT_EQ(parts_of(199, 100), 1U);
  EXPECT_GE(parts_of(1'000'000, 100), 1U);
  EXPECT_LE(parts_of(1'000'000, 100), 8U);
}

}  // namespace
}  // namespace kron
