#include "kron/ledger/recent_records.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

RecentRecords::Recent record_of(const std::string& identity, int history = 0) {
  RecentRecords::Recent recent;
  recent.record.identity = identity;
  recent.record.history.resize(static_cast<std::size_t>(history));
  recent.file = identity + ".json";
  return recent;
}

TEST(RecentRecords, GiveBackWhatWasKeptOnce) {
  RecentRecords records;
  EXPECT_FALSE(records.take("a"));
  records.keep(record_of("a", 3), 100);
  records.keep(record_of("b"), 100);
  const auto a = records.take("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->record, record_of("a", 3).record);
  EXPECT_EQ(a->file, "a.json");
  EXPECT_FALSE(records.take("a")) << "whoever took it must keep it again";
  EXPECT_TRUE(records.take("b"));
}

TEST(RecentRecords, KeepTheNewerOfTwoOfOneJob) {
  RecentRecords records;
  records.keep(record_of("a", 1), 100);
  records.keep(record_of("a", 2), 100);
  EXPECT_EQ(records.take("a")->record.history.size(), 2U);
  EXPECT_FALSE(records.take("a"));
}

TEST(RecentRecords, LetGoOfThoseThatWereNotWrittenForTheLongestTime) {
  RecentRecords records(300);
  records.keep(record_of("a"), 100);
  records.keep(record_of("b"), 100);
  records.keep(record_of("c"), 100);
  records.keep(*records.take("a"), 100);
  records.keep(record_of("d"), 100);
  EXPECT_FALSE(records.take("b"));
  for (const char* stays : {"a", "c", "d"}) EXPECT_TRUE(records.take(stays)) << stays;
}

TEST(RecentRecords, KeepNothingThatIsLargerThanAllMayBe) {
  RecentRecords records(300);
  records.keep(record_of("a"), 100);
  records.keep(record_of("large"), 301);
  EXPECT_FALSE(records.take("large"));
  EXPECT_TRUE(records.take("a")) << "it need not go for that";
  records.keep(record_of("b"), 100);
  records.keep(record_of("b"), 301);
  EXPECT_FALSE(records.take("b")) << "the old one is not what the file says";
}

TEST(RecentRecords, AreGoneWhenTheyAreCleared) {
  RecentRecords records(300);
  records.keep(record_of("a"), 300);
  records.clear();
  EXPECT_FALSE(records.take("a"));
  records.keep(record_of("b"), 300);
  EXPECT_TRUE(records.take("b"));
}

}  // namespace
}  // namespace kron
