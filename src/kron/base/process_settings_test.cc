#include "kron/base/process_settings.h"

#include <gtest/gtest.h>
#include <vector>

namespace kron {
namespace {

std::vector<std::uint32_t> waits(std::uint32_t first, std::uint32_t attempts) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 1; i <= attempts; ++i) all.push_back(backoff_after(i, first));
  return all;
}

TEST(Backoff, DoublesUpToAnHour) {
  EXPECT_EQ(waits(30, 4), (std::vector<std::uint32_t>{30, 60, 120, 240}));
  EXPECT_EQ(waits(1000, 4), (std::vector<std::uint32_t>{1000, 2000, 3600, 3600}));
  EXPECT_EQ(waits(1800, 3), (std::vector<std::uint32_t>{1800, 3600, 3600}));
  EXPECT_EQ(backoff_after(kMostRetries, 1), kMostDoubled);
}

TEST(Backoff, OneThatBeginsLongerStaysAsItIs) {
  EXPECT_EQ(waits(3600, 2), (std::vector<std::uint32_t>{3600, 3600}));
  EXPECT_EQ(waits(kMostBackoff, 3), (std::vector<std::uint32_t>{kMostBackoff, kMostBackoff, kMostBackoff}));
  EXPECT_EQ(waits(0xFFFFFFFF, 3), (std::vector<std::uint32_t>{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}));
}

TEST(Backoff, NoneStaysNone) { EXPECT_EQ(backoff_after(0xFFFFFFFF, 0), 0U); }

}  // namespace
}  // namespace kron
