#include <gtest/gtest.h>
#include <map>

#include "kron/env/fake/sweep.h"
#include "kron/history/days_file.h"
#include "kron/history/fake/history_rig.h"
#include "kron/testing/scale.h"

namespace kron::history {
namespace {

using testing::Crash;
using testing::PowerCutFileSystem;
using testing::Sabotage;
using testing::Sweep;
using testing::SweepCounts;
using testing::SweepOptions;

constexpr auto kDayOne = std::chrono::floor<std::chrono::days>(kStart);
constexpr auto kDaysDirectory = "/history";

// What write_from() has promised: how many runs each job had on each day. What it was about to promise may be there
// too.
struct PromisedDays {
  std::map<std::pair<std::string, int>, std::int64_t> least;
  int crashes = 0;
};

// An index as a new machine has it: with nothing.
struct FreshIndex {
  testing::TemporaryDirectory directory{testing::memory_directory()};
  std::unique_ptr<Index> index = Index::open(directory.file("index.sqlite")).value();

  void count(const std::string& job, int day) const {
    const Entry entry = run_ended("r", 0, job, kStart + std::chrono::days(day));
    EXPECT_TRUE(index->begin());
    EXPECT_TRUE(index->count_day(std::nullopt, entry));
    EXPECT_TRUE(index->commit());
  }
  std::int64_t runs(const std::string& job, int day) const {
    const auto at = kDayOne + std::chrono::days(day);
    const auto found = index->days_of(job, at, at + std::chrono::days(1));
    return found && !found->empty() ? found->front().runs() : 0;
  }
};

// False: the power has gone.
bool write(const FreshIndex& fresh, DaysFile& file, PromisedDays& promised, int day) {
  if (!file.write_from(*fresh.index, kDayOne + std::chrono::days(day))) return false;
  for (const char* job : {"a", "b"}) {
    for (int before = 0; before < day; ++before) {
      if (const auto runs = fresh.runs(job, before); runs != 0) promised.least[{job, before}] = runs;
    }
  }
  return true;
}

void three_days(PromisedDays& promised, PowerCutFileSystem& file_system) {
  const auto directory = open_or_make_directory(file_system, kDaysDirectory, 0700);
  if (!directory) return;
  const FreshIndex fresh;
  DaysFile file(file_system, **directory, 2);  // few, so that it is written anew
  fresh.count("a", 0);
  fresh.count("b", 0);
  if (!write(fresh, file, promised, 1)) return;
  fresh.count("a", 0);  // learnt later
  fresh.count("a", 1);
  if (!write(fresh, file, promised, 2)) return;
  // Of three the two youngest stay: of the oldest day, whichever.
  std::erase_if(promised.least, [](const auto& one) { return one.first.second == 0; });
  if (!file.expire(*fresh.index, kDayOne + std::chrono::days(2))) return;
  fresh.count("b", 2);
  write(fresh, file, promised, 3);
}

// The next krond has lost the index, and goes on with the file.
void go_on_with_days(PromisedDays& promised, PowerCutFileSystem& file_system, Crash /*crash*/) {
  const auto directory = open_or_make_directory(file_system, kDaysDirectory, 0700);
  if (!directory) return;
  const FreshIndex fresh;
  DaysFile file(file_system, **directory, 100);
  if (!file.read_into(*fresh.index) || !fresh.index->end_of_reading()) return;
  const int day = 10 + ++promised.crashes;
  fresh.count("a", day);
  write(fresh, file, promised, day + 1);
}

std::string broken_days(PromisedDays& promised, PowerCutFileSystem& file_system) {
  const auto directory = open_or_make_directory(file_system, kDaysDirectory, 0700);
  if (!directory) return "cannot be opened: " + directory.error().message;
  const FreshIndex fresh;
  DaysFile file(file_system, **directory, 100);
  if (const Status read = file.read_into(*fresh.index); !read) return "cannot be read: " + read.error().message;
  for (const auto& [key, least] : promised.least) {
    const std::int64_t runs = fresh.runs(key.first, key.second);
    if (runs < least) return "lost: " + key.first + " on day " + std::to_string(key.second);
    if (runs > 2) return "counted twice: " + key.first + " on day " + std::to_string(key.second);
  }
  return "";
}

TEST(DaysOnAFullDisk, WhatCouldNotBeWrittenIsWrittenLaterAndOnce) {
  PowerCutFileSystem file_system;
  const auto directory = open_or_make_directory(file_system, kDaysDirectory, 0700).value();
  const FreshIndex fresh;
  DaysFile file(file_system, *directory, 100);
  fresh.count("a", 0);
  fresh.count("b", 0);
  const auto today = kDayOne + std::chrono::days(1);
  for (const testing::Fault fault : {testing::Fault::no_space, testing::Fault::io_error}) {
    file_system.fail_when([fault, is_first = true](const testing::CallRecord& call) mutable {
      if (call.call != testing::Call::write) return testing::Fault::none;
      return std::exchange(is_first, false) ? testing::Fault::short_write : fault;  // half of a line is there
    });
    EXPECT_FALSE(file.write_from(*fresh.index, today));
  }
  file_system.fail_when({});
  ASSERT_TRUE(file.write_from(*fresh.index, today));
  EXPECT_TRUE(fresh.index->unwritten_days(today, 10)->empty());
  const FreshIndex next;
  DaysFile again(file_system, *directory, 100);
  ASSERT_TRUE(again.read_into(*next.index));
  EXPECT_EQ(next.runs("a", 0), 1);
  EXPECT_EQ(next.runs("b", 0), 1);
}

SweepCounts sweep_days(Sabotage sabotage = Sabotage::none) {
  const auto most = static_cast<std::size_t>(testing::scaled(8));
  const bool is_whole = sabotage == Sabotage::none;
  const SweepOptions options{.most_survivors = is_whole ? std::vector{most, std::size_t{2}} : std::vector{most},
                             .sabotage = sabotage};
  return Sweep<PromisedDays>(three_days, go_on_with_days, broken_days, options)({});
}

TEST(DaysPowerCut, NoDayThatWasDurableIsLostOrCountedTwice) {
  const SweepCounts counts = sweep_days();
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.power_cuts, 100U);
}

TEST(DaysPowerCut, TheSweepNoticesWhenASyncIsLeftOut) {
  EXPECT_GT(sweep_days(Sabotage::no_file_sync).violations, 0U);
  EXPECT_GT(sweep_days(Sabotage::no_directory_sync).violations, 0U);
}

}  // namespace
}  // namespace kron::history
