#include "kron/history/around.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/history/fake/history_rig.h"

namespace kron::history::around_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AroundTest : public HistoryRig {
 protected:
  AroundTest() { open_archive(); }

  // By their numbers, which are those of the order in which they were recorded.
  std::vector<std::int64_t> numbers(const Around& around) {
    const auto found = archive_->ask([&](Index& index) { return entries_around(index, around); });
    EXPECT_TRUE(found);
    std::vector<std::int64_t> numbers;
    for (const Entry& entry : *found) numbers.push_back(entry.number);
    return numbers;
  }

  // A run that begins so long after its period and takes so long.
  static Entry run(const std::string& id, Instant period, Seconds late = 0s, Seconds length = 5s) {
    Entry entry = run_ended(id, 0, "backup", period);
    entry.started_at = period + late;
    entry.ended_at = period + late + length;
    return entry;
  }
};

TEST_F(AroundTest, WhatIsKnownOfAPeriod) {
  record({run("a", kStart), run("b", kStart + 60s), missed(kStart + 120s), missed(kStart, "other")});
  const Around of_b{.job = "backup", .period = kStart + 60s, .from = kStart + 60s, .to = kStart + 61s};
  EXPECT_THAT(numbers(of_b), ElementsAre(2));
  EXPECT_THAT(numbers({.job = "backup", .period = kStart + 30s}), IsEmpty());
  EXPECT_THAT(numbers({.job = "nobody", .period = kStart}), IsEmpty());
}

TEST_F(AroundTest, ARunThatBeganDaysLateIsFoundAllTheSame) {
  record({run("a", kStart, 72h), run("b", kStart + 60s)});
  const Around of_a{.job = "backup", .period = kStart, .from = kStart, .to = kStart + 1h};
  EXPECT_THAT(numbers(of_a), ElementsAre(1));
}

TEST_F(AroundTest, WhatWasSkippedBringsTheRunThatWentOn) {
  Entry skipped = missed(kStart + 60s);
  skipped.outcome = Outcome::skipped;
  skipped.reason = Reason::concurrency_forbid;
  skipped.ended_at = kStart + 60s;
  record({run("a", kStart, 0s, 90s), skipped, run("b", kStart + 120s)});
  EXPECT_THAT(numbers({.job = "backup", .period = kStart + 60s}), ElementsAre(1, 2));
}

TEST_F(AroundTest, ATimeBringsTheRunsBeforeIt) {
  record({run("a", kStart), run("b", kStart + 60s), run("c", kStart + 120s)});
  EXPECT_THAT(numbers({.job = "backup", .at = kStart + 60s}), ElementsAre(1, 2));
  EXPECT_THAT(numbers({.job = "backup", .last_run = true}), ElementsAre(3));
  EXPECT_THAT(numbers({.job = "backup", .period = kStart, .at = kStart}), ElementsAre(1)) << "each once";
}

TEST_F(AroundTest, OfTheRunsBeforeATimeTheNewestComeFirst) {
  std::vector<Entry> runs;
  for (int i = 0; i < static_cast<int>(kMostRunsAround) + 1; ++i)
    runs.push_back(run(std::to_string(i), kStart + 60s * i));
  record(runs);
  const auto found = numbers({.job = "backup", .at = kStart + 24h});
  ASSERT_EQ(found.size(), kMostRunsAround);
  EXPECT_EQ(found.front(), 2) << "the oldest is left out";
}

TEST_F(AroundTest, APeriodWithoutAnEntryBringsTheReportsThatMayHoldIt) {
  record({passed_over(kStart, kStart + 300s), passed_over(kStart + 600s, kStart + 900s), run("a", kStart + 960s)});
  EXPECT_THAT(numbers({.job = "backup", .period = kStart + 60s}), ElementsAre(1, 2));
  EXPECT_THAT(numbers({.job = "backup", .period = kStart + 660s}), ElementsAre(2));
  EXPECT_THAT(numbers({.job = "backup", .period = kStart + 960s}), ElementsAre(3));
}

}  // namespace
}  // namespace kron::history::around_test
