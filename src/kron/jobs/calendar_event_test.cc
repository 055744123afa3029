#include "kron/jobs/calendar_event.h"

#include <gtest/gtest.h>

#include "kron/base/text.h"
#include "kron/core/schedule.h"

namespace kron::jobs::calendar_event_test {
namespace {

TEST(CalendarEvent, IsTheSameScheduleAsACronExpression) {
  const struct {
    const char* calendar;
    const char* cron;
    const char* zone = "";
  } cases[] = {
      {"minutely", "* * * * *"},
      {"hourly", "0 * * * *"},
      {"daily", "0 0 * * *"},
      {"Daily UTC", "0 0 * * *", "UTC"},
      {"weekly", "0 0 * * MON"},
      {"monthly", "0 0 1 * *"},
      {"quarterly", "0 0 1 1,4,7,10 *"},
      {"semiannually", "0 0 1 1,7 *"},
      {"yearly", "0 0 1 1 *"},
      {"*-*-* 06,18:00:00", "0 6,18 * * *"},
      {"*-*-* 6:00:00.000000", "0 6 * * *"},
      {"10:30", "30 10 * * *"},
      {"Mon..Fri *-*-* 09:00:00 Europe/Paris", "0 9 * * MON-FRI", "Europe/Paris"},
      {"Mon-Fri 9:00", "0 9 * * MON-FRI"},
      {"mon,wed..fri", "0 0 * * MON,WED-FRI"},
      {"Sat,Sun *-*-* 00:00:00 UTC", "0 0 * * SAT,SUN", "UTC"},
      {"Monday,Sunday 1:2:3", "3 2 1 * * MON,SUN"},
      {"Mon..Sun 00:00", "0 0 * * *"},
      {"*-*-* *:00/15:00", "0/15 * * * *"},
      {"*:0/15 Europe/Paris", "0/15 * * * *", "Europe/Paris"},
      {"*-*-* 00/2:10..50/10:30", "30 10-50/10 0/2 * * *"},
      {"*-*-* *:*:00/5", "0/5 * * * * *"},
      {"12-24", "0 0 24 12 *"},
      {"2030-12-24 18:00", "0 0 18 24 12 * 2030"},
      {"30-01-01", "0 0 0 1 1 * 2030"},
      {"2026..2030/2-*-*", "0 0 0 * * * 2026-2030/2"},
      {"*-01..05/2-01,15 00:00:00", "0 0 1,15 1-5/2 *"},
      {"*-*-01/7", "0 0 1/7 * *"},
      {"*-*~01", "0 0 L * *"},
      {"*-02~03 12:00", "0 12 L-2 2 *"},
      {"*-*~01..03", "0 0 L-2,L-1,L * *"},
      {"*-*~1,3", "0 0 L,L-2 * *"},
      {"*-*~07/2", "0 0 L-6,L-4,L-2,L * *"},
      {"Mon *-*-01..07 00:00:00", "0 0 * * 1#1"},
      {"Sun *-*-22..28 03:00", "0 3 * * 0#4"},
      {"Tue,Thu *-*-08..14 03:00", "0 3 * * 2#2,4#2"},
      {"Mon *-05~07/1", "0 0 * 5 1L"},
      {"Fri *-*~01..07 22:00", "0 22 * * 5L"},
  };
  for (const auto& [calendar, cron, zone] : cases) {
    const auto schedule = schedule_of_calendar(calendar);
    ASSERT_TRUE(schedule) << calendar << ": " << schedule.error().message;
    EXPECT_EQ(*schedule, (CalendarSchedule{cron, zone})) << calendar;
    EXPECT_TRUE(parse_schedule(schedule->cron)) << calendar;
  }
}

TEST(CalendarEvent, WhatCronCannotSayIsRefusedAndNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"Fri *-*-13", "both to match"},     {"Mon *-*-01..08", "both to match"}, {"Mon *-*-05..11", "both to match"},
      {"Mon *-*-29..31", "both to match"}, {"Mon *-*~05", "both to match"},     {"12:00:00.5", "whole seconds"},
      {"*:*:0/0.5", "whole seconds"},      {"*-*~01..07/2", "no steps"},
  };
  for (const auto& [calendar, why] : cases) {
    const auto schedule = schedule_of_calendar(calendar);
    ASSERT_FALSE(schedule) << calendar << " became " << schedule->cron;
    EXPECT_NE(schedule.error().message.find(why), std::string::npos) << calendar << ": " << schedule.error().message;
  }
}

TEST(CalendarEvent, WhatIsNoneIsRefused) {
  for (const char* text : {"",           " ",
                           "@0",         "fortnightly",
                           "25:00",      "12",
                           "12:60",      "*-13-01",
                           "*-*-32",     "*-*-0",
                           "*-0-1",      "1:2:3:4",
                           "1-2-3-4",    "22..02:00",
                           "*-11..2-*",  "Sun..Mon 00:00",
                           "*/2-*-*",    "*:*/7",
                           "*-*-10~03",  "*~*-01",
                           "*-*~*",      "Mon Mon 0:0",
                           "0:0 Mon",    "0:0 *-*-*",
                           "UTC",        "*-*-* 0:0 UTC UTC",
                           "1..:0",      "..2:0",
                           "1/:0",       "1/0:0",
                           "1/-2:0",     "-1:0",
                           ",1:0",       "1,:0",
                           "9999-01-01", "99999999999:0",
                           "1.5:00"}) {
    const auto schedule = schedule_of_calendar(text);
    EXPECT_FALSE(schedule) << kron::quoted(text) << " became " << schedule->cron;
  }
  std::string many = "0";
  for (int i = 1; i < 200; ++i) many += ",1";
  EXPECT_FALSE(schedule_of_calendar(many + ":00"));
  EXPECT_FALSE(schedule_of_calendar(std::string(5000, '1')));
}

}  // namespace
}  // namespace kron::jobs::calendar_event_test
