#include "kron/base/hash_index.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

#include "kron/testing/scale.h"

namespace kron {
namespace {

TEST(HashIndex, FindsNothingBeforeAnythingIsInserted) {
  const HashIndex index;
  EXPECT_EQ(index.find(7, [](std::uint32_t) { return true; }), std::nullopt);
}

TEST(HashIndex, TellsKeysOfOneHashApart) {
  HashIndex index;
  for (const std::uint32_t number : {1U, 2U, 3U}) index.insert(0, number);
  EXPECT_EQ(index.find(0, [](std::uint32_t number) { return number == 2; }), 2U);
  EXPECT_EQ(index.find(0, [](std::uint32_t number) { return number == 4; }), std::nullopt);
  index.erase(0, 2);
  EXPECT_EQ(index.find(0, [](std::uint32_t number) { return number == 2; }), std::nullopt);
  EXPECT_EQ(index.find(0, [](std::uint32_t number) { return number == 3; }), 3U);
  EXPECT_EQ(index.size(), 2U);
}

// Few hashes, so that runs of taken places are long, wrap around and are cut in every way.
TEST(HashIndex, HoldsWhatAMapHolds) {
  std::mt19937 random(1);
  HashIndex index;
  std::map<std::uint32_t, std::size_t> model;
  for (int i = 0; i < testing::scaled(20'000); ++i) {
    const std::uint32_t number = static_cast<std::uint32_t>(random() % 64);
    const auto known = model.find(number);
    if (known == model.end()) {
      const std::size_t hash = random() % 12 + (random() % 2 == 0 ? 0 : 120);
      index.insert(hash, number);
      model.emplace(number, hash);
    } else {
      index.erase(known->second, number);
      model.erase(known);
    }
    ASSERT_EQ(index.size(), model.size());
    for (const auto& [held, hash] : model) {
      ASSERT_EQ(index.find(hash, [&](std::uint32_t found) { return found == held; }), held) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace kron
