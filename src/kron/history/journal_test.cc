#include "kron/history/journal.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/history/fake/history_rig.h"

namespace kron::history {
namespace {

using Lines = std::vector<std::string>;

class JournalTest : public HistoryRig {
 protected:
  void open() {
    journal_.reset();
    journal_ = Journal::open(file_system_, directory_.file("history")).value();
  }
  void append(Instant at, const std::string& lines) {
    ASSERT_TRUE(journal_->choose(at));
    ASSERT_TRUE(journal_->append(lines));
  }
  Lines lines(const Segment& segment, std::uint64_t from = 0) {
    Lines found;
    EXPECT_TRUE(journal_->read(segment, from, [&](std::string_view line, std::uint64_t) {
      found.emplace_back(line);
      return true;
    }));
    return found;
  }
  static Segment day(int number, std::uint32_t part = 1) {
    return {std::chrono::floor<std::chrono::days>(kStart) + std::chrono::days(number), part};
  }

  RealFileSystem file_system_;
  std::unique_ptr<Journal> journal_;
};

TEST(SegmentName, IsADayAndAPart) {
  const Segment first{std::chrono::floor<std::chrono::days>(kStart)};
  EXPECT_EQ(segment_name(first), "2026-03-02.jsonl");
  EXPECT_EQ(segment_name({first.day, 12}), "2026-03-02.12.jsonl");
  EXPECT_EQ(parse_segment_name("2026-03-02.jsonl"), first);
  EXPECT_EQ(parse_segment_name("2026-03-02.12.jsonl"), (Segment{first.day, 12}));
  for (const char* name : {"", ".jsonl", "2026-03-02", "2026-3-2.jsonl", "2026-02-30.jsonl", "2026-03-02.1.jsonl",
                           "2026-03-02.02.jsonl", "2026-03-02.-2.jsonl", "2026-03-02.x.jsonl", "index.sqlite",
                           "2026-03-02.99999999999.jsonl", "2026-03-02x2.jsonl"}) {
    EXPECT_FALSE(parse_segment_name(name)) << name;
  }
}

TEST_F(JournalTest, LinesComeBackInTheirOrder) {
  open();
  append(kStart, "one\ntwo\n");
  append(kStart + Seconds(10), "three\n");
  EXPECT_EQ(lines(day(0)), (Lines{"one", "two", "three"}));
  EXPECT_EQ(lines(day(0), 4), (Lines{"two", "three"}));
  struct stat info {};
  ASSERT_EQ(::stat(path("2026-03-02.jsonl").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(JournalTest, EveryDayHasAFileAlsoWhenTheClockGoesBack) {
  open();
  append(kStart, "one\n");
  append(kStart + std::chrono::days(1), "two\n");
  append(kStart, "three\n");
  EXPECT_EQ(lines(day(0)), (Lines{"one", "three"}));
  EXPECT_EQ(lines(day(1)), (Lines{"two"}));
}

TEST_F(JournalTest, AfterATornLineTheNextBeginsAfresh) {
  open();
  append(kStart, "one\n");
  std::ofstream(path("2026-03-02.jsonl"), std::ios::app) << "tor";
  EXPECT_EQ(lines(day(0)), (Lines{"one", "tor"}));
  open();
  append(kStart, "two\n");
  EXPECT_EQ(lines(day(0)), (Lines{"one", "tor", "two"}));
  EXPECT_EQ(testing::read_file(path("2026-03-02.jsonl")), "one\ntor\ntwo\n");
}

TEST_F(JournalTest, AFileThatHasBecomeLargeGetsASuccessor) {
  open();
  const std::string line = std::string(kMostSegment / 2, 'x') + "\n";
  for (int i = 0; i < 3; ++i) append(kStart, line);
  open();
  append(kStart, "last\n");
  EXPECT_EQ(journal_files(), (Lines{"2026-03-02.2.jsonl", "2026-03-02.jsonl"}));
  const std::vector<SegmentInfo> segments = journal_->segments().value();
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].segment, day(0, 1));
  EXPECT_EQ(segments[0].size, 2 * line.size());
  EXPECT_EQ(segments[1].size, line.size() + 5);
}

TEST_F(JournalTest, ALineBeyondAllMeasureIsPassedOver) {
  open();
  append(kStart, "one\n" + std::string(kMostLine + 1, 'x') + "\n\ntwo\n");
  EXPECT_EQ(lines(day(0)), (Lines{"one", "two"}));
}

TEST_F(JournalTest, ALinkIsNotFollowed) {
  open();
  std::filesystem::create_symlink(directory_.file("elsewhere"), path("2026-03-02.jsonl"));
  EXPECT_FALSE(journal_->choose(kStart));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("elsewhere")));
}

}  // namespace
}  // namespace kron::history
