#include "kron/history/days_file.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "kron/history/fake/history_rig.h"

namespace kron::history {
namespace {

constexpr auto kSecondOfMarch = std::chrono::floor<std::chrono::days>(kStart);
constexpr std::chrono::days kDay{1};

class DaysFileTest : public HistoryRig {
 protected:
  DaysFileTest() { open_archive(); }

  // As `2026-03-02 +=2 x=1`, one for each day.
  std::vector<std::string> days(const std::string& job = "backup", std::chrono::days back = std::chrono::days(0)) {
    auto found = archive_->ask([&](Index& index) {
      return index.days_of(job, kSecondOfMarch - back, kSecondOfMarch + std::chrono::days(1000));
    });
    EXPECT_TRUE(found) << found.error().message;
    std::vector<std::string> texts;
    for (const DayTotals& totals : *found) {
      std::string text = day_text(totals.day);
      for (std::size_t i = 0; i < kLetters.size(); ++i) {
        if (totals.counts[i] == 0) continue;
        text.append(" ").append(1, kLetters[i]).append("=").append(std::to_string(totals.counts[i]));
      }
      texts.push_back(text);
    }
    return texts;
  }

  std::vector<std::string> lines() const {
    std::ifstream file(path("days.jsonl"));
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

  void pass_midnight() { clock_.advance(std::chrono::hours(24)); }
  Instant today() const { return now(clock_); }
};

using Texts = std::vector<std::string>;

TEST_F(DaysFileTest, ADayIsCountedAsItGoes) {
  record({run_started("r1"), run_ended("r2", 1), missed(kStart)});
  EXPECT_EQ(days(), Texts{"2026-03-02 x=1 m=1 r=1"});
  record({run_ended("r1")});
  EXPECT_EQ(days(), Texts{"2026-03-02 +=1 x=1 m=1"});
  record({run_ended("r1")});
  EXPECT_EQ(days(), Texts{"2026-03-02 +=1 x=1 m=1"}) << "what is known is no news";
  EXPECT_EQ(days("other"), Texts{});
  EXPECT_EQ(lines(), Texts{}) << "the day is not over";
}

TEST_F(DaysFileTest, AfterMidnightEachJobOfTheDayHasALine) {
  record({run_ended("r1"), run_ended("r2", 0, "other")});
  pass_midnight();
  record({run_ended("r3", 0, "backup", today())});
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_EQ(lines()[0],
            R"({"job":"backup","day":"2026-03-02","counts":{"+":1},"runs":1,"sumSeconds":5,"maxSeconds":5})");
  record({run_ended("r4", 0, "backup", today())});
  EXPECT_EQ(lines().size(), 2U) << "written once";
  EXPECT_EQ(days(), (Texts{"2026-03-02 +=1", "2026-03-03 +=2"}));
}

TEST_F(DaysFileTest, WhatIsLearntLaterOfADayIsWrittenAgain) {
  record({run_started("long")});
  pass_midnight();
  record({run_ended("r2", 0, "backup", today())});
  record({run_ended("long", 1)});
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_NE(lines()[1].find(R"("day":"2026-03-02","counts":{"x":1})"), std::string::npos) << lines()[1];
  EXPECT_EQ(days(), (Texts{"2026-03-02 x=1", "2026-03-03 +=1"}));
}

TEST_F(DaysFileTest, ARestartChangesNothing) {
  record({run_ended("r1"), run_started("r2")});
  pass_midnight();
  record({run_ended("r3", 0, "backup", today())});
  const Texts before = days();
  const Texts written = lines();
  for (int i = 0; i < 3; ++i) {
    open_archive();
    EXPECT_EQ(days(), before);
  }
  record({run_ended("r4", 0, "other", today())});
  EXPECT_EQ(lines(), written);
}

TEST_F(DaysFileTest, AnIndexThatIsLostIsMadeFromTheJournalAndTheFile) {
  record({run_ended("r1"), run_started("long")});
  pass_midnight();
  record({run_ended("r2", 0, "backup", today())});
  record({run_ended("long", 1)});
  const Texts before = days();
  remove_index();
  open_archive();
  EXPECT_EQ(days(), before) << "nothing is counted twice";
  remove_index();
  open_archive();
  record({run_ended("r3", 1, "backup", today())});
  EXPECT_EQ(days(), (Texts{"2026-03-02 +=1 x=1", "2026-03-03 +=1 x=1"}));
}

TEST_F(DaysFileTest, TheTotalsOutliveTheEntriesAndTheIndex) {
  retention_.most = 3;
  open_archive();
  for (int i = 0; i < 10; ++i) record({run_ended("r" + std::to_string(i))});
  EXPECT_EQ(all().size(), 3U);
  EXPECT_EQ(days(), Texts{"2026-03-02 +=10"});
  clock_.advance(retention_.age + std::chrono::hours(48));
  record({run_ended("s", 0, "backup", today())});
  EXPECT_EQ(all().size(), 1U);
  remove_index();
  open_archive();
  EXPECT_EQ(days(), (Texts{"2026-03-02 +=10", "2026-04-03 +=1"}));
}

TEST_F(DaysFileTest, LinesThatAreNoneArePassedOverAndATornOneIsEnded) {
  record({run_ended("r1")});
  pass_midnight();
  record({run_ended("r2", 0, "backup", today())});
  archive_.reset();
  std::ofstream(path("days.jsonl"), std::ios::app) << "nonsense\n{\"job\":\"torn";
  remove_index();
  open_archive();
  EXPECT_EQ(days(), (Texts{"2026-03-02 +=1", "2026-03-03 +=1"}));
  pass_midnight();
  record({run_ended("r3", 0, "backup", today())});
  remove_index();
  open_archive();
  EXPECT_EQ(days(), (Texts{"2026-03-02 +=1", "2026-03-03 +=1", "2026-03-04 +=1"}));
}

TEST_F(DaysFileTest, AfterFourHundredDaysADayIsForgotten) {
  record({run_ended("r1")});
  clock_.advance(kDaysKept);
  record({run_ended("r2", 0, "backup", today())});
  EXPECT_EQ(days().size(), 2U) << "400 days later it is there";
  pass_midnight();
  record({run_ended("r3", 0, "backup", today())});
  EXPECT_EQ(days().size(), 2U);
  EXPECT_EQ(days().front().substr(0, 10), day_text(kSecondOfMarch + kDaysKept));
}

// The file itself, with a limit that a test can reach.
TEST_F(DaysFileTest, OfMoreLinesThanItKeepsTheOldestGoAndTheFileIsWrittenAnew) {
  RealFileSystem files;
  const auto directory = files.open_directory(path()).value();
  auto opened = Index::open(path("other.sqlite"));
  ASSERT_TRUE(opened);
  Index& index = **opened;
  constexpr std::size_t kMost = 3000;
  DaysFile file(files, *directory, kMost);
  constexpr int kJobs = 500;
  for (int day = 0; day < 8; ++day) {
    ASSERT_TRUE(index.begin());
    for (int job = 0; job < kJobs; ++job) {
      ASSERT_TRUE(index.count_day(std::nullopt, run_ended("r", 0, "job" + std::to_string(job), kStart + day * kDay)));
    }
    ASSERT_TRUE(index.commit());
    ASSERT_TRUE(file.write_from(index, kSecondOfMarch + (day + 1) * kDay));
    ASSERT_TRUE(file.expire(index, kSecondOfMarch + (day + 1) * kDay));
    EXPECT_LE(lines().size(), kMost + kMost / 8 + kJobs) << day;
  }
  EXPECT_EQ(lines().size(), kMost);
  EXPECT_NE(lines().front().find("2026-03-04"), std::string::npos) << lines().front();
  // One more step: what is written anew is appended to, and read back.
  ASSERT_TRUE(index.count_day(std::nullopt, run_ended("r", 0, "last", kStart + 8 * kDay)));
  ASSERT_TRUE(file.write_from(index, kSecondOfMarch + 9 * kDay));
  auto anew = Index::open(path("anew.sqlite"));
  ASSERT_TRUE(anew);
  ASSERT_TRUE(file.read_into(**anew));
  EXPECT_EQ((*anew)->days_of("job7", kSecondOfMarch, kSecondOfMarch + 100 * kDay).value(),
            index.days_of("job7", kSecondOfMarch, kSecondOfMarch + 100 * kDay).value());
  EXPECT_EQ((*anew)->days_of("last", kSecondOfMarch, kSecondOfMarch + 100 * kDay)->size(), 1U);
  EXPECT_EQ((*anew)->days_known()->lines, kMost + 1);
}

}  // namespace
}  // namespace kron::history
