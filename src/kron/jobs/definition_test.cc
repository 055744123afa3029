#include "kron/jobs/definition.h"

#include <gtest/gtest.h>

namespace kron::jobs {
namespace {

TEST(JobName, IsLowerCaseWithInnerPunctuation) {
  for (const char* name : {"a", "db-backup", "a.b_c/d-9", "0"}) EXPECT_TRUE(is_job_name(name)) << name;
  for (const char* name : {"", "A", "a b", "-a", "a-", "a/", ".a", "ä", "a\n"}) EXPECT_FALSE(is_job_name(name)) << name;
  EXPECT_TRUE(is_job_name(std::string(200, 'a')));
  EXPECT_FALSE(is_job_name(std::string(201, 'a')));
}

TEST(Size, ReadsAndPrintsPowersOf1024) {
  struct Case {
    const char* text;
    std::uint64_t bytes;
    const char* printed;
  };
  for (const Case& c : {Case{"0", 0, "0"}, Case{"512", 512, "512"}, Case{"64k", 65536, "64k"},
                        Case{"64K", 65536, "64k"}, Case{"2M", 2097152, "2M"}, Case{"1G", 1073741824, "1G"},
                        Case{"1024k", 1048576, "1M"}, Case{"3T", 3298534883328, "3T"}}) {
    const auto bytes = parse_size(c.text);
    ASSERT_TRUE(bytes) << c.text;
    EXPECT_EQ(*bytes, c.bytes);
    EXPECT_EQ(size_text(*bytes), c.printed);
  }
  for (const char* text : {"", "k", "-1", "1.5M", "1 M", "1MB", "99999999999999999999", "99999999999999999T"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(OptionsPool, SharesEqualOptions) {
  OptionsPool pool;
  RunOptions options;
  options.user = "backup";
  const auto first = pool.share(options);
  EXPECT_EQ(pool.share(options), first);
  options.user = "www-data";
  EXPECT_NE(pool.share(options), first);
}

TEST(JobDefinition, EqualityIsAboutWhatIsSaidNotWhere) {
  JobDefinition a;
  JobDefinition b;
  b.line = 7;
  b.file = std::make_shared<const std::string>("elsewhere");
  b.options = std::make_shared<const RunOptions>();
  EXPECT_EQ(a, b);
  b.action = Command{"true"};
  EXPECT_NE(a, b);
}

TEST(Percent, IsAWholeNumberOfThem) {
  EXPECT_EQ(parse_percent("1%", 100), 1U);
  EXPECT_EQ(parse_percent("100%", 100), 100U);
  for (const char* text : {"", "%", "0%", "101%", "50", "-1%", "1.5%", "50 %", "50%x", "99999999999%"}) {
    EXPECT_FALSE(parse_percent(text, 100)) << text;
  }
}

}  // namespace
}  // namespace kron::jobs
