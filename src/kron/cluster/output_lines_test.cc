#include "kron/cluster/output_lines.h"

#include <gtest/gtest.h>

namespace kron::cluster {
namespace {

using std::string_literals::operator""s;

TEST(OutputLines, ALineLosesOnlyTheNumberThatTellsItFromOthers) {
  EXPECT_EQ(line_of_member("plain"), "plain");
  EXPECT_EQ(line_of_member(""), "");
  EXPECT_EQ(line_of_member("again\0002"s), "again");
  EXPECT_EQ(line_of_member("\00012"s), "");
  EXPECT_EQ(line_of_member("no number\0"s), "no number\0"s);
  EXPECT_EQ(line_of_member("no number\0001x"s), "no number\0001x"s);
  EXPECT_EQ(line_of_member("nul\0x1"s), "nul\0x1"s);
  EXPECT_EQ(line_of_member("own\0007\00012"s), "own\0007"s) << "a line that itself ends in NUL and digits";
}

TEST(OutputLines, ASortedSetHasItsLinesWithoutNewlinesAndAListWith) {
  EXPECT_EQ(text_of_line(OutputKind::sorted_set, "one"), "one\n");
  EXPECT_EQ(text_of_line(OutputKind::list, "one\n"), "one\n");
  EXPECT_EQ(text_of_line(OutputKind::list, "unfinished"), "unfinished");
  EXPECT_EQ(page_of_output(OutputKind::sorted_set, "k", 10, 5), (RedisCommand{"ZRANGE", "k", "10", "14"}));
  EXPECT_EQ(page_of_output(OutputKind::list, "k", 0, 5), (RedisCommand{"LRANGE", "k", "0", "4"}));
  EXPECT_EQ(count_of_output(OutputKind::list, "k"), (RedisCommand{"LLEN", "k"}));
}

TEST(OutputLines, AKindThatNobodyWritesIsNone) {
  EXPECT_EQ(output_kind("none").value(), OutputKind::none);
  EXPECT_EQ(output_kind("zset").value(), OutputKind::sorted_set);
  EXPECT_EQ(output_kind("list").value(), OutputKind::list);
  EXPECT_EQ(output_kind("hash").error().code, Code::conflict);
}

}  // namespace
}  // namespace kron::cluster
