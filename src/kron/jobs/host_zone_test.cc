#include "kron/jobs/host_zone.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/jobs/load.h"
#include "kron/jobs/zone_files.h"

namespace kron::jobs {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A host of its own below a temporary directory; the zone database is the system's.
class HostZoneOf : public ::testing::Test {
 protected:
  HostZoneOf() {
    std::string name = ::testing::TempDir() + "kron-host-XXXXXX";
    root_ = ::mkdtemp(name.data());
    places_.localtime = root_ + "/localtime";
    places_.timezone = root_ + "/timezone";
  }
  ~HostZoneOf() override { fs::remove_all(root_); }

  HostZone found() { return host_zone(zones_, places_); }
  std::string name() {
    const HostZone zone = found();
    return zone.is_known() ? zone.zone.name() : "not known";
  }
  std::string file_of(const std::string& zone) { return zone_directory() + "/" + zone; }
  void say_timezone(const std::string& zone) { std::ofstream(places_.timezone) << zone << "\n"; }

  ZoneDatabase zones_;
  HostZonePlaces places_;
  std::string root_;
};

TEST_F(HostZoneOf, ALinkIsTheZoneItLeadsToWhateverEtcTimezoneSays) {
  fs::create_symlink(file_of("Asia/Tokyo"), places_.localtime);
  say_timezone("Etc/UTC");
  EXPECT_EQ(name(), "Asia/Tokyo");
}

TEST_F(HostZoneOf, LinksAreFollowedAndMayBeRelative) {
  fs::create_directories(root_ + "/share/zoneinfo/Asia");
  fs::create_symlink("share/zoneinfo/Asia/Tokyo", root_ + "/second");
  fs::create_symlink("second", places_.localtime);
  EXPECT_EQ(name(), "Asia/Tokyo");
}

TEST_F(HostZoneOf, ACopyIsKnownByItsContent) {
  fs::copy_file(file_of("Asia/Tokyo"), places_.localtime);
  say_timezone("Etc/UTC");
  EXPECT_EQ(name(), "Asia/Tokyo");
  EXPECT_THAT(found().source, HasSubstr(", a copy"));
}

TEST_F(HostZoneOf, EtcTimezoneChoosesBetweenNamesOfTheSameZone) {
  places_.directory = root_ + "/zoneinfo";
  fs::create_directories(places_.directory + "/Europe");
  for (const char* zone : {"/Europe/Monaco", "/Europe/Paris", "/France"}) {
    fs::copy_file(file_of("Europe/Paris"), places_.directory + zone);
  }
  fs::copy_file(file_of("Europe/Paris"), places_.localtime);
  EXPECT_EQ(zone_like(places_.localtime, places_.directory, ""), "Europe/Monaco");
  EXPECT_EQ(zone_like(places_.localtime, places_.directory, "Europe/Paris"), "Europe/Paris");
  std::ofstream(places_.directory + "/zone1970.tab") << "#codes\nFR,MC\t+4852+00220\tEurope/Paris\n";
  EXPECT_EQ(zone_like(places_.localtime, places_.directory, "Asia/Tokyo"), "Europe/Paris");
}

TEST_F(HostZoneOf, ACopyOfNothingIsSaid) {
  std::ofstream(places_.localtime) << "TZif2 of another world";
  const HostZone zone = found();
  EXPECT_FALSE(zone.is_known());
  EXPECT_THAT(zone.problem, HasSubstr(places_.localtime + " is a copy of no zone"));
  EXPECT_THAT(zone.cure, HasSubstr("CRON_TZ"));
}

TEST_F(HostZoneOf, WithoutAFileItIsUtcAsInTheCLibrary) {
  EXPECT_EQ(name(), "UTC");
  fs::create_symlink("/nowhere/zoneinfo/Etc/UTC", places_.localtime);
  EXPECT_EQ(found().zone.segments().size(), 1U) << "a minimal image has the link and no database";
  fs::remove(places_.localtime);
  fs::create_symlink("/nowhere/zoneinfo/Mars/Olympus", places_.localtime);
  EXPECT_THAT(found().problem, HasSubstr("leads to no file"));
}

TEST_F(HostZoneOf, TheVariableIsReadAsTheCLibraryReadsIt) {
  fs::create_symlink(file_of("Asia/Tokyo"), places_.localtime);
  const std::pair<std::string, std::string> cases[] = {
      {"Europe/Paris", "Europe/Paris"},
      {":Europe/Paris", "Europe/Paris"},
      {":" + file_of("Europe/Paris"), "Europe/Paris"},
      {places_.localtime, "Asia/Tokyo"},
      {"", "UTC"},
      {"UTC0", "UTC"},
      {"GMT+00:00", "UTC"},
      {"nonsense", "not known"},
      {"Europe/Pariss", "not known"},
      {"EST5EDT,M3.2.0,M11.1.0", "not known"},
      {"<+03>-3", "not known"},
      {"UTC1", "not known"},
  };
  for (const auto& [value, expected] : cases) {
    places_.tz = value;
    EXPECT_EQ(name(), expected) << value;
    if (expected != "not known") continue;
    EXPECT_THAT(found().problem, HasSubstr("TZ is '" + value + "'"));
  }
}

LoadedJobs load_on(const std::string& text, HostZone host, Spelling spelling = Spelling::crontab) {
  static ZoneDatabase zones;
  return load_text("tab", text, spelling, zones, {.host = std::move(host)});
}

TEST(CrontabsWithoutCronTz, AreRefusedOnceWhenTheHostsZoneIsNotKnown) {
  const HostZone unknown{.problem = "the host's time zone has no name", .cure = "set CRON_TZ"};
  const LoadedJobs jobs = load_on("0 1 * * * a\n0 2 * * * b\n@reboot c\nCRON_TZ=Europe/Paris\n0 3 * * * d\n", unknown);
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(text_of(jobs.problems[0]), "tab: error: the host's time zone has no name\n    hint: set CRON_TZ\n");
  ASSERT_EQ(jobs.definitions.size(), 2U);
  EXPECT_EQ(command_of(jobs.definitions[0]), "c");
  EXPECT_EQ(command_of(jobs.definitions[1]), "d");
}

TEST(CrontabsWithoutCronTz, AreTheOnlyJobsInTheHostsZone) {
  ZoneDatabase zones;
  const HostZone tokyo{.zone = *zones.find("Asia/Tokyo"), .source = "TZ"};
  const auto zone_of = [&](const std::string& text, Spelling spelling) {
    const LoadedJobs jobs = load_on(text, tokyo, spelling);
    return jobs.definitions.empty() ? "refused" : jobs.definitions[0].job.zone.name();
  };
  EXPECT_EQ(zone_of("0 1 * * * a\n", Spelling::crontab), "Asia/Tokyo");
  EXPECT_EQ(zone_of("0 1 * * * name=a command=b\n", Spelling::kron), "UTC");
  EXPECT_EQ(zone_of("jobs: [{name: a, schedule: '0 1 * * *', command: b}]\n", Spelling::yaml), "UTC");
  EXPECT_EQ(zone_of(R"({"a": {"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": true, "ttl": 1}}})",
                    Spelling::cronken),
            "UTC");
}

TEST(NearestZone, IsWhatTheAuthorMeant) {
  EXPECT_EQ(nearest_zone("europe/paris"), "Europe/Paris");
  EXPECT_EQ(nearest_zone("Europe/Pariss"), "Europe/Paris");
  EXPECT_EQ(nearest_zone("Tokyo"), "Asia/Tokyo");
  EXPECT_EQ(nearest_zone("America/NewYork"), "America/New_York");
  EXPECT_EQ(nearest_zone("zzzzzzzz"), "");
}

}  // namespace
}  // namespace kron::jobs
