#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/core/schedule.h"
#include "kron/core/schedule_days.h"
#include "kron/core/schedule_model.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using testing::ModelSchedule;

// The names of all zones in the system's database.
std::vector<std::string> zone_names() {
  namespace fs = std::filesystem;
  const fs::path root = "/usr/share/zoneinfo";
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), root).string();
    std::string magic(4, '\0');
    std::ifstream(entry.path(), std::ios::binary).read(magic.data(), 4);
    const bool is_other_tree = name.starts_with("right/") || name.starts_with("posix/");
    if (magic == "TZif" && !is_other_tree && name.find('.') == std::string::npos) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// A parsed schedule and its model; impossible dates, which the parser refuses, are drawn again.
struct Drawn {
  ModelSchedule model;
  Schedule schedule;
};

Drawn draw_schedule(bool with_seconds) {
  Drawn drawn{testing::draw_model(with_seconds), {}};
  const Result<Schedule> parsed = parse_schedule(drawn.model.text);
  if (!parsed) RC_ASSERT(parsed.error().message.find("expected a date that exists") != std::string::npos);
  RC_PRE(parsed.has_value());
  drawn.schedule = *parsed;
  RC_ASSERT(drawn.schedule.dst == drawn.model.dst);
  if (testing::model::draw(0, 2) == 0) drawn.schedule.dst = drawn.model.dst = testing::draw_dst_rule();
  return drawn;
}

// Asks the model about every second of (t - window, t + window] and expects the search to agree.
void expect_agreement(const Drawn& drawn, const TimeZone& zone, Instant t, Seconds window) {
  RC_LOG() << drawn.model.text << " @dst(" << to_string(drawn.model.dst) << ") in " << zone.name() << " at "
           << rfc3339(t) << "\n";
  const std::optional<Instant> next = drawn.schedule.next_after(t, zone);
  if (next) {
    RC_ASSERT(*next > t);
    RC_ASSERT(drawn.schedule.at_or_before(*next, zone) == next);
    RC_ASSERT(drawn.model.is_nominal(*next, zone));
  }
  std::uint64_t count = 0;
  for (Instant at = t + Seconds(1); at <= t + window; at += Seconds(1)) {
    const bool nominal = drawn.model.is_nominal(at, zone);
    if (nominal) ++count;
    if (nominal && count == 1) RC_ASSERT(next == at);
    if (nominal) RC_ASSERT(drawn.schedule.is_nominal(at, zone));
  }
  RC_ASSERT(drawn.schedule.count_between(t + Seconds(1), t + window, zone) == count);
  const std::optional<Instant> last = drawn.schedule.at_or_before(t, zone);
  if (last) RC_ASSERT(*last <= t && drawn.model.is_nominal(*last, zone));
  for (Instant at = t; at > t - window; at -= Seconds(1)) {
    if (!drawn.model.is_nominal(at, zone)) continue;
    RC_ASSERT(last == at);
    break;
  }
}

TEST(ScheduleSearch, AgreesWithTheModelSecondBySecondInEveryZone) {
  ZoneDatabase zones;
  const std::vector<std::string> names = zone_names();
  ASSERT_GT(names.size(), 300U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const TimeZone zone = *zones.find(name);
    testing::for_all(
        2, [&] { expect_agreement(draw_schedule(false), zone, testing::draw_instant(zone), std::chrono::hours(5)); });
    if (HasFatalFailure()) return;
  }
}

TEST(ScheduleSearch, AgreesWithTheModelAtTheSecondsOfSixFields) {
  ZoneDatabase zones;
  const TimeZone zone = *zones.find("Australia/Lord_Howe");
  testing::for_all(
      300, [&] { expect_agreement(draw_schedule(true), zone, testing::draw_instant(zone), std::chrono::minutes(40)); });
}

TEST(ScheduleSearch, FindsExactlyTheDaysOfAMonthThatTheModelFinds) {
  testing::for_all(300, [] {
    const Drawn drawn = draw_schedule(false);
    RC_LOG() << drawn.model.text << "\n";
    for (int round = 0; round < 30; ++round) {
      CivilDate date{testing::model::draw(kFirstYear, kLastYear), testing::model::draw(1, 12), 1};
      if (!drawn.model.months.contains(date.month)) continue;
      const std::uint32_t days = matching_days(drawn.schedule, date.year, date.month);
      for (; date.day <= 31; ++date.day) {
        const bool exists = date.day <= days_in_month(date.year, date.month);
        RC_ASSERT((days >> date.day & 1) == (exists && drawn.model.matches_date(date) ? 1U : 0U));
      }
    }
  });
}

TEST(ScheduleSearch, TheWorkingDayNearADateStaysInItsMonth) {
  struct Case {
    std::string field;
    int year, month;
    int day;  // 0: none
  };
  const std::vector<Case> cases{
      {"1W", 2026, 8, 3},  {"15W", 2026, 8, 14}, {"16W", 2026, 8, 17}, {"31W", 2027, 1, 29}, {"31W", 2024, 11, 0},
      {"31W", 2027, 4, 0}, {"29W", 2026, 2, 0},  {"LW", 2026, 5, 29},  {"LW", 2026, 2, 27},  {"LW", 2026, 6, 30},
  };
  for (const Case& c : cases) {
    const Schedule schedule = *parse_schedule("0 0 " + c.field + " * *");
    EXPECT_EQ(matching_days(schedule, c.year, c.month), c.day == 0 ? 0U : 1U << c.day)
        << c.field << " in " << c.year << "-" << c.month;
  }
}

TEST(ScheduleSearch, NoDateBetweenOneNominalTimeAndTheNextMatches) {
  testing::for_all(400, [] {
    const Drawn drawn = draw_schedule(false);
    const Instant t = testing::draw_instant(TimeZone());
    RC_LOG() << drawn.model.text << " at " << rfc3339(t) << "\n";
    const std::optional<Instant> next = drawn.schedule.next_after(t, TimeZone());
    const std::int64_t end = epoch_seconds(next.value_or(kLastInstant)) / kSecondsPerDay;
    const std::int64_t first = epoch_seconds(t) / kSecondsPerDay + 1;
    for (std::int64_t day = first; day < std::min(end, first + 3000); ++day) {
      RC_ASSERT(!drawn.model.matches_date(date_of(day)));
    }
  });
}

TEST(ScheduleSearch, CountEqualsEnumeration) {
  ZoneDatabase zones;
  const std::vector<std::string> names{"Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo"};
  testing::for_all(200, [&] {
    const TimeZone zone = *zones.find(*rc::gen::elementOf(names));
    const Drawn drawn = draw_schedule(false);
    const Instant first = testing::draw_instant(zone);
    const Instant last = first + Seconds(testing::model::draw(0, static_cast<int>(40 * kSecondsPerDay)));
    RC_LOG() << drawn.model.text << " in " << zone.name() << " from " << rfc3339(first) << "\n";
    std::uint64_t count = 0;
    for (auto at = drawn.schedule.next_after(first - Seconds(1), zone); at && *at <= last && count < 5000;
         at = drawn.schedule.next_after(*at, zone)) {
      ++count;
    }
    RC_PRE(count < 5000);
    RC_ASSERT(drawn.schedule.count_between(first, last, zone) == count);
  });
}

TEST(ScheduleSearch, EveryIsCountedFromTheEpoch) {
  const Schedule schedule = *parse_schedule("@every 7h");
  EXPECT_EQ(schedule.next_after(instant_of(-5), TimeZone()), instant_of(0));
  EXPECT_EQ(schedule.next_after(instant_of(0), TimeZone()), instant_of(25'200));
  EXPECT_EQ(schedule.next_after(instant_of(25'199), TimeZone()), instant_of(25'200));
  EXPECT_EQ(schedule.at_or_before(instant_of(25'199), TimeZone()), instant_of(0));
  EXPECT_EQ(schedule.at_or_before(instant_of(-1), TimeZone()), std::nullopt);
  EXPECT_EQ(schedule.count_between(instant_of(0), instant_of(50'400), TimeZone()), 3U);
  EXPECT_EQ(schedule.count_between(instant_of(1), instant_of(50'399), TimeZone()), 1U);
}

TEST(ScheduleSearch, RebootHasNoNominalTimes) {
  const Schedule schedule = *parse_schedule("@reboot");
  EXPECT_EQ(schedule.next_after(instant_of(0), TimeZone()), std::nullopt);
  EXPECT_EQ(schedule.at_or_before(kLastInstant, TimeZone()), std::nullopt);
  EXPECT_EQ(schedule.count_between(kFirstInstant, kLastInstant, TimeZone()), 0U);
}

TEST(ScheduleSearch, YieldsNothingOnceItsYearsAreOver) {
  const Schedule schedule = *parse_schedule("0 0 0 1 1 * 2020-2022");
  EXPECT_EQ(schedule.next_after(*parse_rfc3339("2022-01-01T00:00:00Z"), TimeZone()), std::nullopt);
  EXPECT_EQ(schedule.at_or_before(kLastInstant, TimeZone()), *parse_rfc3339("2022-01-01T00:00:00Z"));
  EXPECT_EQ(schedule.at_or_before(*parse_rfc3339("2019-12-31T23:59:59Z"), TimeZone()), std::nullopt);
}

TEST(ScheduleSearch, AnswersForAnyTimeEvenFarOutside) {
  const Schedule schedule = *parse_schedule("0 0 * * *");
  for (const std::int64_t t : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
    EXPECT_EQ(schedule.next_after(instant_of(t), TimeZone()), kFirstInstant);
    EXPECT_EQ(schedule.at_or_before(instant_of(t), TimeZone()), std::nullopt);
  }
  const Instant last = *parse_rfc3339("2199-12-31T00:00:00Z");
  for (const std::int64_t t : {epoch_seconds(kLastInstant), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(schedule.next_after(instant_of(t), TimeZone()), std::nullopt);
    EXPECT_EQ(schedule.at_or_before(instant_of(t), TimeZone()), last);
  }
  EXPECT_EQ(schedule.count_between(instant_of(std::numeric_limits<std::int64_t>::min()),
                                   instant_of(std::numeric_limits<std::int64_t>::max()), TimeZone()),
            84'006U);
}

TEST(ScheduleSearch, CountsTenYearsOfSecondsWithoutWalkingThem) {
  ZoneDatabase zones;
  const Instant first = *parse_rfc3339("2020-01-01T00:00:00Z");
  const Instant last = *parse_rfc3339("2029-12-31T23:59:59Z");
  const auto every_second = static_cast<std::uint64_t>((last - first).count()) + 1;
  EXPECT_EQ(parse_schedule("* * * * * *")->count_between(first, last, *zones.find("Europe/Paris")), every_second);
}

}  // namespace
}  // namespace kron
