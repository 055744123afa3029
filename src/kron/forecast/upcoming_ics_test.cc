#include "kron/forecast/upcoming_ics.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "kron/core/constraints.h"
#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron::upcoming_ics_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::utc;

const Instant kMarch = utc("2026-03-01T00:00:00Z");

jobs::JobDefinition definition(const testing::JobSpec& spec) {
  jobs::JobDefinition result;
  result.job = testing::make_job(spec);
  return result;
}

IcsQuestion days(int count, Instant from = kMarch) { return {.from = from, .length = std::chrono::days(count)}; }

std::string made(const std::vector<jobs::JobDefinition>& jobs, const IcsQuestion& question) {
  return upcoming_ics(jobs, question).value();
}

std::size_t events_of(const std::string& schedule, const IcsQuestion& question, const std::string& zone = "UTC") {
  return ics_events(std::vector{definition({.schedule = schedule, .zone = zone})}, question).value().events.size();
}

TEST(UpcomingIcs, APeriodIsAnEventAtItsChosenTime) {
  const std::vector jobs{definition(
      {.schedule = "0 0 * * *", .window = "3h", .identity = "prod/db-backup", .salt = "backup", .zone = "UTC"})};
  EXPECT_EQ(made(jobs, days(1)),
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Kron//Upcoming//EN\r\nCALSCALE:GREGORIAN\r\n"
            "METHOD:PUBLISH\r\nNAME:Kron\r\nX-WR-CALNAME:Kron\r\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n"
            "X-PUBLISHED-TTL:PT1H\r\n"
            "BEGIN:VEVENT\r\nUID:prod/db-backup@2026-03-01T00:00:00Z\r\nDTSTAMP:20260301T000000Z\r\n"
            "DTSTART:20260301T023220Z\r\nSUMMARY:prod/db-backup\r\n"
            "DESCRIPTION:Nominal time: 2026-03-01T00:00:00+00:00\\nWindow: 2026-03-01T00:\r\n"
            " 00:00+00:00 to 2026-03-01T03:00:00+00:00\r\n"
            "TRANSP:TRANSPARENT\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n");
}

TEST(UpcomingIcs, AnEventIsAsLongAsTheRunUsually) {
  const std::vector jobs{definition({.schedule = "0 0 * * *", .identity = "a"}),
                         definition({.schedule = "0 1 * * *", .identity = "b"})};
  IcsQuestion question = days(1);
  question.usual = [](std::size_t job) { return job == 0 ? std::optional(Seconds(90)) : std::nullopt; };
  const std::string text = made(jobs, question);
  EXPECT_THAT(text, HasSubstr("DTSTART:20260301T000000Z\r\nDURATION:PT90S\r\nSUMMARY:a\r\n"));
  EXPECT_THAT(text, HasSubstr("Usually takes 1m30s"));
  EXPECT_THAT(text, HasSubstr("DTSTART:20260301T010000Z\r\nSUMMARY:b\r\n"));
}

TEST(UpcomingIcs, TheUidOfAPeriodIsTheSameWheneverItIsAsked) {
  const std::vector jobs{definition({.schedule = "0 0 * * *", .window = "3h", .identity = "a,b"})};
  const auto event_in = [&](const IcsQuestion& question) {
    const std::string text = made(jobs, question);
    const std::size_t at = text.find("UID:a\\,b@2026-03-04T00:00:00Z");
    return text.substr(at, text.find("END:VEVENT", at) - at);
  };
  EXPECT_EQ(event_in(days(30)), event_in(days(7, utc("2026-03-02T13:00:00Z"))));
}

TEST(UpcomingIcs, AJobWithMoreThan24PeriodsADayIsLeftOutAndCounted) {
  const std::vector jobs{definition({.schedule = "* * * * *", .identity = "often"}),
                         definition({.schedule = "0 * * * *", .identity = "hourly"}),
                         definition({.schedule = "*/20 9-17 * * MON-FRI", .identity = "office"})};
  const std::string text = made(jobs, days(30, utc("2026-03-01T13:05:00Z")));
  EXPECT_THAT(text, HasSubstr("UID:kron-note\r\nDTSTAMP:20260301T000000Z\r\nDTSTART;VALUE=DATE:20260301\r\n"
                              "SUMMARY:Kron: 2 jobs with more than 24 periods a day not shown\r\n"
                              "DESCRIPTION:Not shown:\\noften\\noffice\r\n"));
  EXPECT_THAT(text, HasSubstr("SUMMARY:hourly"));
  EXPECT_THAT(text, Not(HasSubstr("SUMMARY:office")));
}

TEST(UpcomingIcs, HowOftenIsTooOften) {
  struct Case {
    std::string schedule;
    IcsQuestion question;
    std::string zone;
    std::size_t events;
  };
  const Case cases[] = {
      {"0 * * * *", days(30), "UTC", 720},
      {"0 * * * *", days(30, utc("2026-10-01T12:00:00Z")), "Europe/Paris", 720},
      {"0 * * * *", days(1, utc("2026-10-24T22:00:00Z")), "Europe/Paris", 24},
      {"0 * * * *", days(10, utc("2026-04-01T00:00:00Z")), "Australia/Lord_Howe", 240},
      {"0,30 6-17 * * *", days(30, utc("2026-03-15T00:00:00Z")), "Europe/Paris", 720},
      {"0,30 6-17 * * *", days(1, utc("2026-03-28T12:00:00Z")), "Europe/Paris", 26},
      {"*/30 * * * *", days(1, utc("2026-03-01T12:00:00Z")), "UTC", 0},
      {"*/57 * * * *", days(1), "UTC", 0},
      {"0-24 0 1 3 *", days(30), "UTC", 0},
      {"0-23 0 1 3 *", days(30), "UTC", 24},
      {"* * * * *", {.from = kMarch, .length = Seconds(600)}, "UTC", 0},
      {"@every 1h", days(30), "UTC", 720},
      {"@every 3456s", days(30), "UTC", 0},
  };
  for (const Case& c : cases) EXPECT_EQ(events_of(c.schedule, c.question, c.zone), c.events) << c.schedule << c.zone;
}

TEST(UpcomingIcs, ThereAre5000EventsAndNotOneMore) {
  // 20 a day each.
  std::vector<jobs::JobDefinition> jobs;
  for (int i = 0; i < 25; ++i) {
    jobs.push_back(definition({.schedule = "0 0-19 * * *", .identity = "job-" + std::to_string(i)}));
  }
  EXPECT_EQ(ics_events(jobs, days(10)).value().events.size(), IcsQuestion::kMostEvents);
  EXPECT_FALSE(ics_events(jobs, days(10)).value().is_cut);
  jobs.push_back(definition({.schedule = "0 0 0 10 3 ? 2026", .identity = "one-more"}));
  const IcsEvents found = ics_events(jobs, days(10)).value();
  EXPECT_EQ(found.events.size(), IcsQuestion::kMostEvents);
  EXPECT_TRUE(found.is_cut);
  EXPECT_EQ(jobs[found.events.back().job].job.identity, "job-8") << "the last is the one that comes last";
  EXPECT_THAT(made(jobs, days(10)), HasSubstr("Kron: the first 5000 periods shown\\, until 2026-03-10T19:00:00Z"));
}

TEST(UpcomingIcs, WhatStartsNothingIsNotThere) {
  std::vector jobs{definition({.schedule = "0 12 * * *", .identity = "suspended"}),
                   definition({.schedule = "@reboot", .identity = "boot"}),
                   definition({.schedule = "0 12 * * *", .identity = "sundays"}),
                   definition({.schedule = "0 12 * * *", .identity = "paused"})};
  jobs[0].job.policy.suspend = true;
  ASSERT_TRUE(add_clause(jobs[2].job.constraints.only, "dow", "SUN").has_value());
  IcsQuestion question = days(8);
  question.starts_again = [](std::size_t job) {
    return job == 3 ? std::optional(utc("2026-03-08T12:00:00Z")) : std::nullopt;
  };
  std::vector<std::string> seen;
  const IcsEvents found = ics_events(jobs, question).value();
  for (const auto& event : found.events) {
    seen.push_back(jobs[event.job].job.identity + " " + rfc3339(event.chosen));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"sundays 2026-03-01T12:00:00Z", "paused 2026-03-08T12:00:00Z",
                                            "sundays 2026-03-08T12:00:00Z"}));
}

TEST(UpcomingIcs, HasItsLimits) {
  const std::vector jobs{definition({.schedule = "0 0 * * *"})};
  EXPECT_TRUE(upcoming_ics(jobs, {.from = kMarch, .length = IcsQuestion::kLongest}).has_value());
  const auto field_of = [&](const IcsQuestion& question) { return upcoming_ics(jobs, question).error().field; };
  EXPECT_EQ(field_of({.from = kMarch, .length = IcsQuestion::kLongest + Seconds(1)}), "for");
  EXPECT_EQ(field_of({.from = kMarch, .length = Seconds(0)}), "for");
  EXPECT_EQ(field_of({.from = kLastInstant, .length = Seconds(2)}), "for");
  EXPECT_EQ(field_of({.from = kLastInstant + Seconds(1)}), "from");
  IcsQuestion limited = days(30);
  limited.limit.periods = 31;
  EXPECT_TRUE(upcoming_ics(jobs, limited).has_value());
  limited.limit.periods = 30;
  EXPECT_EQ(field_of(limited), "for");
  const std::vector often{definition({.schedule = "* * * * * *"})};
  EXPECT_TRUE(upcoming_ics(often, limited).has_value()) << "what is left out costs nothing";
}

TEST(UpcomingIcs, IsEveryPeriodWithATimeInIt) {
  testing::for_all(100, [] {
    const auto job = definition({.schedule = *rc::gen::element<std::string>("0 */2 * * *", "30 3 * * *", "@every 97m"),
                                 .window = std::to_string(*rc::gen::inRange(0, 200'000)) + "s",
                                 .mode = *rc::gen::element(WindowMode::after, WindowMode::before, WindowMode::around)});
    const Instant from = kMarch + Seconds(*rc::gen::inRange(0, 90'000));
    const Seconds length(*rc::gen::inRange(1, 600'000));
    std::set<std::pair<Instant, Instant>> expected;
    for (auto n = job.job.schedule.next_after(from - Seconds(300'000), job.job.zone);
         *n < from + length + Seconds(300'000); n = job.job.schedule.next_after(*n, job.job.zone)) {
      const Instant chosen = decide(job.job, *n).due();
      if (chosen >= from && chosen < from + length) expected.emplace(chosen, *n);
    }
    std::vector<std::pair<Instant, Instant>> seen;
    const std::vector jobs{job};
    const IcsEvents found = ics_events(jobs, {.from = from, .length = length}).value();
    for (const auto& event : found.events) {
      seen.emplace_back(event.chosen, event.nominal);
    }
    RC_ASSERT(std::ranges::equal(seen, expected));
  });
}

}  // namespace
}  // namespace kron::upcoming_ics_test
