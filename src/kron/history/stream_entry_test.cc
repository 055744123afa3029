#include "kron/history/stream_entry.h"

#include <gtest/gtest.h>

namespace kron::history {
namespace {

constexpr Instant kTime = instant_of(1'772'409'600);

TEST(StreamEntry, TheStartOfARunHasTheTimeOfItsId) {
  const auto entry = parse_stream_entry(
      "1772409600123-0", R"({"job":"a","outcome":"executed","trigger":"schedule","periodId":"2026-03-02T00:00:00Z",)"
                         R"("runId":"r1","host":"h1","state":"running"})");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->started_at, kTime);
  EXPECT_FALSE(entry->ended_at);
  EXPECT_EQ(entry->host, "h1");
  EXPECT_EQ(result_of(*entry), RunResult::running);
}

TEST(StreamEntry, TheEndOfARunHasTheTimeOfItsId) {
  const auto entry = parse_stream_entry(
      "1772409600999-7", R"({"job":"a","outcome":"executed","runId":"r1","host":"h1","state":"ended","exitCode":3})");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->ended_at, kTime);
  EXPECT_FALSE(entry->started_at);
  EXPECT_EQ(entry->exit_code, 3);
  const auto frozen = parse_stream_entry("1772409600000-0", R"({"job":"a","runId":"r1","exitCode":null})");
  ASSERT_TRUE(frozen);
  EXPECT_EQ(result_of(*frozen), RunResult::unknown);
}

TEST(StreamEntry, AnOutcomeWithoutARunWasDecidedThen) {
  const auto entry =
      parse_stream_entry("1772409600000-1", R"({"job":"a","outcome":"skipped","reason":"lock_held","host":"h2",)"
                                            R"("periodId":"2026-03-02T00:00:00Z","number":7})");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->ended_at, kTime);
  EXPECT_EQ(entry->outcome, Outcome::skipped);
  EXPECT_EQ(entry->number, 0) << "numbers are each host's own";
}

TEST(StreamEntry, WhatIsNoneIsRefused) {
  EXPECT_FALSE(parse_stream_entry("1772409600000", R"({"job":"a"})"));
  EXPECT_FALSE(parse_stream_entry("x-1", R"({"job":"a"})"));
  EXPECT_FALSE(parse_stream_entry("1-1x", R"({"job":"a"})"));
  EXPECT_FALSE(parse_stream_entry("1-1", "junk"));
  EXPECT_FALSE(parse_stream_entry("1-1", "{}"));
}

TEST(StreamEntry, IdsAreComparedAsNumbers) {
  EXPECT_TRUE(is_behind("10-0", "9-5"));
  EXPECT_TRUE(is_behind("9-10", "9-9"));
  EXPECT_FALSE(is_behind("9-9", "9-9"));
  EXPECT_FALSE(is_behind("9-9", "10-0"));
  EXPECT_TRUE(is_behind("0-1", ""));
}

}  // namespace
}  // namespace kron::history
