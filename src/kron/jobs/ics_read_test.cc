#include "kron/jobs/ics_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron::jobs {
namespace {

using ::testing::HasSubstr;
using Dates = std::vector<DateRange>;

constexpr CalendarYears kYears{2025, 2032};

std::string event(const std::string& lines) { return "BEGIN:VEVENT\nSUMMARY:Day\n" + lines + "END:VEVENT\n"; }
std::string calendar(const std::string& events) {
  return "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//y//EN\n" + events + "END:VCALENDAR\n";
}
CalendarDates read(const std::string& events, const CalendarYears& years = kYears) {
  const auto found = read_ics(calendar(events), years);
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found.value_or(CalendarDates{});
}
Dates dates(const std::string& lines) { return read(event(lines)).dates; }
std::string error_of(const std::string& events) {
  const auto found = read_ics(calendar(events), kYears);
  return found ? "" : found.error().message;
}

// Every date of one day, each year.
Dates yearly(int month_day, int first = 2025, int last = 2032) {
  Dates all;
  for (int year = first; year <= last; ++year) all.push_back({year * 10000 + month_day, year * 10000 + month_day});
  return all;
}

TEST(IcsRead, AllDayEventsAreDates) {
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261225\n"), (Dates{{20261225, 20261225}}));
  EXPECT_EQ(dates("DTSTART:20261225\n"), (Dates{{20261225, 20261225}})) << "a date all the same";
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227\n"), (Dates{{20261224, 20261226}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261224\n"), (Dates{{20261224, 20261224}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261224\nDURATION:P3D\n"), (Dates{{20261224, 20261226}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261224\nDURATION:P2W\n"), (Dates{{20261224, 20270106}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261224\nRDATE;VALUE=DATE:20261231,20280101\n"),
            (Dates{{20261224, 20261224}, {20261231, 20261231}, {20280101, 20280101}}));
  EXPECT_EQ(read("").dates, Dates{});
}

TEST(IcsRead, DatesThatTouchAreOneRange) {
  EXPECT_EQ(read(event("DTSTART;VALUE=DATE:20261231\n") + event("DTSTART;VALUE=DATE:20270101\n") +
                 event("DTSTART;VALUE=DATE:20261225\n") + event("DTSTART;VALUE=DATE:20261225\n"))
                .dates,
            (Dates{{20261225, 20261225}, {20261231, 20270101}}));
}

TEST(IcsRead, YearlyRulesAreFollowedThroughTheYears) {
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:19700714\nRRULE:FREQ=YEARLY\n"), yearly(714));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20270714\nRRULE:FREQ=YEARLY\n"), yearly(714, 2027));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20200714\nRRULE:FREQ=YEARLY;UNTIL=20270714\n"), yearly(714, 2025, 2027));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20240714\nRRULE:FREQ=YEARLY;COUNT=3\n"), yearly(714, 2025, 2026));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY\n"),
            (Dates{{20280229, 20280229}, {20320229, 20320229}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20200101\nRRULE:FREQ=YEARLY;INTERVAL=4\n"),
            (Dates{{20280101, 20280101}, {20320101, 20320101}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20251127\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH\n"),
            (Dates{{20251127, 20251127},
                   {20261126, 20261126},
                   {20271125, 20271125},
                   {20281123, 20281123},
                   {20291122, 20291122},
                   {20301128, 20301128},
                   {20311127, 20311127},
                   {20321125, 20321125}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20310526\nRRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO\n"),
            (Dates{{20310526, 20310526}, {20320531, 20320531}}));
  EXPECT_EQ(
      dates("DTSTART;VALUE=DATE:20311224\nDTEND;VALUE=DATE:20311227\nRRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24\n"),
      (Dates{{20311224, 20311226}, {20321224, 20321226}}));
}

TEST(IcsRead, ExceptionsAndMovedOccurrencesAreMinded) {
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20250714\nRRULE:FREQ=YEARLY;COUNT=3\nEXDATE;VALUE=DATE:20260714\n"),
            (Dates{{20250714, 20250714}, {20270714, 20270714}}));
  EXPECT_EQ(read(event("UID:a\nDTSTART;VALUE=DATE:20250714\nRRULE:FREQ=YEARLY;COUNT=2\n") +
                 event("UID:a\nRECURRENCE-ID;VALUE=DATE:20260714\nDTSTART;VALUE=DATE:20260715\n"))
                .dates,
            (Dates{{20250714, 20250714}, {20260715, 20260715}}));
  EXPECT_EQ(read(event("UID:a\nDTSTART;VALUE=DATE:20250714\nRRULE:FREQ=YEARLY;COUNT=2\n") +
                 event("UID:a\nRECURRENCE-ID;VALUE=DATE:20260714\nDTSTART;VALUE=DATE:20260714\nSTATUS:CANCELLED\n"))
                .dates,
            (Dates{{20250714, 20250714}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20250714\nSTATUS:CANCELLED\n"), Dates{});
}

TEST(IcsRead, WhatIsNoDayIsLeftOutAndCounted) {
  struct Case {
    std::string lines;
    CalendarDates::LeftOut CalendarDates::*kind;
  };
  const Case cases[] = {
      {"DTSTART:20261225T090000Z\n", &CalendarDates::timed},
      {"DTSTART;TZID=Europe/Paris:20261225T090000\nRRULE:FREQ=YEARLY\n", &CalendarDates::timed},
      {"DTSTART;VALUE=DATE:20261225\nDTEND:20261226T090000Z\n", &CalendarDates::timed},
      {"DTSTART;VALUE=DATE:20261225\nDURATION:PT36H\n", &CalendarDates::timed},
      {"DTSTART;VALUE=DATE:20261225\nRDATE:20261226T090000Z\n", &CalendarDates::timed},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=WEEKLY\n", &CalendarDates::by_rules},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=MONTHLY;COUNT=3\n", &CalendarDates::by_rules},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;BYHOUR=3\n", &CalendarDates::by_rules},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY\nRRULE:FREQ=YEARLY;BYMONTH=3\n", &CalendarDates::by_rules},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY\nEXRULE:FREQ=YEARLY;INTERVAL=2\n", &CalendarDates::by_rules},
      {"DTSTART;VALUE=DATE:20261225\nRECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20261225\n",
       &CalendarDates::by_rules},
      {"", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20261345\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20260229\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:nonsense\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20261225\nDTSTART;VALUE=DATE:20261226\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261224\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=SOMETIMES\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:\n", &CalendarDates::broken},
      {"DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;BYMONTH=99\n", &CalendarDates::broken},
  };
  for (const Case& c : cases) {
    const CalendarDates found = read(event(c.lines) + event(c.lines));
    EXPECT_EQ(found.dates, Dates{}) << c.lines;
    EXPECT_EQ((found.*c.kind).count, 2U) << c.lines;
    EXPECT_EQ((found.*c.kind).first, "'Day'") << c.lines;
  }
}

TEST(IcsRead, HostileRulesEnd) {
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY;COUNT=2147483647\n"), yearly(101, 2026));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY;INTERVAL=32767\n"), (Dates{{20260101, 20260101}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20260228\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30\n"), Dates{});
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:99991231\n"), (Dates{{20261225, 20321231}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:00010101\nDTEND;VALUE=DATE:99991231\n"), (Dates{{20250101, 20321231}}));
  EXPECT_EQ(dates("DTSTART;VALUE=DATE:99991231\nRRULE:FREQ=YEARLY\n"), Dates{});
  const CalendarDates zero = read(event("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY;INTERVAL=0\n"));
  EXPECT_LE(zero.dates.size(), 7U);
  const CalendarDates nested = read(event("DTSTART;VALUE=DATE:20260101\nBEGIN:VALARM\nTRIGGER:-P1D\nEND:VALARM\n"));
  EXPECT_EQ(nested.dates.size(), 1U);
}

TEST(IcsRead, HasItsLimits) {
  const std::string rule = event("DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY\n");
  std::string rules;
  for (std::size_t i = 0; i < kMostIcsRules; ++i) rules += rule;
  EXPECT_EQ(error_of(rules), "");
  EXPECT_THAT(error_of(rules + rule), HasSubstr("more than 500 events with rules"));

  // Every second day of 2025 to 2032 is more than the ranges.
  std::string every_other;
  for (std::size_t i = 0; i < kMostIcsRanges; ++i) {
    const CivilDate date = date_of(days_from_civil(2025, 1, 1) + 2 * static_cast<std::int64_t>(i));
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%04d%02d%02d", date.year, date.month, date.day);
    every_other += event(std::string("DTSTART;VALUE=DATE:") + text.data() + "\n");
  }
  EXPECT_EQ(error_of(every_other), "");
  EXPECT_THAT(error_of(every_other + event("DTSTART;VALUE=DATE:20321231\n")), HasSubstr("more than 1000 dates"));

  // 366 of them a year.
  const std::string dense = "RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU\n";
  EXPECT_EQ(error_of(event("DTSTART;VALUE=DATE:19000101\n" + dense)), "");
  EXPECT_THAT(error_of(event("DTSTART;VALUE=DATE:18000101\n" + dense)), HasSubstr("more than 50000 dates"));
}

TEST(IcsRead, TheYearsAreThoseAroundTheReading) {
  const CalendarYears years = calendar_years(testing::utc("2026-11-18T00:00:00Z"));
  EXPECT_EQ(years.first, 2025);
  EXPECT_EQ(years.last, 2032);
}

// What two krond that were started in different years know of the same date is the same.
TEST(IcsRead, WhetherADateIsInACalendarDoesNotDependOnWhenItWasRead) {
  testing::for_all(100, [] {
    std::string events;
    const int count = *rc::gen::inRange(1, 6);
    for (int i = 0; i < count; ++i) {
      const int date =
          *rc::gen::inRange(1990, 2035) * 10000 + *rc::gen::inRange(1, 13) * 100 + *rc::gen::inRange(1, 29);
      events += event("DTSTART;VALUE=DATE:" + std::to_string(date) + "\n" +
                      *rc::gen::element<std::string>("", "DURATION:P9D\n", "DURATION:P400D\n") +
                      *rc::gen::element<std::string>(
                          "", "RRULE:FREQ=YEARLY\n", "RRULE:FREQ=YEARLY;COUNT=30\n", "RRULE:FREQ=YEARLY;INTERVAL=3\n",
                          "RRULE:FREQ=YEARLY;BYMONTH=12;BYDAY=-1FR\n", "RRULE:FREQ=YEARLY;UNTIL=20290101\n"));
    }
    const int first = *rc::gen::inRange(2000, 2030);
    const int later = first + *rc::gen::inRange(0, 8);
    const auto within = [&](const CalendarYears& years) {
      std::vector<std::int32_t> days;
      for (const DateRange& range : read(events, years).dates) {
        for (auto day = days_from_civil(range.first / 10000, range.first / 100 % 100, range.first % 100);; ++day) {
          const CivilDate date = date_of(day);
          const std::int32_t number = date.year * 10000 + date.month * 100 + date.day;
          if (number > range.last) break;
          if (date.year >= later && date.year <= first + 7) days.push_back(number);
        }
      }
      return days;
    };
    RC_ASSERT(within({first, first + 7}) == within({later, later + 7}));
  });
}

}  // namespace
}  // namespace kron::jobs
