#include "cluster_values.h"

#include <gtest/gtest.h>

namespace kron::cli {
namespace {

using namespace std::string_literals;

TEST(ClusterValues, ARunOfEitherDialectIsRead) {
  const ClusterRun running =
      run_of("a", R"({"host":"vm","job_name":"j","status":"running","start_time":"1794768882.032079"})");
  EXPECT_TRUE(running.is_running());
  EXPECT_EQ(result_of(running), "running");
  EXPECT_EQ(time_text(running.started), "2026-11-15T18:54:42Z");
  const ClusterRun failed = run_of(
      "b",
      R"({"job_name":"j","start_time":1794768882.5,"host":"vm","status":"fail","retcode":3,"output":"x","duration":0.5})");
  EXPECT_EQ(result_of(failed), "exit 3");
  EXPECT_EQ(seconds_text(failed.duration), "500ms");
  const ClusterRun killed = run_of("c", R"({"job_name":"j","host":"h","status":"fail","retcode":-9,"start_time":"1"})");
  EXPECT_EQ(result_of(killed), "signal 9");
  const ClusterRun frozen =
      run_of("d", R"({"job_name":"j","host":"h","status":"frozen","retcode":null,"start_time":"1"})");
  EXPECT_EQ(result_of(frozen), "frozen");
}

TEST(ClusterValues, WhatIsNoRunIsUnreadableAndNothingWorse) {
  for (const std::string& blob : {""s, "{"s, "[]"s, "7"s, "null"s, "\0"s, "{\"job_name\":7}"s, "\xff\xfe"s,
                                  std::string(100'000, '['), "{\"status\":{}}"s}) {
    EXPECT_EQ(result_of(run_of("id", blob)), "unreadable") << blob.substr(0, 20);
  }
}

TEST(ClusterValues, BytesThatAreNoTextDoNotHideTheRest) {
  const ClusterRun run =
      run_of("a",
             "{\"host\":\"vm\",\"job_name\":\"j\",\"status\":\"success\",\"retcode\":0,\"start_time\":\"1\","
             "\"output\":\"\xff\xfe ok\\n\"}");
  EXPECT_EQ(result_of(run), "exit 0");
  EXPECT_EQ(run.output, "\xEF\xBF\xBD\xEF\xBF\xBD ok\n");
}

TEST(ClusterValues, ALineForATerminalHasNothingThatItWouldObey) {
  EXPECT_EQ(shown_line("plain\ttext ä"), "plain\ttext ä");
  EXPECT_EQ(shown_line("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(shown_line("a\rb\x7f"), "a\\x0db\\x7f");
  EXPECT_EQ(shown_line("\xc2\x9b"
                       "31m"),
            "\\xc2\\x9b31m")
      << "CSI in one character";
  EXPECT_EQ(shown_line("\xff"), "\\xff");
}

TEST(ClusterValues, TimesAndSizesOutsideAnyRangeAreLeftOut) {
  EXPECT_EQ(time_text(std::nullopt), "");
  EXPECT_EQ(time_text(-1), "");
  EXPECT_EQ(time_text(1e300), "");
  EXPECT_EQ(seconds_text(1e300), "");
  EXPECT_EQ(number_of("nan"), std::nullopt);
  EXPECT_EQ(number_of("inf"), std::nullopt);
  EXPECT_EQ(number_of("1e400"), std::nullopt);
  EXPECT_EQ(number_of("12x"), std::nullopt);
  EXPECT_EQ(number_of("1.5"), 1.5);
}

TEST(ClusterValues, DurationsAreShort) {
  EXPECT_EQ(seconds_text(0), "0s");
  EXPECT_EQ(seconds_text(0.0051), "5ms");
  EXPECT_EQ(seconds_text(-0.25), "-250ms");
  EXPECT_EQ(seconds_text(125.4), "2m5s");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1'572'864), "1.5 MiB");
}

TEST(ClusterValues, ADefinitionIsOneLine) {
  const auto node = parse_json(
      R"({"cron_args":{"second":"*/2","hour":null,"minute":5},"job_args":{"cmd":"x","lock":"shared","ttl":1}})");
  ASSERT_TRUE(node);
  EXPECT_EQ(schedule_text(*node), "second=*/2 minute=5");
  EXPECT_EQ(lock_text(*node), "shared");
  const auto other = parse_json(R"({"cron_args":{"cronstring":"* * * * *"},"job_args":{"lock":false},"job_state":{)"
                                R"("paused":true,"validation_errors":"bad"}})");
  ASSERT_TRUE(other);
  EXPECT_EQ(schedule_text(*other), "* * * * *");
  EXPECT_EQ(lock_text(*other), "none");
  EXPECT_EQ(problem_in(*other), "bad");
}

TEST(ClusterValues, ARunIdIsThirtyTwoHexDigits) {
  EXPECT_TRUE(is_run_id("0123456789abcdef0123456789abcdef"));
  EXPECT_FALSE(is_run_id("0123456789ABCDEF0123456789abcdef"));
  EXPECT_FALSE(is_run_id("0123"));
}

}  // namespace
}  // namespace kron::cli
