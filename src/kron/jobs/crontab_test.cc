#include "kron/jobs/crontab.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/jobs/load.h"
#include "kron/testing/golden.h"

namespace kron::jobs::crontab_test {
namespace {

ZoneDatabase& zones() {
  static ZoneDatabase database;
  return database;
}

LoadedJobs load(std::string_view text, const std::string& path = "/etc/cron.d/sample", LoadOptions options = {}) {
  return load_text(path, text, Spelling::crontab, zones(), options);
}

std::string next(const JobDefinition& definition, std::string_view after) {
  const auto found = definition.job.schedule.next_after(*parse_rfc3339(after), definition.job.zone);
  return found ? rfc3339(*found) : "never";
}

TEST(Crontab, SystemFormHasAUserColumn) {
  const LoadedJobs jobs = load("17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly\n", "/etc/crontab");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  const JobDefinition& definition = jobs.definitions[0];
  EXPECT_EQ(definition.options->user, "root");
  EXPECT_EQ(definition.options->shell, "/bin/sh");
  EXPECT_EQ(definition.options->cwd, "~");
  EXPECT_EQ(command_of(definition), "cd / && run-parts --report /etc/cron.hourly");
  EXPECT_TRUE(jobs.problems.empty());
}

TEST(Crontab, UserFormHasNone) {
  const LoadedJobs jobs = load("*/5 * * * * cmd a b\n", "/var/spool/cron/crontabs/alice");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].options->user, "alice");
  EXPECT_EQ(command_of(jobs.definitions[0]), "cmd a b");
}

// sha256sum of "root\n17 * * * *\necho hi", computed apart.
TEST(Crontab, IdentityIsAHashOfUserScheduleAndCommand) {
  const LoadedJobs jobs = load("17 *\t* * * root  echo hi\n");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].job.identity, "cron/sample/2dc2608fc858");
}

TEST(Crontab, InsertingALineMovesNothingAndRepeatsAreCounted) {
  const LoadedJobs before = load("0 1 * * * root a\n0 1 * * * root a\n0 2 * * * root b\n");
  const LoadedJobs after = load("0 3 * * * root new\n0 1 * * * root a\n0 1 * * * root a\n0 2 * * * root b\n");
  ASSERT_EQ(before.definitions.size(), 3U);
  ASSERT_EQ(after.definitions.size(), 4U);
  EXPECT_EQ(before.definitions[1].job.identity, before.definitions[0].job.identity + "-2");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(before.definitions[i].job.identity, after.definitions[i + 1].job.identity);
}

TEST(Crontab, VariablesHoldForWhatFollows) {
  const LoadedJobs jobs = load(
      "0 1 * * * root a\n"
      "SHELL=/bin/bash\n"
      "PATH = /usr/local/bin:/usr/bin\n"
      "  QUOTED = \"  a b \"  \n"
      "'ODD' = 'it'\n"
      "0 2 * * * root b\n"
      "PATH=/bin\n"
      "0 3 * * * root c\n");
  ASSERT_EQ(jobs.definitions.size(), 3U) << (jobs.problems.empty() ? "" : text_of(jobs.problems[0]));
  EXPECT_TRUE(jobs.definitions[0].options->env.empty());
  EXPECT_EQ(jobs.definitions[1].options->shell, "/bin/bash");
  EXPECT_EQ(
      jobs.definitions[1].options->env,
      (Environment{{"SHELL", "/bin/bash"}, {"PATH", "/usr/local/bin:/usr/bin"}, {"QUOTED", "  a b "}, {"ODD", "it"}}));
  EXPECT_EQ(jobs.definitions[2].options->env[1].second, "/bin");
}

TEST(Crontab, AnAssignmentInTheCommandIsNoVariable) {
  const LoadedJobs jobs = load("0 1 * * * root FOO=bar cmd\n@daily root A=b c\n");
  ASSERT_EQ(jobs.definitions.size(), 2U);
  EXPECT_EQ(command_of(jobs.definitions[0]), "FOO=bar cmd");
  EXPECT_EQ(command_of(jobs.definitions[1]), "A=b c");
}

TEST(Crontab, PercentSeparatesStandardInput) {
  struct Case {
    std::string command;
    std::string runs;
    std::optional<std::string> input;
  };
  const Case cases[] = {
      {"mail -s hi%Hello%there", "mail -s hi", "Hello\nthere\n"},
      {"date +\\%Y-\\%m", "date +%Y-%m", std::nullopt},
      {"cat%a\\%b%", "cat", "a%b\n"},
      {"cat%", "cat", ""},
      {"printf a\\\\b", "printf a\\\\b", std::nullopt},
  };
  for (const Case& c : cases) {
    const LoadedJobs jobs = load("0 1 * * * root " + c.command + "\n");
    ASSERT_EQ(jobs.definitions.size(), 1U);
    EXPECT_EQ(command_of(jobs.definitions[0]), c.runs);
    EXPECT_EQ(jobs.definitions[0].options->input, c.input) << c.command;
  }
}

TEST(Crontab, MailtoIsNotedAndRandomDelayBecomesAWindow) {
  const LoadedJobs jobs = load("MAILTO=ops@example.org\nMAILTO=\"\"\nRANDOM_DELAY=45\n0 1 * * * root a\n");
  ASSERT_EQ(jobs.problems.size(), 2U);
  EXPECT_EQ(jobs.problems[0].severity, Severity::note);
  EXPECT_NE(jobs.problems[0].message.find("MAILTO"), std::string::npos);
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].job.window, (WindowSpec{WindowMode::after, std::chrono::minutes(45)}));
}

TEST(Crontab, CronTzIsTheZoneOfWhatFollowsAndTheHostsBefore) {
  LoadOptions options;
  options.local_zone = *zones().find("Europe/Berlin");
  const LoadedJobs jobs =
      load("0 9 * * * root a\nCRON_TZ=America/New_York\n0 9 * * * root b\n", "/etc/cron.d/x", options);
  ASSERT_EQ(jobs.definitions.size(), 2U);
  EXPECT_EQ(next(jobs.definitions[0], "2026-07-01T00:00:00Z"), "2026-07-01T07:00:00Z");
  EXPECT_EQ(next(jobs.definitions[1], "2026-07-01T00:00:00Z"), "2026-07-01T13:00:00Z");
}

TEST(Crontab, NextTimesAreThoseOfCron) {
  struct Case {
    std::string schedule;
    std::string after;
    std::string next;
  };
  const Case cases[] = {
      {"17 * * * *", "2026-11-15T21:17:00Z", "2026-11-15T22:17:00Z"},
      {"25 6 * * *", "2026-11-15T06:25:00Z", "2026-11-16T06:25:00Z"},
      {"47 6 * * 7", "2026-11-16T00:00:00Z", "2026-11-22T06:47:00Z"},
      {"52 6 1 * *", "2026-11-15T00:00:00Z", "2026-12-01T06:52:00Z"},
      {"0 4 8-14 * *", "2026-11-15T00:00:00Z", "2026-12-08T04:00:00Z"},
      {"0 0 1,15 * 5", "2026-11-15T00:00:00Z", "2026-11-20T00:00:00Z"},   // either day matches
      {"5 0 */2 * Mon", "2026-11-15T00:00:00Z", "2026-11-23T00:05:00Z"},  // begins with *: both must match
      {"5-55/10 8-18 * * mon-fri", "2026-11-13T18:55:00Z", "2026-11-16T08:05:00Z"},
      {"*/20 * * * *", "2026-11-15T21:59:59Z", "2026-11-15T22:00:00Z"},
      {"0 0 29 2 *", "2026-11-15T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"15 14 1 Jan,JUL *", "2026-11-15T00:00:00Z", "2027-01-01T14:15:00Z"},
      {"@yearly", "2026-11-15T00:00:00Z", "2027-01-01T00:00:00Z"},
      {"@annually", "2026-11-15T00:00:00Z", "2027-01-01T00:00:00Z"},
      {"@monthly", "2026-11-15T00:00:00Z", "2026-12-01T00:00:00Z"},
      {"@weekly", "2026-11-16T00:00:00Z", "2026-11-22T00:00:00Z"},
      {"@daily", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"},
      {"@midnight", "2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z"},
      {"@hourly", "2026-11-15T00:00:00Z", "2026-11-15T01:00:00Z"},
      {"-0 5 * * *", "2026-11-15T00:00:00Z", "2026-11-15T05:00:00Z"},  // cronie: not logged
      {"@reboot", "2026-11-15T00:00:00Z", "never"},
  };
  for (const Case& c : cases) {
    const LoadedJobs jobs = load(c.schedule + " root cmd\n");
    ASSERT_EQ(jobs.definitions.size(), 1U) << c.schedule;
    EXPECT_EQ(next(jobs.definitions[0], c.after), c.next) << c.schedule;
  }
}

TEST(Crontab, WrongLinesAreReportedAndTheOthersRun) {
  const std::string text =
      "0 1 * * * root a\n"
      "61 1 * * * root b\n"
      "0 1 * * * root\n"
      "CRON_TZ=Nowhere/Land\n"
      "0 2 * * * root c\n"
      "CRON_TZ=UTC\n"
      "SHELL=bash\n"
      "@dayly root d\n"
      "0 3 * * * root e\n";
  const LoadedJobs jobs = load(text);
  std::vector<std::size_t> lines;
  for (const Problem& problem : jobs.problems) lines.push_back(problem.at.line);
  EXPECT_EQ(lines, (std::vector<std::size_t>{2, 3, 4, 7, 8}));
  EXPECT_EQ(jobs.definitions.size(), 2U);
}

TEST(Crontab, OldEncodingsAndWindowsLineEndsDoNotStopIt) {
  const LoadedJobs jobs = load("# caf\xE9\r\n0 1 * * * root echo caf\xE9\r\n");
  EXPECT_TRUE(jobs.problems.empty());
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(command_of(jobs.definitions[0]), "echo caf\xE9");
}

TEST(Crontab, RealFilesLoadUnchanged) {
  struct Case {
    std::string file;
    std::size_t jobs;
    std::size_t notes;
  };
  for (const Case& c : {Case{"etc/crontab", 4, 0}, Case{"cron.d/php", 1, 0}, Case{"cron.d/variables", 6, 2},
                        Case{"cron.d/sysstat", 2, 0}, Case{"crontabs/alice", 7, 1}}) {
    const std::string path = testing::data_path("jobs/") + c.file;
    const LoadedJobs jobs = load(kron::testing::read_file(path), path);
    EXPECT_EQ(jobs.definitions.size(), c.jobs) << path;
    EXPECT_FALSE(jobs.has_errors()) << text_of(jobs.problems.front());
    EXPECT_EQ(jobs.problems.size(), c.notes) << path;
  }
}

}  // namespace
}  // namespace kron::jobs::crontab_test
