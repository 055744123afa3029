#include "kron/core/cron_args.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/testing/golden.h"

namespace kron {
namespace {

using Json = nlohmann::json;
using Args = std::map<std::string, std::string>;

std::vector<std::string> next_times(const CronArgs& args, Instant now, std::size_t count) {
  std::vector<std::string> found;
  Instant at = now - Seconds(1);
  while (found.size() < count) {
    const std::optional<Instant> next = args.schedule.next_after(at, args.zone);
    if (!next) break;
    found.push_back(rfc3339(*next));
    at = *next;
  }
  return found;
}

TEST(CronArgs, AgreeWithApschedulerAsCronkenCallsIt) {
  ZoneDatabase zones;
  for (const std::string& line : testing::read_lines(testing::data_path("cronken/cron_args.jsonl"))) {
    const Json test = Json::parse(line);
    const Result<CronArgs> args = parse_cron_args(test["cron_args"].get<Args>(), TimeZone(), zones);
    if (test.contains("error")) {
      EXPECT_FALSE(args) << line;
      continue;
    }
    ASSERT_TRUE(args) << line << "\n" << args.error().message;
    std::vector<std::string> expected;
    for (const Json& time : test["next_utc"]) {
      if (!time.is_null()) expected.push_back(time.get<std::string>());
    }
    EXPECT_EQ(next_times(*args, *parse_rfc3339(test["now"].get<std::string>()), test["next_utc"].size()), expected)
        << line;
  }
}

Result<CronArgs> parsed(const Args& args) {
  ZoneDatabase zones;
  return parse_cron_args(args, TimeZone(), zones);
}

std::string printed(const Args& args) {
  const Result<CronArgs> result = parsed(args);
  return result ? to_string(result->schedule) : result.error().message;
}

TEST(CronArgs, FillTheFieldsThatAreNotGiven) {
  EXPECT_EQ(printed({{"hour", "10"}}), "0 10 * * *");
  EXPECT_EQ(printed({{"minute", "5"}}), "5 * * * *");
  EXPECT_EQ(printed({{"second", "*/2"}}), "0-58/2 * * * * *");
  EXPECT_EQ(printed({{"month", "5"}}), "0 0 1 5 *");
  EXPECT_EQ(printed({{"year", "2030"}}), "0 0 0 1 1 * 2030");
  EXPECT_EQ(printed({{"day_of_week", "mon-fri"}}), "0 0 * * 1-5");
  EXPECT_EQ(printed({}), "* * * * * *");
}

TEST(CronArgs, CountWeekdaysFromMonday) {
  EXPECT_EQ(printed({{"day_of_week", "0"}}), "0 0 * * 1");
  EXPECT_EQ(printed({{"day_of_week", "6"}}), "0 0 * * 0");
  EXPECT_EQ(printed({{"cronstring", "0 0 * * 0"}}), "0 0 * * 1");
  EXPECT_EQ(printed({{"cronstring", "@weekly"}}), "0 0 * * 1");
}

TEST(CronArgs, ReadDaysByPosition) {
  EXPECT_EQ(printed({{"day", "last"}}), "0 0 L * *");
  EXPECT_EQ(printed({{"day", "2nd tue, LAST sun"}}), "0 0 * * 2#2,0L");
  EXPECT_EQ(printed({{"day", "13"}, {"day_of_week", "fri"}}), "0 0 13 * * only on FRI");
  EXPECT_EQ(printed({{"day", "13"}, {"week", "1-53"}}), "0 0 13 * *");
  EXPECT_EQ(printed({{"week", "33"}}), "0 0 * 8 * in weeks 33");
}

TEST(CronArgs, LetACronstringOverrideTheFields) {
  EXPECT_EQ(printed({{"cronstring", "5 4 * * *"}, {"hour", "9"}, {"second", "1"}}), "5 4 * * *");
  EXPECT_EQ(printed({{"cronstring", " @minutely "}}), "* * * * *");
  const Result<CronArgs> others = parsed({{"cronstring", "0 3 * * *"},
                                          {"timezone", "Europe/Paris"},
                                          {"jitter", "nonsense"},
                                          {"start_date", "2030-01-01"},
                                          {"end_date", "2030-01-02"}});
  ASSERT_TRUE(others) << others.error().message;
  EXPECT_EQ(others->zone.name(), TimeZone().name());
  EXPECT_EQ(others->jitter, Seconds(0));
  EXPECT_EQ(others->schedule, parsed({{"cronstring", "0 3 * * *"}})->schedule);
}

TEST(CronArgs, YieldNothingForNever) {
  const Result<CronArgs> never = parsed({{"cronstring", "@never"}});
  ASSERT_TRUE(never);
  EXPECT_EQ(never->schedule.next_after(kFirstInstant, never->zone), std::nullopt);
  EXPECT_EQ(to_string(never->schedule), "@never");
}

TEST(CronArgs, YieldNothingForACombinationThatNeverMatches) {
  for (const Args& args : std::vector<Args>{{{"day", "31"}, {"month", "2"}},
                                            {{"day", "2nd tue"}, {"day_of_week", "mon"}},
                                            {{"week", "40"}, {"month", "1"}},
                                            {{"year", "2500"}}}) {
    const Result<CronArgs> never = parsed(args);
    ASSERT_TRUE(never);
    EXPECT_EQ(next_times(*never, kFirstInstant, 1), std::vector<std::string>{});
    EXPECT_EQ(never->schedule.at_or_before(kLastInstant, never->zone), std::nullopt);
  }
}

TEST(CronArgs, IncludeBothBounds) {
  const Result<CronArgs> args = parsed({{"hour", "12"},
                                        {"start_date", "2026-05-01 12:00:00"},
                                        {"end_date", "2026-05-03T12:00:00"},
                                        {"timezone", "Europe/Paris"}});
  ASSERT_TRUE(args);
  EXPECT_EQ(next_times(*args, kFirstInstant, 9),
            (std::vector<std::string>{"2026-05-01T10:00:00Z", "2026-05-02T10:00:00Z", "2026-05-03T10:00:00Z"}));
  EXPECT_EQ(args->schedule.at_or_before(kLastInstant, args->zone), *parse_rfc3339("2026-05-03T10:00:00Z"));
  EXPECT_EQ(args->schedule.at_or_before(*parse_rfc3339("2026-05-01T09:59:59Z"), args->zone), std::nullopt);
}

TEST(CronArgs, ReadDatesWithAndWithoutAZone) {
  struct Case {
    std::string text;
    std::string start;
    std::string end;
  };
  const std::vector<Case> cases{
      {"2026-05-01", "2026-04-30T22:00:00Z", "2026-04-30T22:00:00Z"},
      {" 2026-05-01 08:30:15 ", "2026-05-01T06:30:15Z", "2026-05-01T06:30:15Z"},
      {"2026-05-01T08:30:15.250", "2026-05-01T06:30:16Z", "2026-05-01T06:30:15Z"},
      {"2026-05-01T08:30:15.000", "2026-05-01T06:30:15Z", "2026-05-01T06:30:15Z"},
      {"2026-05-01T08:30:15Z", "2026-05-01T08:30:15Z", "2026-05-01T08:30:15Z"},
      {"2026-05-01 08:30:15.5-03:00", "2026-05-01T11:30:16Z", "2026-05-01T11:30:15Z"},
      {"2026-03-29 02:30:00", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"},
  };
  for (const Case& c : cases) {
    const Result<CronArgs> args = parsed({{"start_date", c.text}, {"end_date", c.text}, {"timezone", "Europe/Paris"}});
    ASSERT_TRUE(args) << c.text << args.error().message;
    EXPECT_EQ(rfc3339(*args->schedule.not_before), c.start) << c.text;
    EXPECT_EQ(rfc3339(*args->schedule.not_after), c.end) << c.text;
  }
}

TEST(CronArgs, FollowOurRuleWhereTheClockChanges) {
  const Result<CronArgs> args = parsed({{"hour", "2"}, {"minute", "30"}, {"timezone", "Europe/Paris"}});
  EXPECT_EQ(next_times(*args, *parse_rfc3339("2026-03-29T00:00:00Z"), 2),
            (std::vector<std::string>{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}));
  EXPECT_EQ(parsed({{"minute", "30"}})->schedule.dst, (DstRule{DstRule::Gap::skip, DstRule::Overlap::both}));
}

TEST(CronArgs, CarryJitterAsSeconds) {
  EXPECT_EQ(parsed({{"hour", "2"}, {"jitter", "120"}})->jitter, Seconds(120));
  EXPECT_EQ(parsed({{"hour", "2"}})->jitter, Seconds(0));
}

TEST(CronArgs, SayWhichKeyAndColumnIsWrong) {
  struct Case {
    Args args;
    std::string field;
    std::size_t column;
    std::string found;
  };
  const std::vector<Case> cases{
      {{{"hours", "1"}}, "cron_args", 0, "did you mean hour?"},
      {{{"hour", "24"}}, "hour", 1, "'24' is out of range; expected 0-23"},
      {{{"hour", "1,24"}}, "hour", 3, "out of range"},
      {{{"hour", "1,,2"}}, "hour", 3, "empty"},
      {{{"hour", ""}}, "hour", 1, "empty"},
      {{{"hour", "-1"}}, "hour", 1, "unknown name"},
      {{{"hour", "5-1"}}, "hour", 1, "backwards"},
      {{{"hour", "*/0"}}, "hour", 1, "at least 1"},
      {{{"hour", "1-5/0"}}, "hour", 1, "at least 1"},
      {{{"hour", "*/24"}}, "hour", 1, "longer than the range"},
      {{{"hour", "20/5"}}, "hour", 1, "longer than the range"},
      {{{"hour", "1/"}}, "hour", 1, "cannot read"},
      {{{"hour", "*x"}}, "hour", 1, "cannot read"},
      {{{"hour", "99999999999999999999"}}, "hour", 1, "out of range"},
      {{{"month", "janfeb"}}, "month", 1, "unknown name"},
      {{{"month", "jan-mar/2"}}, "month", 1, "unknown name"},
      {{{"day_of_week", "7"}}, "day_of_week", 1, "0 is Monday"},
      {{{"day_of_week", "fri-mon"}}, "day_of_week", 1, "backwards"},
      {{{"day", "6th mon"}}, "day", 1, "cannot read"},
      {{{"day", "1st 0"}}, "day", 1, "weekday"},
      {{{"day", "0"}}, "day", 1, "out of range"},
      {{{"week", "54"}}, "week", 1, "1-53"},
      {{{"year", "1969"}}, "year", 1, "out of range"},
      {{{"hour", "\xFF"}}, "hour", 1, "UTF-8"},
      {{{"hour", std::string(100'000, '1')}}, "hour", 1, "at most"},
      {{{"timezone", "Mars/Olympus"}}, "timezone", 1, "unknown time zone"},
      {{{"start_date", "yesterday"}}, "start_date", 1, "2026-12-01"},
      {{{"end_date", "2026-02-30"}}, "end_date", 9, "2026-12-01"},
      {{{"jitter", "-5"}}, "jitter", 1, "whole seconds"},
      {{{"jitter", "1.5"}}, "jitter", 1, "whole seconds"},
      {{{"jitter", "99999999999"}}, "jitter", 1, "whole seconds"},
      {{{"cronstring", "* * * *"}}, "cronstring", 1, "4 fields"},
      {{{"cronstring", "* * * * * *"}}, "cronstring", 11, "more than 5"},
      {{{"cronstring", "0 25 * * *"}}, "cronstring", 3, "hour: '25'"},
      {{{"cronstring", "@fortnightly"}}, "cronstring", 1, "expected 5 fields"},
  };
  for (const Case& c : cases) {
    const Result<CronArgs> args = parsed(c.args);
    ASSERT_FALSE(args) << c.args.begin()->second;
    EXPECT_EQ(args.error().code, Code::invalid);
    EXPECT_EQ(args.error().field, c.field) << args.error().message;
    EXPECT_EQ(args.error().column, c.column) << args.error().message;
    EXPECT_NE(args.error().message.find(c.found), std::string::npos) << args.error().message;
  }
}

}  // namespace
}  // namespace kron
