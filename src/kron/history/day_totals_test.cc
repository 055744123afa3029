#include "kron/history/day_totals.h"

#include <gtest/gtest.h>

#include "kron/history/fake/history_rig.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"

namespace kron::history {
namespace {

constexpr auto kFirstOfMarch = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1);

TEST(DayTotals, CountEntriesAndLengths) {
  DayTotals totals{.job = "backup", .day = kFirstOfMarch};
  totals.add(run_ended("r1"));
  Entry slow = run_ended("r2", 3);
  slow.duration = std::chrono::milliseconds(7250);
  totals.add(slow);
  totals.add(missed(kStart));
  totals.add(run_started("r3"));
  EXPECT_EQ(day_line(totals),
            R"({"job":"backup","day":"2026-03-01","counts":{"+":1,"x":1,"m":1,"r":1},"runs":2,"sumSeconds":12.25,)"
            R"("maxSeconds":7.25})"
            "\n");
  totals.take_back(run_started("r3"));
  totals.add(run_ended("r3"));
  EXPECT_EQ(totals.runs(), 3);
  EXPECT_EQ(totals.counts[kLetters.find('r')], 0);
  EXPECT_EQ(totals.sum, std::chrono::milliseconds(17250));
}

TEST(DayTotals, AnEntryIsOfTheDayOnWhichItStarted) {
  EXPECT_EQ(day_of(run_ended("r", 0, "a", kStart - Seconds(1))), kFirstOfMarch);
  EXPECT_EQ(day_of(run_ended("r", 0, "a", kStart)), kFirstOfMarch + std::chrono::days(1));
}

TEST(DayTotals, ReadBackEqual) {
  testing::for_all(300, [] {
    DayTotals totals{.job = "job " + *rc::gen::container<std::string>(rc::gen::inRange('\x01', '\x7f')),
                     .day = kFirstOfMarch + std::chrono::days(*rc::gen::inRange(-20'000, 20'000))};
    for (auto& count : totals.counts) count = *rc::gen::inRange<std::int64_t>(0, 100'000);
    totals.sum = Length(*rc::gen::inRange<std::int64_t>(0, 100'000'000'000));
    totals.longest = Length(*rc::gen::inRange<std::int64_t>(0, 100'000'000));
    const std::string line = day_line(totals);
    RC_ASSERT(line.find('\n') == line.size() - 1);
    RC_ASSERT(parse_day_line(line).value() == totals);
  });
}

TEST(DayTotals, WhatIsNoLineIsRefused) {
  EXPECT_TRUE(parse_day_line(R"({"job":"a","day":"2026-03-01","counts":{},"sumSeconds":0,"maxSeconds":0,"more":1})"));
  for (const char* bad :
       {"", "{}", "nonsense", R"({"job":"","day":"2026-03-01","counts":{},"sumSeconds":0,"maxSeconds":0})",
        R"({"job":"a","day":"2026-13-01","counts":{},"sumSeconds":0,"maxSeconds":0})",
        R"({"job":"a","day":"2026-03-01T","counts":{},"sumSeconds":0,"maxSeconds":0})",
        R"({"job":"a","day":"2026-03-01","sumSeconds":0,"maxSeconds":0})",
        R"({"job":"a","day":"2026-03-01","counts":{},"sumSeconds":-1,"maxSeconds":0})",
        R"({"job":"a","day":"2026-03-01","counts":{},"sumSeconds":1e300,"maxSeconds":0})",
        R"({"job":"a","day":"2026-03-01","counts":{},"sumSeconds":0})"}) {
    EXPECT_FALSE(parse_day_line(bad)) << bad;
  }
}

}  // namespace
}  // namespace kron::history
