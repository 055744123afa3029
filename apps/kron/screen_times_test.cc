#include "screen_times.h"

#include <gtest/gtest.h>

#include "command_rig.h"
#include "fake_krond.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"

// How the screens spell times, for people and for programs.
namespace kron::cli::screen_times_test {
namespace {

Instant instant(const char* text) { return *parse_rfc3339(text); }

TimeZone zone(const char* name) {
  ZoneDatabase zones;
  return *zones.find(name);
}

TEST(Distance, IsInOneUnitAndRoundedTowardsNow) {
  constexpr std::int64_t kDay = 86400;
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "now"},
      {1, "in 1 s"},
      {-1, "1 s ago"},
      {59, "in 59 s"},
      {60, "in 1 min"},
      {299, "in 4 min"},
      {3599, "in 59 min"},
      {3600, "in 1 h"},
      {-3 * 3600 - 3599, "3 h ago"},
      {2 * kDay - 1, "in 47 h"},
      {2 * kDay, "in 2 d"},
      {-400 * kDay, "400 d ago"},
      {730 * kDay - 1, "in 729 d"},
      {730 * kDay, "in 2 y"},
      {-5000 * 365 * kDay, "5000 y ago"},
  };
  for (const auto& [seconds, text] : cases) EXPECT_EQ(distance_text(Seconds(seconds)), text) << seconds;
}

TEST(ScreenTimes, ForProgramsAreRfc3339Alone) {
  const ScreenTimes times;
  EXPECT_EQ(times.at(instant("2026-03-01T00:00:00Z")), "2026-03-01T00:00:00Z");
  EXPECT_EQ(times.near(instant("2026-03-01T00:00:00Z")), "2026-03-01T00:00:00Z");
  EXPECT_EQ(times.near("2026-03-01T00:00:00.123Z"), "2026-03-01T00:00:00.123Z") << "as it came";
  EXPECT_EQ(times.distance(instant("2026-03-01T00:00:00Z")), "");
}

TEST(ScreenTimes, ForPeopleAreLocalAndRelative) {
  const ScreenTimes times(zone("Europe/Paris"), instant("2026-03-01T00:00:00Z"));
  EXPECT_EQ(times.at("2026-03-01T00:04:00Z"), "2026-03-01 01:04:00");
  EXPECT_EQ(times.near("2026-03-01T00:04:00Z"), "2026-03-01 01:04:00, in 4 min");
  EXPECT_EQ(times.near("2026-02-28T21:00:00Z"), "2026-02-28 22:00:00, 3 h ago");
  EXPECT_EQ(times.near(""), "");
  EXPECT_EQ(times.near("soon"), "soon");
  EXPECT_EQ(times.zone_name(), "Europe/Paris");
}

TEST(ScreenTimes, InUtcAreRfc3339AndRelative) {
  const ScreenTimes times(std::nullopt, instant("2026-03-01T00:00:00Z"));
  EXPECT_EQ(times.near("2026-03-01T00:04:00Z"), "2026-03-01T00:04:00Z, in 4 min");
  EXPECT_EQ(times.zone_name(), "UTC");
}

TEST(ScreenTimes, ATimeThatTheClockShowsTwiceHasItsOffset) {
  const ScreenTimes times(zone("Europe/Paris"), instant("2026-10-25T00:00:00Z"));
  EXPECT_EQ(times.at("2026-10-25T00:30:00Z"), "2026-10-25 02:30:00+02:00");
  EXPECT_EQ(times.at("2026-10-25T01:30:00Z"), "2026-10-25 02:30:00+01:00");
  EXPECT_EQ(times.at("2026-10-25T02:00:00Z"), "2026-10-25 03:00:00");
}

TEST(ScreenTimes, AreForPeopleOnlyWhereTheyAskOrATerminalIs) {
  const Variable tz("TZ", "Europe/Paris");
  const Instant now = instant("2026-03-01T00:00:00Z");
  const auto shown = [&](const TimeFlags& flags) {
    return captured([&] {
      std::printf("%s", screen_times(flags, now).near(now).c_str());
      return 0;
    });
  };
  EXPECT_EQ(shown({}).out, "2026-03-01T00:00:00Z");
  EXPECT_EQ(shown({.utc = true}).out, "2026-03-01T00:00:00Z");
  EXPECT_EQ(shown({.local = true}).out, "2026-03-01 01:00:00, now");
  const Variable rule("TZ", "EST5EDT,M3.2.0,M11.1.0");
  EXPECT_EQ(shown({.local = true}).out, "2026-03-01T00:00:00Z, now") << "a zone without a name leaves UTC";
}

TEST(ScreenTimes, OfTheStatusCountFromTheClockOfKrond) {
  const Variable tz("TZ", "Asia/Kolkata");
  FakeKrond krond;
  krond.on("GET /status?changes=true",
           R"({"version":"1","pid":7,"ready":true,"startedAt":"2026-03-01T00:00:00Z","now":"2026-03-01T03:00:00Z",)"
           R"("jobs":1,"running":0,"nextDue":"2026-03-01T03:04:00Z"})");
  const Ran ran = krond.kron({"status", "--local"});
  EXPECT_THAT(ran.out, HasSubstr("started       2026-03-01 05:30:00, 3 h ago\n")) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("now           2026-03-01 08:30:00 Asia/Kolkata\n"));
  EXPECT_THAT(ran.out, HasSubstr("next due      2026-03-01 08:34:00, in 4 min\n"));
  EXPECT_THAT(krond.kron({"status"}).out, HasSubstr("next due      2026-03-01T03:04:00Z\n"));
}

TEST(ScreenTimes, OfListsAndOneRunAreLocalWhenAskedFor) {
  const Variable tz("TZ", "Asia/Kolkata");
  constexpr char kRun[] = R"({"number":3,"job":"a","runId":"r1","outcome":"executed","state":"ended","exitCode":0,)"
                          R"("periodId":"2020-03-01T00:00:00Z","chosenTime":"2020-03-01T00:10:00Z",)"
                          R"("startedAt":"2020-03-01T00:10:00Z","endedAt":"2020-03-01T00:10:05Z"})";
  FakeKrond krond;
  krond.on("GET /runs?limit=100", R"({"runs":[)" + std::string(kRun) + "]}");
  krond.on("GET /runs/r1", kRun);
  krond.on("GET /jobs?limit=100",
           R"({"jobs":[{"identity":"a","schedule":"@daily","running":0,"paused":{"until":"2020-03-02T00:00:00Z"},)"
           R"("next":{"startsAt":"2020-03-02T00:00:00Z"},"last":)" +
               std::string(kRun) + "}]}");
  EXPECT_THAT(krond.kron({"runs", "--local"}).out, HasSubstr("2020-03-01 05:40:00, ")) << "when it started";
  EXPECT_THAT(krond.kron({"runs", "--local"}).out, HasSubstr("2020-03-01 05:30:00  a ")) << "its period";
  EXPECT_THAT(krond.kron({"show", "r1", "--local"}).out, AllOf(HasSubstr("period        2020-03-01 05:30:00\n"),
                                                               HasSubstr("ended         2020-03-01 05:40:05, ")));
  EXPECT_THAT(krond.kron({"jobs", "--local"}).out,
              AllOf(HasSubstr("paused until 2020-03-02 05:30:00  "), HasSubstr("exit 0 2020-03-01 05:40:00, ")));
  EXPECT_THAT(krond.kron({"runs", "--local", "--utc"}).err, HasSubstr("--utc"));
}

}  // namespace
}  // namespace kron::cli::screen_times_test
