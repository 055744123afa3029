#include "kron/env/fake/sweep.h"

#include <gtest/gtest.h>
#include <sstream>

namespace kron::testing {
namespace {

// A history of two files; the outside counts how many steps were done.
struct Steps {
  int done = 0;
  std::vector<Crash> crashes;
};

void make_two(Steps& steps, PowerCutFileSystem& fs) {
  const auto root = fs.open_directory("/").value();
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(root->make_directory(name, 0700));
    ++steps.done;
  }
}

void note(Steps& steps, PowerCutFileSystem&, Crash crash) { steps.crashes.push_back(crash); }

std::string nothing(Steps&, PowerCutFileSystem&) { return {}; }

TEST(Sweep, TriesEverySurvivorOfEveryMomentAndAProcessDeath) {
  std::vector<std::pair<int, std::size_t>> seen;  // steps done, names left
  Sweep<Steps> sweep(make_two, note, [&](Steps& steps, PowerCutFileSystem& fs) {
    seen.emplace_back(steps.done, fs.disk().at(kRootInode).entries.size());
    return std::string();
  });
  const SweepCounts counts = sweep({});
  EXPECT_EQ(counts.crash_points, 3U);
  EXPECT_EQ(counts.exhaustive_points, 3U);
  EXPECT_EQ(counts.power_cuts, 1U + 2U + 4U);
  EXPECT_EQ(counts.process_deaths, 3U);
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::pair(0, std::size_t{0})), 2);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::pair(1, std::size_t{1})), 2);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::pair(2, std::size_t{0})), 1);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::pair(2, std::size_t{2})), 2);
}

TEST(Sweep, CrashesInRecoveryAreAsDeepAsAskedFor) {
  std::size_t deepest = 0;
  Sweep<Steps> sweep(
      make_two,
      [](Steps& steps, PowerCutFileSystem& fs, Crash crash) {
        steps.crashes.push_back(crash);
        ASSERT_TRUE(fs.open_directory("/").value()->sync());
      },
      [&](Steps& steps, PowerCutFileSystem&) {
        deepest = std::max(deepest, steps.crashes.size());
        return std::string();
      },
      {.most_survivors = {100, 100, 100}});
  const SweepCounts counts = sweep({});
  EXPECT_EQ(deepest, 3U);
  EXPECT_GT(counts.crash_points, 3U + 10U);
}

TEST(Sweep, AViolationIsReportedWithWhatLedToIt) {
  Sweep<Steps> sweep(make_two, note, [](Steps& steps, PowerCutFileSystem& fs) {
    return steps.done == 2 && !fs.disk().find_path("/a") ? "a is gone" : "";
  });
  const SweepCounts counts = sweep({});
  EXPECT_EQ(counts.violations, 2U);
  std::ostringstream text;
  text << counts;
  EXPECT_NE(text.str().find("a is gone (seed 1, crash 1 before change 2, power cut: lost +a; kept +b; )"),
            std::string::npos)
      << text.str();
}

TEST(Sweep, ProcessDeathsCanBeLeftOut) {
  Sweep<Steps> sweep(make_two, note, nothing, {.process_deaths = false});
  EXPECT_EQ(sweep({}).process_deaths, 0U);
}

}  // namespace
}  // namespace kron::testing
