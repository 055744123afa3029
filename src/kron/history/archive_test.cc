#include "kron/history/archive.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/history/fake/history_rig.h"
#include "kron/testing/scale.h"

namespace kron::history {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class ArchiveTest : public HistoryRig {
 protected:
  ArchiveTest() { open_archive(); }
};

TEST_F(ArchiveTest, AnEndCompletesItsStartUnderTheSameNumber) {
  record({run_started("r1")});
  record({missed(kStart)});
  record({run_ended("r1", 3)});
  const std::vector<Entry> entries = all();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].number, 1);
  EXPECT_EQ(entries[1].exit_code, 3);
}

TEST_F(ArchiveTest, WhatIsKnownIsNotWrittenAgain) {
  const std::vector<Entry> entries{run_ended("r1"), missed(kStart), passed_over(kStart, kStart)};
  record(entries);
  const std::string before = testing::read_file(path("2026-03-02.jsonl"));
  EXPECT_EQ(archive_->record(entries).value(), 0U);
  open_archive();
  EXPECT_EQ(archive_->record(entries).value(), 0U);
  EXPECT_EQ(testing::read_file(path("2026-03-02.jsonl")), before);
  EXPECT_EQ(all().size(), 3U);
}

TEST_F(ArchiveTest, TheIndexIsMadeAnewWhenItIsGone) {
  record({run_started("r1"), missed(kStart), run_ended("r2", 1)});
  clock_.advance(std::chrono::days(1));
  record({run_ended("r1"), passed_over(kStart, kStart)});
  const std::vector<Entry> before = all();
  remove_index();
  open_archive();
  EXPECT_EQ(all(), before);
  EXPECT_EQ(log_.lines_of("history_rebuilt").at(0).field("count"), "4");
  record({run_ended("r3")});
  EXPECT_EQ(all().at(0).number, 5);
}

TEST_F(ArchiveTest, ADamagedIndexIsMadeAnew) {
  std::vector<Entry> entries;
  for (int i = 0; i < 500; ++i) entries.push_back(run_ended("r" + std::to_string(i)));
  record(entries);
  const std::vector<Entry> before = all();
  archive_.reset();
  std::fstream file(path("index.sqlite"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096) << std::string(60'000, '\xAA');
  file.close();
  open_archive();
  EXPECT_EQ(all(), before);
  EXPECT_EQ(log_.lines_of("history_rebuilding").at(0).level, LogLevel::warning);
}

TEST_F(ArchiveTest, AnIndexThatLagsBehindReadsOn) {
  record({run_started("r1")});
  archive_.reset();
  const fs::path saved = directory_.file("saved");
  fs::copy_file(path("index.sqlite"), saved);
  open_archive();
  record({run_ended("r1"), run_ended("r2")});
  clock_.advance(std::chrono::days(1));
  record({run_ended("r3")});
  const std::vector<Entry> before = all();
  remove_index();
  fs::copy_file(saved, path("index.sqlite"));
  open_archive();
  EXPECT_EQ(all(), before);
  EXPECT_TRUE(log_.lines_of("history_rebuilt").empty());
}

TEST_F(ArchiveTest, ATornLineIsSkippedAndEverythingElseStays) {
  record({run_ended("r1"), run_ended("r2")});
  archive_.reset();
  const std::string journal = testing::read_file(path("2026-03-02.jsonl"));
  for (std::size_t size = journal.find('\n') + 1; size < journal.size(); ++size) {
    remove_index();
    std::ofstream(path("2026-03-02.jsonl")) << journal.substr(0, size);
    open_archive();
    const bool is_whole = size + 1 == journal.size();
    EXPECT_EQ(run_ids(all()), is_whole ? (Names{"r2", "r1"}) : Names{"r1"}) << size;
    record({run_ended("r3")});
    const std::vector<Entry> before = all();
    remove_index();
    open_archive();
    EXPECT_EQ(all(), before) << size;
  }
}

TEST_F(ArchiveTest, LinesThatAreNoEntriesAreSkipped) {
  record({run_ended("r1")});
  remove_index();
  std::ofstream(path("2026-03-02.jsonl"), std::ios::app) << "{}\nnonsense\n[1]\n{\"job\":\"a\"}\n\xFF\n";
  open_archive();
  EXPECT_EQ(run_ids(all()), Names{"r1"});
  EXPECT_EQ(log_.lines_of("history_rebuilt").at(0).field("skipped"), "5");
}

TEST_F(ArchiveTest, EntriesAndTheirFilesGoByAge) {
  retention_.age = std::chrono::days(3);
  open_archive();
  for (int day = 0; day < 6; ++day) {
    record({run_ended("r" + std::to_string(day))});
    clock_.advance(std::chrono::days(1));
  }
  record({run_ended("now")});
  EXPECT_EQ(journal_files(), (Names{"2026-03-05.jsonl", "2026-03-06.jsonl", "2026-03-07.jsonl", "2026-03-08.jsonl"}));
  EXPECT_EQ(run_ids(all()), (Names{"now", "r5", "r4", "r3"}));
}

TEST_F(ArchiveTest, ARunThatEndsLaterIsKeptByItsEnd) {
  retention_.age = std::chrono::days(3);
  open_archive();
  record({run_started("long")});
  clock_.advance(std::chrono::days(2));
  record({run_ended("long")});
  clock_.advance(std::chrono::days(3));
  record({run_ended("now")});
  EXPECT_EQ(run_ids(all()), (Names{"now", "long"}));
  EXPECT_EQ(journal_files(), (Names{"2026-03-04.jsonl", "2026-03-07.jsonl"}));
}

TEST_F(ArchiveTest, OfTooManyTheOldestGoAndFilesThatNobodyNeeds) {
  retention_.most = 5;
  open_archive();
  for (int day = 0; day < 4; ++day) {
    for (int run = 0; run < 3; ++run) record({run_ended("r" + std::to_string(day) + std::to_string(run))});
    clock_.advance(std::chrono::days(1));
  }
  EXPECT_EQ(run_ids(all()), (Names{"r32", "r31", "r30", "r22", "r21"}));
  EXPECT_EQ(journal_files(), (Names{"2026-03-04.jsonl", "2026-03-05.jsonl"}));
  const std::vector<Entry> before = all();
  remove_index();
  open_archive();
  EXPECT_EQ(all(), before);
}

TEST_F(ArchiveTest, AStartInALaterFileDoesNotUndoAnEnd) {
  clock_.advance(std::chrono::days(1));
  record({run_ended("r0"), run_started("r1")});
  clock_.jump(-std::chrono::days(1));
  record({run_ended("r1", 7)});
  EXPECT_EQ(journal_files().size(), 2U);
  const std::vector<Entry> before = all();
  remove_index();
  open_archive();
  EXPECT_EQ(all(), before);
  EXPECT_EQ(all().at(0).exit_code, 7);
}

TEST_F(ArchiveTest, OnlyTheOwnerMayReadTheIndex) {
  record({run_ended("r1")});
  for (const char* name : {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm"}) {
    struct stat info {};
    ASSERT_EQ(::stat(path(name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << name;
  }
}

TEST_F(ArchiveTest, KeepsVeryManyAndFindsAmongThem) {
  const int count = 1'000 * std::clamp(testing::scaled(20), 4, 101);
  retention_.most = static_cast<std::size_t>(count - 1'000);
  open_archive();
  std::vector<Entry> group;
  for (int i = 0; i < count; ++i) {
    group.push_back(run_ended("r" + std::to_string(i), i % 100 == 0 ? 1 : 0, "job" + std::to_string(i % 1000)));
    if (group.size() < 4096 && i + 1 < count) continue;
    record(group);
    group.clear();
  }
  EXPECT_EQ(archive_->ask([](Index& index) { return Result<std::size_t>(index.count()); }).value(), retention_.most);
  EXPECT_EQ(all({.job = "job7", .limit = 1'000}).size(), retention_.most / 1'000);
  EXPECT_EQ(all({.result = RunResult::failed, .before = 2000}).size(), 10U);
  const std::vector<Entry> newest = all();
  EXPECT_EQ(newest.at(0).number, count);
  remove_index();
  open_archive();
  EXPECT_EQ(all(), newest);
  EXPECT_EQ(log_.lines_of("history_rebuilt").at(0).field("count"), std::to_string(retention_.most));
}

}  // namespace
}  // namespace kron::history
