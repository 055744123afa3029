#include "time_argument.h"

#include <gtest/gtest.h>

#include "command_rig.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"

// Times as people type them.
namespace kron::cli::time_argument_test {
namespace {

// 01:30 of the 2nd in Paris, still the 1st in UTC.
constexpr Instant kNow = instant_of(1772411400);  // 2026-03-02T00:30:00Z

Result<TimeZone> paris() {
  ZoneDatabase zones;
  return zones.find("Europe/Paris");
}

TEST(TimeArgument, IsReadInEachOfItsSpellings) {
  ASSERT_EQ(rfc3339(kNow), "2026-03-02T00:30:00Z");
  const std::pair<const char*, const char*> cases[] = {
      {"2026-11-17T03:00:00Z", "2026-11-17T03:00:00Z"},
      {"2026-11-17t03:00:00.9+01:00", "2026-11-17T02:00:00Z"},
      {"2026-11-17 03:00:00Z", "2026-11-17T03:00:00Z"},
      {"now", "2026-03-02T00:30:00Z"},
      {"-1h", "2026-03-01T23:30:00Z"},
      {"+30m", "2026-03-02T01:00:00Z"},
      {"-1h30m", "2026-03-01T23:00:00Z"},
      {"-2d", "2026-02-28T00:30:00Z"},
      {"+0", "2026-03-02T00:30:00Z"},
      {"2026-11-17 03:00", "2026-11-17T02:00:00Z"},
      {"2026-11-17 03:00:07", "2026-11-17T02:00:07Z"},
      {"2026-11-17T03:00", "2026-11-17T02:00:00Z"},
      {"2026-07-01", "2026-06-30T22:00:00Z"},
      {"03:00", "2026-03-02T02:00:00Z"},
      {"03:00:07", "2026-03-02T02:00:07Z"},
      {"00:10", "2026-03-01T23:10:00Z"},
  };
  for (const auto& [text, utc] : cases) {
    const auto time = parse_time_argument(text, kNow, paris());
    ASSERT_TRUE(time) << text << ": " << time.error().message;
    EXPECT_EQ(rfc3339(*time), utc) << text;
  }
}

TEST(TimeArgument, TodayIsTheDayOfTheLocalClock) {
  // 23:30 UTC of the 1st is 00:30 of the 2nd in Paris.
  EXPECT_EQ(rfc3339(*parse_time_argument("03:00", kNow - Seconds(3600), paris())), "2026-03-02T02:00:00Z");
}

TEST(TimeArgument, WhatIsNoneIsRefusedWithWhatWouldBe) {
  const std::pair<const char*, const char*> cases[] = {
      {"noon",
       "expected a time such as 2026-11-17T03:00:00Z, '2026-11-17 03:00' or 03:00 in local time, -1h, +30m or "
       "now, found 'noon'"},
      {"3:00", "expected a time such as"},
      {"24", "expected a time such as"},
      {"-", "expected a duration after the -, such as -1h or +30m, found '-'"},
      {"+x", "expected a duration after the +"},
      {"-1.5s", "expected a duration after the -"},
      {"--1h", "expected a duration after the -"},
      {"25:00", "there is no such time as '25:00'"},
      {"2026-02-30 03:00", "there is no such time as '2026-02-30 03:00'"},
      {"2026-02-30T03:00:00Z", "day"},
      {"-10000w", "leads out of the years 0000 to 9999"},
      {"2026-03-29 02:30", "the clocks of Europe/Paris jump over '2026-03-29 02:30', to 2026-03-29T03:00:00+02:00"},
      {"2026-10-25 02:30",
       "the clocks of Europe/Paris show '2026-10-25 02:30' twice: write 2026-10-25T02:30:00+02:00 "
       "or 2026-10-25T02:30:00+01:00"},
  };
  const Instant early = *parse_rfc3339("0100-01-01T00:00:00Z");
  for (const auto& [text, problem] : cases) {
    const auto time = parse_time_argument(text, std::string_view(text) == "-10000w" ? early : kNow, paris());
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, Code::invalid);
    EXPECT_THAT(time.error().message, HasSubstr(problem)) << text;
  }
}

TEST(TimeArgument, AZoneThatIsNotKnownIsMissedOnlyWhereItIsNeeded) {
  const Result<TimeZone> none = fail(Code::invalid, "no zone");
  EXPECT_EQ(parse_time_argument("03:00", kNow, none).error().message, "no zone");
  EXPECT_EQ(parse_time_argument("2026-11-17 03:00", kNow, none).error().message, "no zone");
  EXPECT_EQ(parse_time_argument("-1h", kNow, none).value(), kNow - Seconds(3600));
  EXPECT_EQ(parse_time_argument("2026-03-02T00:30:00Z", kNow, none).value(), kNow);
}

TEST(TimeArgument, AFlagTakesThemAllAndIsNamedByItsErrors) {
  const Variable tz("TZ", "Asia/Kolkata");
  EXPECT_EQ(rfc3339(*time_flag("2026-03-01 05:30", "--from")), "2026-03-01T00:00:00Z");
  EXPECT_EQ(time_flag("-1h", "--from", kNow).value(), kNow - Seconds(3600));
  EXPECT_EQ(time_flag("x", "--from").error().field, "--from");
  const Variable rule("TZ", "EST5EDT,M3.2.0,M11.1.0");
  EXPECT_THAT(time_flag("03:00", "--at").error().message, HasSubstr("the local time zone is not known"));
}

TEST(TimeArgument, AValueThatBeginsWithADashIsTheFlagsOwn) {
  const Variable tz("TZ", "UTC");
  EXPECT_EQ(kron({"next", "--cron", "0 0 1 1 *", "--from", "-1h", "--count", "1"}).status, 0);
  EXPECT_EQ(kron({"next", "--cron", "30 3 * * *", "--from", "2026-03-01 03:00", "--count", "1"}).out,
            "2026-03-01T03:30:00Z\n");
  EXPECT_THAT(kron({"next", "--cron", "30 3 * * *", "--from", "noon"}).err, HasSubstr("kron next: --from: expected"));
}

}  // namespace
}  // namespace kron::cli::time_argument_test
