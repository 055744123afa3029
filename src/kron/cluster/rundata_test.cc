#include "kron/cluster/rundata.h"

#include <gtest/gtest.h>

#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/testing/property.h"

namespace kron::cluster {
namespace {

TEST(RunData, ARunningBlobHasTheSeedsNullsAndCronkensFourKeys) {
  EXPECT_EQ(running_blob(Dialect::seed, "vm", "a \"b\"").with("1794768882.032079"),
            R"({"job_name":"a \"b\"","start_time":"1794768882.032079","host":"vm","status":"running",)"
            R"("retcode":null,"output":null,"duration":null})");
  EXPECT_EQ(running_blob(Dialect::cronken, "vm", "sec").with("1794768882.032079"),
            R"({"job_name":"sec","start_time":"1794768882.032079","host":"vm","status":"running"})");
}

TEST(RunData, AFinalBlobHasAHoleForTheDuration) {
  FinalRun run{"vm", "sec", "1794768882.042198", RunStatus::fail, 3, "hi\nerr\n"};
  EXPECT_EQ(final_blob(Dialect::seed, run).with("0.005110"),
            R"({"job_name":"sec","start_time":"1794768882.042198","host":"vm","status":"fail","retcode":3,)"
            R"("output":"hi\nerr\n","duration":0.005110})");
  run.retcode = -15;
  EXPECT_NE(final_blob(Dialect::cronken, run).head.find(R"("retcode":-15)"), std::string::npos);
}

TEST(RunData, AnUnknownExitCodeIsNullInTheSeedAndAbsentInCronken) {
  const FinalRun run{"vm", "sec", "1.000000", RunStatus::frozen, std::nullopt, ""};
  EXPECT_EQ(final_blob(Dialect::seed, run).with("60"),
            R"({"job_name":"sec","start_time":"1.000000","host":"vm","status":"frozen","retcode":null,)"
            R"("output":"","duration":60})");
  EXPECT_EQ(final_blob(Dialect::cronken, run).with("60"),
            R"({"job_name":"sec","start_time":"1.000000","host":"vm","status":"frozen","output":"","duration":60})");
}

TEST(RunData, OutputThatIsNoUtf8IsReplacedByteForByte) {
  const FinalRun run{"vm", "sec", "1.0", RunStatus::success, 0, std::string("a\xff\xfe\0z\x7f\n", 7)};
  const std::string blob = final_blob(Dialect::seed, run).with("0");
  ASSERT_TRUE(is_valid_utf8(blob));
  const Node read = parse_json(blob).value();
  EXPECT_EQ(*read.find("output")->as<std::string>(), std::string("a\xEF\xBF\xBD\xEF\xBF\xBD\0z\x7f\n", 11));
}

TEST(RunData, TheEndOfARunSaysStatusAndCode) {
  RunExit exit{"r", 0, ""};
  EXPECT_EQ(status_of(exit), RunStatus::success);
  EXPECT_EQ(retcode_of(exit), 0);
  exit = {"r", 143, ""};
  EXPECT_EQ(status_of(exit), RunStatus::fail);
  EXPECT_EQ(retcode_of(exit), 143) << "a command may exit so";
  exit.signal = 15;
  EXPECT_EQ(retcode_of(exit), -15);
  exit = {"r", 2, ""};
  exit.failed = false;
  EXPECT_EQ(status_of(exit), RunStatus::success) << "the job says that 2 is fine";
  exit = {"r", std::nullopt, "nobody saw it"};
  EXPECT_EQ(status_of(exit), RunStatus::fail);
  EXPECT_EQ(retcode_of(exit), std::nullopt);
}

TEST(RunData, FrozenGoesToTheFailures) {
  EXPECT_EQ(result_of(RunStatus::success), "success");
  EXPECT_EQ(result_of(RunStatus::fail), "fail");
  EXPECT_EQ(result_of(RunStatus::frozen), "fail");
}

TEST(RunData, BlobsOfCronkenAreReadInAnyOrderAndSpelling) {
  const RunData fail = parse_rundata(R"({"host":"vm","job_name":"sec","duration":0.0051100254058838,"status":"fail",)"
                                     R"("start_time":"1794768882.042198","retcode":3,"output":"a\/b\n"})")
                           .value();
  EXPECT_EQ(fail, (RunData{"vm", "sec", RunStatus::fail, "1794768882.042198", 3, 0.0051100254058838, "a/b\n"}));
  const RunData numbers =
      parse_rundata(R"({"job_name":"sec","status":"success","start_time":1794768882.25,"retcode":"-9","duration":"2"})")
          .value();
  EXPECT_EQ(numbers.start_time, "1794768882.250000");
  EXPECT_EQ(numbers.retcode, -9);
  EXPECT_EQ(numbers.duration, 2.0);
  EXPECT_EQ(parse_rundata(R"({"job_name":"s","status":"running","start_time":5})")->start_time, "5.000000");
}

TEST(RunData, RawBytesAndMissingMembersAreSurvived) {
  const RunData raw = parse_rundata("{\"job_name\":\"s\",\"status\":\"frozen\",\"output\":\"\xff\x80x\"}").value();
  EXPECT_EQ(raw.output, "\xEF\xBF\xBD\xEF\xBF\xBDx");
  EXPECT_EQ(raw.retcode, std::nullopt);
  EXPECT_EQ(raw.duration, std::nullopt);
  const RunData nulls = parse_rundata(running_blob(Dialect::seed, "vm", "s").with("1.0")).value();
  EXPECT_EQ(nulls.retcode, std::nullopt);
  EXPECT_EQ(nulls.output, "");
}

TEST(RunData, WhatIsNoBlobIsRefused) {
  for (const char* bad : {"", "[]", "null", "7", "{}", "{", R"({"job_name":"s"})", R"({"job_name":"s","status":"odd"})",
                          R"({"job_name":7,"status":"fail"})", R"({"status":"fail"})"}) {
    EXPECT_FALSE(parse_rundata(bad)) << bad;
  }
}

TEST(RunData, TimesHaveMicroseconds) {
  const auto time = time_of("1794768882.032079");
  ASSERT_TRUE(time);
  EXPECT_EQ(start_time_of(*time), "1794768882.032079");
  EXPECT_EQ(start_time_of(*time_of("5")), "5.000000");
  EXPECT_EQ(start_time_of(*time_of("5.25")), "5.250000");
  EXPECT_EQ(start_time_of(*time_of("5.1234567891234")), "5.123456");
  for (const char* bad : {"", "x", "-1", "5x", "5.x", "1e5", "99999999999", "."}) EXPECT_FALSE(time_of(bad)) << bad;
}

TEST(RunData, TheLastLinesAreWhole) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2, 100), "b\nc\n");
  EXPECT_EQ(last_lines("a\nb\nc", 2, 100), "b\nc");
  EXPECT_EQ(last_lines("a\nb\n", 10, 100), "a\nb\n");
  EXPECT_EQ(last_lines("\n\n\n", 2, 100), "\n\n");
  EXPECT_EQ(last_lines("a\n", 0, 100), "");
  EXPECT_EQ(last_lines("", 3, 100), "");
  EXPECT_EQ(last_lines("x", 3, 100), "x");
  EXPECT_EQ(last_lines("abcdef\n", 1, 3), "ef\n");
}

TEST(RunData, NoBytesMakeABlobThatIsNotReadBack) {
  kron::testing::for_all(300, [] {
    const auto bytes = *rc::gen::arbitrary<std::string>();
    const FinalRun run{"vm", "job", "1.000000", RunStatus::success, 0, bytes};
    const Dialect dialect = *rc::gen::element(Dialect::seed, Dialect::cronken);
    const Result<RunData> read = parse_rundata(final_blob(dialect, run).with("0.5"));
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->output == as_utf8(bytes));
    (void)parse_rundata(bytes);
  });
}

}  // namespace
}  // namespace kron::cluster
