#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/core/schedule.h"

namespace kron {
namespace {

using Times = std::vector<std::string>;

struct Question {
  std::string expression;
  std::string zone;
  std::string after;
  std::string dst = {};  // an override
};

Times next_times(const Question& question, std::size_t count) {
  ZoneDatabase zones;
  Schedule schedule = *parse_schedule(question.expression);
  if (!question.dst.empty()) schedule.dst = *parse_dst_rule(question.dst, schedule.dst);
  const TimeZone zone = *zones.find(question.zone);
  Times found;
  Instant at = *parse_rfc3339(question.after);
  while (found.size() < count) {
    const std::optional<Instant> next = schedule.next_after(at, zone);
    if (!next) break;
    EXPECT_EQ(schedule.at_or_before(*next, zone), next);
    found.push_back(rfc3339(*next));
    at = *next;
  }
  return found;
}

TEST(ScheduleInApia, RunsTheLostFridayAtTheFirstInstantOfSaturday) {
  // Samoa had no 30 December 2011: after Thursday the 29th, UTC-10, came Saturday the 31st, UTC+14.
  EXPECT_EQ(next_times({"0 9 * * 5", "Pacific/Apia", "2011-12-22T00:00:00Z"}, 4),
            (Times{"2011-12-23T19:00:00Z", "2011-12-30T10:00:00Z", "2012-01-05T19:00:00Z", "2012-01-12T19:00:00Z"}));
  EXPECT_EQ(next_times({"0 9 * * 5", "Pacific/Apia", "2011-12-22T00:00:00Z", "gap=skip"}, 2),
            (Times{"2011-12-23T19:00:00Z", "2012-01-05T19:00:00Z"}));
}

TEST(ScheduleInApia, TakesAllMatchesOfTheLostDayAndAMatchAtItsEndAsOnePeriod) {
  EXPECT_EQ(next_times({"0 0-23 30,31 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z"}, 2),
            (Times{"2011-12-30T10:00:00Z", "2011-12-30T11:00:00Z"}));
}

TEST(ScheduleInApia, SkipsTheLostDateForIntervals) {
  EXPECT_EQ(next_times({"0 */12 30,31 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z"}, 2),
            (Times{"2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"}));
}

TEST(ScheduleInLordHowe, KeepsHalfHourShifts) {
  // Forward at 02:00 to 02:30 on 2026-10-04, back at 02:00 to 01:30 on 2026-04-05.
  EXPECT_EQ(next_times({"15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z"}, 2),
            (Times{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}));
  EXPECT_EQ(next_times({"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z"}, 2),
            (Times{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}));
  EXPECT_EQ(next_times({"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "overlap=second"}, 2),
            (Times{"2026-04-04T15:15:00Z", "2026-04-05T15:15:00Z"}));
  EXPECT_EQ(next_times({"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "overlap=both"}, 3),
            (Times{"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z", "2026-04-05T15:15:00Z"}));
  EXPECT_EQ(next_times({"*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:30:00Z"}, 5),
            (Times{"2026-04-04T14:45:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:15:00Z", "2026-04-04T15:30:00Z",
                   "2026-04-04T15:45:00Z"}));
}

TEST(ScheduleInDublin, FollowsTheClockThoughItsWinterIsTheDaylightTime) {
  EXPECT_EQ(next_times({"30 1 * * *", "Europe/Dublin", "2026-03-28T12:00:00Z"}, 2),
            (Times{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}));
  EXPECT_EQ(next_times({"30 1 * * *", "Europe/Dublin", "2026-10-24T12:00:00Z"}, 2),
            (Times{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}));
}

TEST(ScheduleInCasablanca, SetsTheClockBackForRamadan) {
  // Back at 03:00 on 2025-02-23, forward at 02:00 on 2025-04-06.
  EXPECT_EQ(next_times({"30 2 * * *", "Africa/Casablanca", "2025-02-22T12:00:00Z"}, 2),
            (Times{"2025-02-23T01:30:00Z", "2025-02-24T02:30:00Z"}));
  EXPECT_EQ(next_times({"30 2 * * *", "Africa/Casablanca", "2025-04-05T12:00:00Z"}, 2),
            (Times{"2025-04-06T02:00:00Z", "2025-04-07T01:30:00Z"}));
}

TEST(ScheduleInSaoPaulo, RunsAMidnightThatDoesNotExistAtOne) {
  // Midnight of 2018-11-04 was 01:00; midnight of 2018-02-18 came twice as 23:00 the evening before.
  EXPECT_EQ(next_times({"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00:00Z"}, 2),
            (Times{"2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}));
  EXPECT_EQ(next_times({"30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00Z"}, 2),
            (Times{"2018-02-18T01:30:00Z", "2018-02-19T02:30:00Z"}));
}

TEST(ScheduleInTroll, JumpsTwoHours) {
  // 01:00 to 03:00 on 2026-03-29, 03:00 to 01:00 on 2026-10-25.
  EXPECT_EQ(next_times({"0,30 1,2 * * *", "Antarctica/Troll", "2026-03-28T12:00:00Z"}, 3),
            (Times{"2026-03-29T01:00:00Z", "2026-03-29T23:00:00Z", "2026-03-29T23:30:00Z"}));
  EXPECT_EQ(next_times({"0 2 * * *", "Antarctica/Troll", "2026-10-24T12:00:00Z"}, 2),
            (Times{"2026-10-25T00:00:00Z", "2026-10-26T02:00:00Z"}));
}

TEST(ScheduleInKathmandu, KeepsTheQuarterHour) {
  EXPECT_EQ(next_times({"0 6 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z"}, 2),
            (Times{"2026-01-01T00:15:00Z", "2026-01-02T00:15:00Z"}));
  // 1986-01-01: from +05:30 to +05:45, so the year began at 00:15.
  EXPECT_EQ(next_times({"5 0 * * *", "Asia/Kathmandu", "1985-12-31T00:00:00Z"}, 2),
            (Times{"1985-12-31T18:30:00Z", "1986-01-01T18:20:00Z"}));
}

TEST(ScheduleInChatham, ShiftsAtAQuarterToThree) {
  // Forward at 02:45 to 03:45 on 2026-09-27, back at 03:45 to 02:45 on 2026-04-05.
  EXPECT_EQ(next_times({"0 3 * * *", "Pacific/Chatham", "2026-09-25T20:00:00Z"}, 2),
            (Times{"2026-09-26T14:00:00Z", "2026-09-27T13:15:00Z"}));
  EXPECT_EQ(next_times({"0 3 * * *", "Pacific/Chatham", "2026-04-04T00:00:00Z"}, 2),
            (Times{"2026-04-04T13:15:00Z", "2026-04-05T14:15:00Z"}));
  EXPECT_EQ(next_times({"50 3 * * *", "Pacific/Chatham", "2026-09-25T20:00:00Z"}, 1), (Times{"2026-09-26T14:05:00Z"}));
}

TEST(ScheduleInStJohns, ShiftsAMinutePastMidnight) {
  // Until 2011 Newfoundland changed its clocks at 00:01: forward to 01:01 on 2010-03-14, back to 23:01 on 2010-11-06.
  EXPECT_EQ(next_times({"30 0 * * *", "America/St_Johns", "2010-03-13T12:00:00Z"}, 2),
            (Times{"2010-03-14T03:31:00Z", "2010-03-15T03:00:00Z"}));
  EXPECT_EQ(next_times({"30 23 * * *", "America/St_Johns", "2010-11-06T12:00:00Z"}, 2),
            (Times{"2010-11-07T02:00:00Z", "2010-11-08T03:00:00Z"}));
  EXPECT_EQ(next_times({"0 0 * * *", "America/St_Johns", "2010-11-06T12:00:00Z"}, 2),
            (Times{"2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z"}));
}

TEST(ScheduleInCaracas, MovesByHalfAnHourOnceIn2016) {
  // 2016-05-01: 02:30 became 03:00.
  EXPECT_EQ(next_times({"45 2 * * *", "America/Caracas", "2016-04-30T00:00:00Z"}, 3),
            (Times{"2016-04-30T07:15:00Z", "2016-05-01T07:00:00Z", "2016-05-02T06:45:00Z"}));
}

TEST(ScheduleInParis, FindsTheMadeUpPeriodFromTheSecondBeforeIt) {
  EXPECT_EQ(next_times({"30 2 * * *", "Europe/Paris", "2026-03-29T00:59:59Z"}, 1), (Times{"2026-03-29T01:00:00Z"}));
  EXPECT_EQ(next_times({"30 2 * * *", "Europe/Paris", "2026-03-29T01:00:00Z"}, 1), (Times{"2026-03-30T00:30:00Z"}));
}

TEST(ScheduleInParis, LooksBackFromTheSecondPassIntoTheFirst) {
  ZoneDatabase zones;
  const TimeZone paris = *zones.find("Europe/Paris");
  const Schedule schedule = *parse_schedule("50 * * * *");
  EXPECT_EQ(schedule.at_or_before(*parse_rfc3339("2026-10-25T01:10:00Z"), paris),
            *parse_rfc3339("2026-10-25T00:50:00Z"));
}

TEST(ScheduleInParis, StaysExactToTheEndOf2199) {
  EXPECT_EQ(next_times({"30 2 31 3 *", "Europe/Paris", "2197-01-01T00:00:00Z"}, 4),
            (Times{"2197-03-31T00:30:00Z", "2198-03-31T00:30:00Z", "2199-03-31T01:00:00Z"}));
  EXPECT_EQ(next_times({"0 0 31 12 *", "Europe/Paris", "2199-01-01T00:00:00Z"}, 2), (Times{"2199-12-30T23:00:00Z"}));
}

TEST(ScheduleRegressions, TheFirstOfMarchIsNotSkipped) {
  EXPECT_EQ(next_times({"0 12 1,15 * 3", "UTC", "2021-02-25T00:00:00Z"}, 3),
            (Times{"2021-03-01T12:00:00Z", "2021-03-03T12:00:00Z", "2021-03-10T12:00:00Z"}));
}

TEST(ScheduleRegressions, The29thOfFebruaryWaitsForALeapYear) {
  EXPECT_EQ(next_times({"0 0 29 2 *", "Europe/Berlin", "2025-02-20T00:00:00Z"}, 2),
            (Times{"2028-02-28T23:00:00Z", "2032-02-28T23:00:00Z"}));
  EXPECT_EQ(next_times({"0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z"}, 1), (Times{"2104-02-29T00:00:00Z"}));
}

TEST(ScheduleRegressions, TheRestOfAGapDayIsKept) {
  EXPECT_EQ(next_times({"0 */2 * * *", "Europe/Berlin", "2026-03-28T22:00:00Z"}, 5),
            (Times{"2026-03-28T23:00:00Z", "2026-03-29T02:00:00Z", "2026-03-29T04:00:00Z", "2026-03-29T06:00:00Z",
                   "2026-03-29T08:00:00Z"}));
}

TEST(ScheduleRegressions, ALeapDayOnAGivenWeekdayIsFoundAcrossFortyYears) {
  // `*/7` begins with a star, so both day fields must match: a Sunday.
  EXPECT_EQ(next_times({"0 0 29 2 */7", "UTC", "2088-03-01T00:00:00Z"}, 1), (Times{"2128-02-29T00:00:00Z"}));
}

}  // namespace
}  // namespace kron
