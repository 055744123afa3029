#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/base/sha256.h"
#include "kron/core/schedule_expression.h"
#include "kron/core/schedule_model.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

std::uint64_t bits(const std::vector<int>& values) {
  std::uint64_t set = 0;
  for (const int value : values) set |= std::uint64_t{1} << value;
  return set;
}

Schedule parsed(const std::string& text, const std::string& identity = {}) {
  const Result<Schedule> schedule = parse_schedule(text, identity);
  EXPECT_TRUE(schedule) << text << ": " << schedule.error().message;
  return schedule.value_or(Schedule{});
}

TEST(ScheduleParse, ReadsTheMinuteFieldInEveryForm) {
  struct Case {
    std::string field;
    std::vector<int> minutes;
  };
  const std::vector<Case> cases{
      {"5", {5}},
      {"05", {5}},
      {"1,3,2", {1, 2, 3}},
      {"10-13", {10, 11, 12, 13}},
      {"58-1", {58, 59, 0, 1}},
      {"55-4/3", {55, 58, 1, 4}},
      {"50/4", {50, 54, 58}},
      {"*/20", {0, 20, 40}},
      {"*/60", {0}},
      {"7/99", {7}},
      {"1-9/100", {1}},
      {"*/18446744073709551615", {0}},
      {"0-59/30,5", {0, 5, 30}},
  };
  for (const Case& c : cases) EXPECT_EQ(parsed(c.field + " * * * *").minutes, bits(c.minutes)) << c.field;
}

TEST(ScheduleParse, ReadsWeekdaysWithSundayAtBothEnds) {
  struct Case {
    std::string field;
    std::vector<int> weekdays;
  };
  const std::vector<Case> cases{
      {"0", {0}},
      {"7", {0}},
      {"5-7", {5, 6, 0}},
      {"6-7", {6, 0}},
      {"0-7", {0, 1, 2, 3, 4, 5, 6}},
      {"7-2", {0, 1, 2}},
      {"FRI-MON", {5, 6, 0, 1}},
      {"sun", {0}},
      {"Sun-Sat", {0, 1, 2, 3, 4, 5, 6}},
      {"1-7/2", {1, 3, 5, 0}},
      {"*/2", {0, 2, 4, 6}},
      {"1/2", {1, 3, 5}},
      {"7/3", {0, 3, 6}},
      {"6-0", {6, 0}},
  };
  for (const Case& c : cases) EXPECT_EQ(parsed("0 0 * * " + c.field).weekdays, bits(c.weekdays)) << c.field;
}

TEST(ScheduleParse, ReadsTheSpecialDays) {
  const Schedule s = parsed("0 0 1W,15,L,lw,L-3 * MON#1,FRIL,7l,5#5");
  EXPECT_EQ(s.days, bits({15}));
  EXPECT_EQ(s.near_weekday, bits({1}));
  EXPECT_EQ(s.days_from_end, bits({0, 3}));
  EXPECT_TRUE(s.last_weekday);
  EXPECT_EQ(s.weekdays, 0);
  EXPECT_EQ(s.last_weekdays, bits({5, 0}));
  EXPECT_EQ(s.nth_weekdays, bits({1, 28 + 5}));
  EXPECT_EQ(s.combine, Schedule::Combine::any);
}

TEST(ScheduleParse, CombinesTheDayFieldsAsVixieDid) {
  using enum Schedule::Combine;
  EXPECT_EQ(parsed("0 0 1 * 1").combine, any);
  EXPECT_EQ(parsed("0 0 1-31 * 1").combine, any);
  EXPECT_EQ(parsed("0 0 */2 * 1").combine, all);
  EXPECT_EQ(parsed("0 0 1 * */2").combine, all);
  EXPECT_EQ(parsed("0 0 ? * 1").combine, all);
  EXPECT_EQ(parsed("0 0 1 * ?").combine, all);
  EXPECT_EQ(parsed("0 0 1,* * 1").combine, any);
}

TEST(ScheduleParse, TakesSecondsBeforeAndAYearBehind) {
  EXPECT_EQ(parsed("1 2 3 4 5").seconds, bits({0}));
  const Schedule six = parsed("30 1 2 3 4 *");
  EXPECT_EQ(six.seconds, bits({30}));
  EXPECT_EQ(six.minutes, bits({1}));
  EXPECT_EQ(six.years, kAllYears);
  const Schedule seven = parsed("30 1 2 3 4 * 1970,2199");
  EXPECT_EQ(seven.years, (YearSet{1, 0, 0, std::uint64_t{1} << 37}));
}

TEST(ScheduleParse, ExpandsMacros) {
  EXPECT_EQ(parsed("@yearly"), parsed("0 0 1 1 *"));
  EXPECT_EQ(parsed("@annually"), parsed("0 0 1 1 *"));
  EXPECT_EQ(parsed("@monthly"), parsed("0 0 1 * *"));
  EXPECT_EQ(parsed("@weekly"), parsed("0 0 * * 0"));
  EXPECT_EQ(parsed("  @Daily "), parsed("0 0 * * *"));
  EXPECT_EQ(parsed("@midnight"), parsed("0 0 * * *"));
  EXPECT_EQ(parsed("@hourly"), parsed("0 * * * *"));
  EXPECT_EQ(parsed("@every 1h30m").every, Seconds(5400));
  EXPECT_EQ(parsed("@reboot").kind, Schedule::Kind::reboot);
}

TEST(ScheduleParse, ChoosesHByIdentityAndFieldName) {
  const std::string identity = "prod/db-backup";
  const auto hashed = [&](const std::string& field) { return leading_u64(sha256({identity, "\n", field})); };
  const auto bit = [](std::uint64_t value) { return std::uint64_t{1} << value; };
  EXPECT_EQ(parsed("H * * * *", identity).minutes, bit(hashed("minute") % 60));
  EXPECT_EQ(parsed("0 H * * *", identity).hours, bit(hashed("hour") % 24));
  EXPECT_EQ(parsed("0 0 H * *", identity).days, bit(1 + hashed("day-of-month") % 28));
  EXPECT_EQ(parsed("0 0 1 H *", identity).months, bit(1 + hashed("month") % 12));
  EXPECT_EQ(parsed("0 0 * * H", identity).weekdays, bit(hashed("day-of-week") % 7));
  EXPECT_EQ(parsed("H 0 0 * * *", identity).seconds, bit(hashed("second") % 60));
  EXPECT_EQ(parsed("0 H(22-23) * * *", identity).hours, bit(22 + hashed("hour") % 2));
  EXPECT_EQ(parsed("0 0 H(29-31) * *", identity).days, bit(29 + hashed("day-of-month") % 3));
  std::uint64_t every_quarter = 0;
  for (std::uint64_t m = hashed("minute") % 15; m < 60; m += 15) every_quarter |= bit(m);
  EXPECT_EQ(parsed("H/15 * * * *", identity).minutes, every_quarter);
  EXPECT_EQ(parsed("H/100 * * * *", identity).minutes, bit(hashed("minute") % 60));
  std::uint64_t in_range = 0;
  for (std::uint64_t m = 10 + hashed("minute") % 7; m <= 29; m += 7) in_range |= bit(m);
  EXPECT_EQ(parsed("h(10-29)/7 * * * *", identity).minutes, in_range);
  EXPECT_FALSE(parsed("H H * * *", identity).star_minute);
}

TEST(ScheduleParse, TakesTheDstRuleFromHowMinuteAndHourBegin) {
  const DstRule wall_clock{DstRule::Gap::run, DstRule::Overlap::first};
  const DstRule interval{DstRule::Gap::skip, DstRule::Overlap::both};
  EXPECT_EQ(parsed("30 2 * * *").dst, wall_clock);
  EXPECT_EQ(parsed("0-59/10 1-3 * * *").dst, wall_clock);
  EXPECT_EQ(parsed("* 30 2 * * *").dst, wall_clock);
  EXPECT_EQ(parsed("*/10 2 * * *").dst, interval);
  EXPECT_EQ(parsed("0 */2 * * *").dst, interval);
  EXPECT_EQ(parsed("30 2,* * * *").dst, wall_clock);
}

TEST(ScheduleParse, SaysWhereAndWhatWentWrong) {
  struct Case {
    std::string text;
    std::string field;
    std::size_t column;
    std::string found;  // part of the message
  };
  const std::string huge(100'000, '*');
  const std::vector<Case> cases{
      {"", "", 1, "empty"},
      {"   ", "", 1, "empty"},
      {"* * * *", "", 1, "4 fields"},
      {"* * * * * * * *", "", 14, "more than 7"},
      {huge, "", 1, "100000 bytes"},
      {"60 * * * *", "minute", 1, "'60' is out of range; expected 0-59"},
      {"* 24 * * *", "hour", 3, "'24' is out of range; expected 0-23"},
      {"* * 0 * *", "day-of-month", 5, "'0' is out of range; expected 1-31"},
      {"* * * 13 *", "month", 7, "'13' is out of range; expected 1-12 or JAN-DEC"},
      {"* * * * 8", "day-of-week", 9, "'8' is out of range; expected 0-7 or SUN-SAT"},
      {"61 * * * * *", "second", 1, "'61' is out of range"},
      {"0 0 0 1 1 * 2200", "year", 13, "'2200' is out of range; expected 1970-2199"},
      {"0 0 0 1 1 * 2030-2020", "year", 13, "runs backwards"},
      {"1,,2 * * * *", "minute", 3, "empty list item"},
      {"1, * * * *", "minute", 3, "empty list item"},
      {",1 * * * *", "minute", 1, "empty list item"},
      {"-1 * * * *", "minute", 1, "sign"},
      {"+1 * * * *", "minute", 1, "sign"},
      {"1--2 * * * *", "minute", 3, "cannot begin with '-2'"},
      {"*/-1 * * * *", "minute", 3, "no sign"},
      {"*/0 * * * *", "minute", 3, "at least 1"},
      {"*/ * * * *", "minute", 3, "missing"},
      {"5- * * * *", "minute", 3, "missing"},
      {"*5 * * * *", "minute", 2, "unexpected '5'"},
      {"5x * * * *", "minute", 2, "unexpected 'x'"},
      {"* * * JANUARY *", "month", 7, "unknown name 'JANUARY'"},
      {"* * * * MONDAY", "day-of-week", 9, "unknown name 'MONDAY'"},
      {"MON * * * *", "minute", 1, "unknown name 'MON'"},
      {"* * * * L", "day-of-week", 9, "write 6L"},
      {"* * * * MON,L", "day-of-week", 13, "SAT"},
      {"L * * * *", "minute", 1, "'L' does not belong here"},
      {"* * L-31 * *", "day-of-month", 5, "1-30"},
      {"* * L-0 * *", "day-of-month", 5, "1-30"},
      {"* * LW5 * *", "day-of-month", 7, "unexpected '5'"},
      {"* * W * *", "day-of-month", 5, "unknown name 'W'"},
      {"* * 1-5W * *", "day-of-month", 8, "unexpected 'W'"},
      {"* * * * 1#6", "day-of-week", 11, "1-5"},
      {"* * * * 1#0", "day-of-week", 11, "1-5"},
      {"* * * * 1#", "day-of-week", 11, "missing"},
      {"* * * * 1W", "day-of-week", 10, "unexpected 'W'"},
      {"* * 1#2 * *", "day-of-month", 6, "unexpected '#2'"},
      {"? * * * *", "minute", 1, "'?'"},
      {"* * ?,1 * *", "day-of-month", 5, "alone"},
      {"* * 1,? * *", "day-of-month", 7, "alone"},
      {"H * * * *", "minute", 1, "identity"},
      {"H(1-70) * * * *", "minute", 5, "'70' is out of range"},
      {"H(9-1) * * * *", "minute", 1, "does not wrap"},
      {"H(1-9 * * * *", "minute", 1, "not closed"},
      {"H(1) * * * *", "minute", 1, "range such as"},
      {"0 0 0 1 1 * H", "year", 13, "'H' cannot choose"},
      {"99999999999999999999 * * * *", "minute", 1, "64 bits"},
      {"*/99999999999999999999 * * * *", "minute", 3, "64 bits"},
      {"0 0 31 2 *", "day-of-month", 5, "no date"},
      {"0 0 31 4,6,9,11 *", "day-of-month", 5, "no date"},
      {"0 0 30,31 FEB ?", "day-of-month", 5, "no date"},
      {"0 0 31W 2,4 *", "day-of-month", 5, "no date"},
      {"0 0 L-30 2 *", "day-of-month", 5, "no date"},
      {"0 0 0 29 2 * 2023", "day-of-month", 7, "in year '2023'"},
      {"0 0 0 29 2 * 2100", "day-of-month", 7, "no date"},
      {"\xFF 0 * * *", "", 1, "UTF-8"},
      {"\xE2\x80\x8B"
       "0 0 * * *",
       "minute", 1, "cannot begin with"},
      {std::string("0\0 0 * * *", 10), "minute", 2, "\\x00"},
      {"@", "", 1, "unknown macro '@'"},
      {"@dayly", "", 1, "did you mean @daily?"},
      {"@daily 5", "", 8, "unexpected text"},
      {"@every", "every", 7, "empty duration"},
      {"@every abc", "every", 8, "number"},
      {"@every 0s", "every", 8, "at least 1s"},
      {"@every 1.5s", "every", 8, "whole"},
      {"@every 500ms", "every", 8, "whole"},
      {"@every -1h", "every", 8, "negative"},
      {"@every 1h 5", "every", 10, ""},
  };
  for (const Case& c : cases) {
    const Result<Schedule> schedule = parse_schedule(c.text);
    ASSERT_FALSE(schedule) << c.text;
    EXPECT_EQ(schedule.error().code, Code::invalid);
    EXPECT_EQ(schedule.error().field, c.field) << c.text << ": " << schedule.error().message;
    EXPECT_EQ(schedule.error().column, c.column) << c.text << ": " << schedule.error().message;
    EXPECT_NE(schedule.error().message.find(c.found), std::string::npos) << c.text << ": " << schedule.error().message;
    EXPECT_LT(schedule.error().message.size(), 400U) << schedule.error().message;
  }
}

TEST(ScheduleParse, AcceptsRareDatesThatExist) {
  for (const std::string text : {"0 0 29 2 *", "0 0 31 2 1", "0 0 0 29 2 * 2024", "0 0 ? 2 MON#5", "0 0 29 2 */7",
                                 "0 0 L-28 2 *", "0 0 31W 1 *"}) {
    EXPECT_TRUE(parse_schedule(text)) << text;
  }
}

TEST(SchedulePrint, IsCanonical) {
  struct Case {
    std::string text;
    std::string printed;
  };
  const std::vector<Case> cases{
      {"* * * * *", "* * * * *"},
      {"  00\t05 * * ? ", "0 5 * * *"},
      {"*/15 9-17 * * MON-FRI", "*/15 9-17 * * 1-5"},
      {"0,15,30,45 * * * *", "0-45/15 * * * *"},
      {"0-59 * 1-31 * 0-6", "0-59 * 1-31 * 0-6"},
      {"*/30,5 * * * *", "*/30,5 * * * *"},
      {"*/99 * * * *", "*/60 * * * *"},
      {"0 0 L,1W,LW,15,L-2 * FRIL,MON#1,7", "0 0 15,1W,L,L-2,LW * 0,1#1,5L"},
      {"0 22-2 * nov-feb *", "0 0-2,22,23 * 1,2,11,12 *"},
      {"30 * * * * *", "30 * * * * *"},
      {"* * * * * * 2026-2030", "* * * * * * 2026-2030"},
      {"0 0 0 1 1 ? */10", "0 0 0 1 1 * 1970-2190/10"},
      {"@every 90m", "@every 1h30m"},
      {"@reboot", "@reboot"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(to_string(parsed(c.text)), c.printed);
    EXPECT_EQ(parsed(c.printed), parsed(c.text)) << c.text;
  }
}

TEST(SchedulePrint, ForPeopleIsAsTheyWouldWriteIt) {
  for (const std::string text : {"*/2 * * * * *", "*/15 * * * * *", "0 0 1 */3 *", "5-55/10 * * * * *", "* * * * * *",
                                 "0 0 1 2-11/3 *", "*/5 9-17 * * 1-5", "@every 1h30m"}) {
    EXPECT_EQ(expression_of(parsed(text)), text);
  }
}

TEST(SchedulePrint, IsReadBackAsTheSameSchedule) {
  testing::for_all(1500, [] {
    std::string text = testing::draw_model(testing::model::draw(0, 1) == 0).text;
    if (std::count(text.begin(), text.end(), ' ') == 5 && testing::model::draw(0, 1) == 0) {
      text += " " + testing::model::draw_field(2100, 2199, false).text;
    }
    const Result<Schedule> schedule = parse_schedule(text);
    RC_PRE(schedule.has_value());
    RC_LOG() << text << " printed as " << to_string(*schedule) << "\n";
    const Result<Schedule> again = parse_schedule(to_string(*schedule));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *schedule);
    RC_ASSERT(to_string(*again) == to_string(*schedule));
    const Result<Schedule> as_written = parse_schedule(expression_of(*schedule));
    RC_ASSERT(as_written.has_value());
    RC_ASSERT(*as_written == *schedule);
  });
}

}  // namespace
}  // namespace kron
