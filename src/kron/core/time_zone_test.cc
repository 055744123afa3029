#include "kron/core/time_zone.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "kron/base/rfc3339.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using Kind = TimeZone::Resolution::Kind;

TimeZone zone(const std::string& name) {
  ZoneDatabase zones;
  return *zones.find(name);
}

Instant at(const std::string& text) { return *parse_rfc3339(text); }
LocalSeconds wall(const std::string& text) { return epoch_seconds(at(text + "Z")); }

TEST(TimeZone, IsUtcWhenDefaultMade) {
  const TimeZone utc;
  EXPECT_EQ(utc.name(), "UTC");
  EXPECT_EQ(utc.to_local(instant_of(1234)), 1234);
  EXPECT_EQ(utc.resolve(1234).kind, Kind::unique);
  EXPECT_EQ(utc, zone("UTC"));
}

TEST(TimeZone, SaysWhetherAWallClockTimeIsUniqueSkippedOrRepeated) {
  const TimeZone paris = zone("Europe/Paris");
  const auto unique = paris.resolve(wall("2026-07-01T12:00:00"));
  EXPECT_EQ(unique.kind, Kind::unique);
  EXPECT_EQ(unique.first, at("2026-07-01T10:00:00Z"));
  EXPECT_EQ(unique.second, unique.first);
  const auto skipped = paris.resolve(wall("2026-03-29T02:30:00"));
  EXPECT_EQ(skipped.kind, Kind::skipped);
  EXPECT_EQ(skipped.first, at("2026-03-29T01:00:00Z"));
  const auto repeated = paris.resolve(wall("2026-10-25T02:30:00"));
  EXPECT_EQ(repeated.kind, Kind::repeated);
  EXPECT_EQ(repeated.first, at("2026-10-25T00:30:00Z"));
  EXPECT_EQ(repeated.second, at("2026-10-25T01:30:00Z"));
}

TEST(TimeZone, KnowsTheEdgesOfAGapAndOfARepeat) {
  const TimeZone paris = zone("Europe/Paris");
  EXPECT_EQ(paris.resolve(wall("2026-03-29T01:59:59")).kind, Kind::unique);
  EXPECT_EQ(paris.resolve(wall("2026-03-29T02:00:00")).kind, Kind::skipped);
  EXPECT_EQ(paris.resolve(wall("2026-03-29T02:59:59")).kind, Kind::skipped);
  EXPECT_EQ(paris.resolve(wall("2026-03-29T03:00:00")).kind, Kind::unique);
  EXPECT_EQ(paris.resolve(wall("2026-10-25T01:59:59")).kind, Kind::unique);
  EXPECT_EQ(paris.resolve(wall("2026-10-25T02:00:00")).kind, Kind::repeated);
  EXPECT_EQ(paris.resolve(wall("2026-10-25T02:59:59")).kind, Kind::repeated);
  EXPECT_EQ(paris.resolve(wall("2026-10-25T03:00:00")).kind, Kind::unique);
}

TEST(TimeZone, LosesAWholeDayInApia) {
  const TimeZone apia = zone("Pacific/Apia");
  EXPECT_EQ(apia.resolve(wall("2011-12-29T23:59:59")).first, at("2011-12-30T09:59:59Z"));
  EXPECT_EQ(apia.resolve(wall("2011-12-30T12:00:00")).kind, Kind::skipped);
  EXPECT_EQ(apia.resolve(wall("2011-12-30T12:00:00")).first, at("2011-12-30T10:00:00Z"));
  EXPECT_EQ(apia.resolve(wall("2011-12-31T00:00:00")).first, at("2011-12-30T10:00:00Z"));
}

TEST(TimeZone, LosesAWholeDayInKwajalein) {
  // In 1993 it moved from the eastern side of the date line to the western.
  EXPECT_EQ(zone("Pacific/Kwajalein").resolve(wall("1993-08-21T12:00:00")).kind, Kind::skipped);
}

TEST(TimeZone, AppliesTheLastRuleUntilTheYear2400) {
  const TimeZone new_york = zone("America/New_York");
  EXPECT_EQ(new_york.to_civil(at("2199-07-01T16:00:00Z")), (CivilTime{2199, 7, 1, 12, 0, 0}));
  EXPECT_EQ(new_york.to_civil(at("2199-12-01T17:00:00Z")), (CivilTime{2199, 12, 1, 12, 0, 0}));
  EXPECT_EQ(new_york.to_civil(at("2399-07-01T16:00:00Z")), (CivilTime{2399, 7, 1, 12, 0, 0}));
}

TEST(TimeZone, KnowsTimesBeforeTheEpoch) {
  EXPECT_EQ(zone("Europe/London").to_civil(at("1940-07-01T12:00:00Z")), (CivilTime{1940, 7, 1, 13, 0, 0}));
  EXPECT_EQ(zone("Europe/London").to_civil(at("1945-07-01T12:00:00Z")), (CivilTime{1945, 7, 1, 14, 0, 0}));
}

TEST(TimeZone, SegmentsFollowEachOtherAndTheIndexFindsThem) {
  for (const std::string name : {"Europe/Paris", "Africa/Casablanca", "Pacific/Apia", "Asia/Gaza", "UTC"}) {
    const TimeZone tested = zone(name);
    const auto segments = tested.segments();
    for (std::size_t i = 0; i < segments.size(); ++i) {
      EXPECT_LT(segments[i].start, segments[i].end) << name;
      EXPECT_EQ(tested.segment_index(instant_of(segments[i].start)), i) << name;
      EXPECT_EQ(tested.segment_index(instant_of(segments[i].end - 1)), i) << name;
      if (i == 0) continue;
      EXPECT_EQ(segments[i].start, segments[i - 1].end) << name;
      EXPECT_NE(segments[i].offset, segments[i - 1].offset) << name;
    }
  }
}

TEST(TimeZone, ResolveInvertsToLocal) {
  const std::vector<std::string> names{"Europe/Paris", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"};
  testing::for_all(2000, [&] {
    const TimeZone tested = zone(*rc::gen::elementOf(names));
    const Instant t = instant_of(*rc::gen::inRange<std::int64_t>(0, epoch_seconds(kLastInstant)));
    const auto found = tested.resolve(tested.to_local(t));
    RC_ASSERT(found.kind != Kind::skipped);
    RC_ASSERT(t == found.first || t == found.second);
    RC_ASSERT(tested.to_local(found.second) == tested.to_local(t));
  });
}

TEST(ZoneDatabase, RefusesWhatIsNotAZone) {
  ZoneDatabase zones;
  for (const std::string& name :
       std::vector<std::string>{"", "Europe/Atlantis", "../etc/passwd", "Europe/../Europe/Paris", "/etc/localtime",
                                "Europe/Paris ", "Europe", "libc:localtime", "Fixed/UTC+01:00:00", "tzdata.zi",
                                std::string("UTC\0", 4), "Zürich", std::string(65, 'A')}) {
    const Result<TimeZone> found = zones.find(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, Code::invalid);
    EXPECT_EQ(found.error().field, "timezone");
    EXPECT_NE(found.error().message.find("expected"), std::string::npos) << found.error().message;
  }
}

TEST(ZoneDatabase, GivesTheSameZoneToManyThreads) {
  ZoneDatabase zones;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&zones] {
      for (const std::string name : {"Europe/Paris", "Asia/Tokyo", "America/New_York"}) {
        EXPECT_EQ(zones.find(name)->name(), name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kron
