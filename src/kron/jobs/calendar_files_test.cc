#include "kron/jobs/calendar_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron::jobs::calendar_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::utc;

std::string calendar(const std::string& lines) {
  return "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Day\r\n" + lines + "END:VEVENT\r\nEND:VCALENDAR\r\n";
}
const std::string kYearly = calendar("DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY\r\n");

class CalendarFilesTest : public ::testing::Test {
 protected:
  FileAccess access() {
    return {.look = [this](const std::string& path) -> Result<FileAccess::Facts> {
              if (!files_.contains(path) && path != "/jobs") return fail(Code::io, "cannot read it: not there");
              return FileAccess::Facts{.is_directory = path == "/jobs", .refusal = refusal_};
            },
            .list = [this](const std::string&) -> Result<std::vector<std::string>> {
              std::vector<std::string> names;
              for (const auto& [path, text] : files_) names.push_back(path.substr(path.rfind('/') + 1));
              return names;
            },
            .read = [this](const std::string& path) -> Result<std::string> {
              ++reads_[path];
              return files_.at(path);
            }};
  }
  LoadedJobs load(std::vector<std::string> paths = {"/jobs/a.yaml"}) {
    return load_paths(paths, access(), zones_, {.now = now_});
  }
  // One job that avoids the calendar at that path.
  void job_with(const std::string& path) {
    files_["/jobs/a.yaml"] = "calendars:\n  holidays: {file: " + path +
                             "}\njobs:\n  - {name: a, schedule: '@daily', command: x, avoid: {calendar: holidays}}\n";
  }
  std::vector<std::string> messages(const LoadedJobs& jobs) {
    std::vector<std::string> all;
    for (const Problem& problem : jobs.problems) {
      all.push_back(std::to_string(problem.at.line) + ":" + std::string(name_of(problem.severity)) + ": " +
                    problem.message);
    }
    return all;
  }
  // What a file of this text is warned of.
  std::vector<std::string> warnings(const std::string& text) {
    job_with("fr.ics");
    files_["/jobs/fr.ics"] = text;
    return messages(load());
  }

  std::map<std::string, std::string> files_;
  std::map<std::string, int> reads_;
  std::string refusal_;
  Instant now_ = utc("2026-11-18T12:00:00Z");
  ZoneDatabase zones_;
};

TEST_F(CalendarFilesTest, TheDatesOfAFileAreThoseOfTheCalendar) {
  job_with("fr.ics");
  files_["/jobs/fr.ics"] = kYearly;
  const LoadedJobs jobs = load();
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_THAT(jobs.problems, IsEmpty());
  const auto& dates = jobs.definitions[0].job.constraints.avoid.calendars.at(0).dates;
  EXPECT_EQ(dates.front(), (DateRange{20250501, 20250501}));
  EXPECT_EQ(dates.back(), (DateRange{20320501, 20320501}));
  EXPECT_EQ(jobs.calendar_files, std::vector<std::string>{"/jobs/fr.ics"});
  // The content is part of the definition.
  files_["/jobs/fr.ics"] = calendar("DTSTART;VALUE=DATE:20200502\r\nRRULE:FREQ=YEARLY\r\n");
  EXPECT_NE(load().definitions.at(0), jobs.definitions[0]);
}

TEST_F(CalendarFilesTest, EverySpellingOfAJobFileCanNameOne) {
  const std::pair<const char*, const char*> spellings[] = {
      {"/jobs/a.kron", "@daily @avoid(calendar=h) name=a command=x calendar=h:file=sub/fr.ics\n"},
      {"/jobs/a.yaml",
       "jobs: [{name: a, schedule: '@daily', command: x, avoid: {calendar: h}, calendars: {h: {file: "
       "sub/fr.ics}}}]\n"},
      {"/jobs/a.yml",
       "defaults: {avoid: {calendar: h}, calendars: {h: {file: /jobs/sub/fr.ics}}}\n"
       "jobs: [{name: a, schedule: '@daily', command: x}]\n"},
      {"/jobs/a.json", R"({"calendars":{"h":{"file":"sub/fr.ics"}},"jobs":[{"name":"a","schedule":"@daily",)"
                       R"("command":"x","avoid":{"calendar":"h"}}]})"}};
  files_["/jobs/sub/fr.ics"] = kYearly;
  for (const auto& [path, text] : spellings) {
    files_[path] = text;
    const LoadedJobs jobs = load({path});
    ASSERT_EQ(jobs.definitions.size(), 1U) << path << (jobs.problems.empty() ? "" : jobs.problems[0].message);
    EXPECT_EQ(jobs.definitions[0].job.constraints.avoid.calendars.at(0).dates.size(), 8U) << path;
  }
}

TEST_F(CalendarFilesTest, AFileIsReadOnceForAllJobs) {
  job_with("fr.ics");
  files_["/jobs/a.yaml"] += "  - {name: b, schedule: '@daily', command: x, only: {calendar: holidays}}\n";
  files_["/jobs/fr.ics"] = kYearly;
  EXPECT_EQ(load().definitions.size(), 2U);
  EXPECT_EQ(reads_["/jobs/fr.ics"], 1);
}

TEST_F(CalendarFilesTest, WhoDoesNotNameItDoesNotReadIt) {
  files_["/jobs/a.yaml"] = "calendars: {holidays: {file: fr.ics}}\njobs: [{name: a, schedule: '@daily', command: x}]\n";
  EXPECT_EQ(load().definitions.size(), 1U);
  EXPECT_THAT(load().calendar_files, IsEmpty());
}

TEST_F(CalendarFilesTest, AFileThatCannotBeReadIsAnErrorWhereItIsNamed) {
  job_with("fr.ics");
  EXPECT_THAT(messages(load()),
              ElementsAre("2:error: calendars.holidays.file: /jobs/fr.ics: cannot read it: not there"));
  files_["/jobs/fr.ics"] = "nonsense";
  EXPECT_THAT(messages(load()),
              ElementsAre(HasSubstr("2:error: calendars.holidays.file: /jobs/fr.ics: line 1: it is no calendar")));
  EXPECT_THAT(load().definitions, IsEmpty());
  job_with("/jobs");
  EXPECT_THAT(messages(load()), ElementsAre(HasSubstr("is a directory")));
  job_with("''");
  EXPECT_THAT(messages(load()), ElementsAre(HasSubstr("has no name")));
  job_with("'-'");
  EXPECT_THAT(messages(load()), ElementsAre(HasSubstr("/jobs/-: cannot read it")));
}

TEST_F(CalendarFilesTest, WhatAFileMayBeIsADateListOrAFile) {
  for (const char* value : {"{}", "{path: fr.ics}", "{file: [fr.ics]}", "{file: fr.ics, dates: 2026-12-24}"}) {
    files_["/jobs/fr.ics"] = kYearly;
    files_["/jobs/a.yaml"] = std::string("jobs: [{name: a, schedule: '@daily', command: x, avoid: {calendar: h}, ") +
                             "calendars: {h: " + value + "}}]\n";
    EXPECT_THAT(load().definitions, IsEmpty()) << value;
  }
}

TEST_F(CalendarFilesTest, WhatIsLeftOutIsWarnedOf) {
  EXPECT_THAT(warnings(kYearly), IsEmpty());
  EXPECT_THAT(warnings(calendar("DTSTART:20261225T090000Z\r\n")),
              ElementsAre("2:warning: /jobs/fr.ics: 1 event with a time of day is left out: 'Day'",
                          "2:warning: /jobs/fr.ics: no date from 2025 to 2032"));
  EXPECT_THAT(warnings(calendar("DTSTART;VALUE=DATE:20261225\r\nRRULE:FREQ=WEEKLY\r\n")),
              ElementsAre(HasSubstr("1 event with a rule that is not yearly"), HasSubstr("no date from")));
  EXPECT_THAT(warnings(calendar("DTSTART;VALUE=DATE:20269925\r\n")),
              ElementsAre(HasSubstr("1 event without a date that can be read"), HasSubstr("no date from")));
}

TEST_F(CalendarFilesTest, ACalendarThatExpiresIsWarnedOf) {
  const std::string text = calendar("DTSTART;VALUE=DATE:20271119\r\n");
  EXPECT_THAT(warnings(text), IsEmpty());
  now_ += std::chrono::days(1);
  EXPECT_THAT(warnings(text), ElementsAre("2:warning: /jobs/fr.ics: no date after 2027-11-19"));
  now_ = utc("2030-01-01T00:00:00Z");
  EXPECT_THAT(warnings(text), ElementsAre(HasSubstr("no date from 2029 to 2036")));
}

TEST_F(CalendarFilesTest, WhatOthersCanWriteIsWarnedOf) {
  refusal_ = "refused: others can write it";
  job_with("fr.ics");
  files_["/jobs/fr.ics"] = kYearly;
  EXPECT_THAT(messages(load()), ElementsAre(HasSubstr("krond does not read this file"),
                                            HasSubstr("/jobs/fr.ics: krond does not read this file")));
}

TEST_F(CalendarFilesTest, ACalendarBesideJobFilesIsNoJobFile) {
  job_with("fr.ics");
  files_["/jobs/fr.ics"] = kYearly;
  EXPECT_THAT(messages(load({"/jobs"})), IsEmpty());
  EXPECT_THAT(messages(load({"/jobs/fr.ics"})), ElementsAre(HasSubstr("this is a calendar, not a job file")));
}

TEST_F(CalendarFilesTest, WithoutFilesTheyAreRefused) {
  job_with("fr.ics");
  const LoadedJobs text = load_text("a.yaml", files_["/jobs/a.yaml"], Spelling::yaml, zones_);
  EXPECT_THAT(messages(text), ElementsAre(HasSubstr("only .kron and YAML job files on disk")));
  EXPECT_THAT(text.problems.at(0).cure, HasSubstr("list its dates"));
  // Definitions of a cluster have no files, wherever they are read from.
  files_["/jobs/fr.ics"] = kYearly;
  files_["/jobs/c.json"] =
      R"({"a": {"cron_args": {"cronstring": "* * * * *"}, "job_args": {"cmd": "x", "lock": true, )"
      R"("ttl": 9}, "kron": {"avoid": {"calendar": "h"}, "calendars": {"h": {"file": "fr.ics"}}}}})";
  const LoadedJobs cluster = load({"/jobs/c.json"});
  EXPECT_THAT(messages(cluster), ElementsAre(HasSubstr("only .kron and YAML job files on disk")));
  EXPECT_THAT(cluster.definitions, IsEmpty());
}

}  // namespace
}  // namespace kron::jobs::calendar_files_test
