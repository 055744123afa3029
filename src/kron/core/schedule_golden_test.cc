#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/core/schedule.h"
#include "kron/testing/golden.h"

namespace kron {
namespace {

using Json = nlohmann::json;

// Every line: expr, tz, from_utc, and expected_utc, the instants strictly after it.
void expect_next_times(const std::string& file) {
  ZoneDatabase zones;
  for (const std::string& line : testing::read_lines(testing::data_path("cron/") + file)) {
    const Json test = Json::parse(line);
    const Result<Schedule> schedule = parse_schedule(test["expr"].get<std::string>());
    const Result<TimeZone> zone = zones.find(test["tz"].get<std::string>());
    ASSERT_TRUE(schedule) << line << "\n" << schedule.error().message;
    ASSERT_TRUE(zone) << line;
    const auto expected = test["expected_utc"].get<std::vector<std::string>>();
    std::vector<std::string> found;
    Instant at = *parse_rfc3339(test["from_utc"].get<std::string>());
    while (found.size() < expected.size()) {
      const std::optional<Instant> next = schedule->next_after(at, *zone);
      if (!next) break;
      EXPECT_EQ(schedule->at_or_before(*next, *zone), next) << line;
      EXPECT_EQ(schedule->count_between(at + Seconds(1), *next, *zone), 1U) << line;
      found.push_back(rfc3339(*next));
      at = *next;
    }
    EXPECT_EQ(found, expected) << line;
  }
}

TEST(ScheduleGolden, NextTimesAgreeWithThreeLibraries) { expect_next_times("next.jsonl"); }

TEST(ScheduleGolden, NextTimesAroundClockChangesFollowTheRule) { expect_next_times("dst.jsonl"); }

TEST(ScheduleGolden, WhatAllLibrariesRejectOrAcceptIsRejectedOrAccepted) {
  const Json syntax = Json::parse(testing::read_file(testing::data_path("cron/syntax.json")));
  for (const Json& text : syntax["rejected_by_all_15_libraries"]) {
    const Result<Schedule> schedule = parse_schedule(text.get<std::string>());
    ASSERT_FALSE(schedule) << text;
    EXPECT_GE(schedule.error().column, 1U) << text;
    EXPECT_NE(schedule.error().message.find("expected"), std::string::npos) << schedule.error().message;
  }
  for (const Json& text : syntax["accepted_by_all_15_libraries"]) {
    EXPECT_TRUE(parse_schedule(text.get<std::string>())) << text;
  }
}

}  // namespace
}  // namespace kron
