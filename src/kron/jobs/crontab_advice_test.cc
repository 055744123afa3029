#include "kron/jobs/crontab_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/jobs/load.h"

namespace kron::jobs {
namespace {

using ::testing::HasSubstr;

LoadedJobs load_crontab(const std::string& text, LoadOptions options = {}) {
  static ZoneDatabase zones;
  options.is_only_a_user = [](const std::string& word) { return word == "root" || word == "www-data"; };
  return load_text("mytab", text, Spelling::crontab, zones, options);
}

TEST(MistakenPercent, IsOneThatCutsACommandInTwo) {
  for (const char* command : {"date +%Y", "date \"+%Y-%m\"", "date +'%F'", "tar czf $(date +%F).tgz /etc",
                              "printf '%s' x", "echo `date +%s`", "curl http://host/a%20b"}) {
    EXPECT_EQ(mistaken_percent(command), std::string(command).find('%')) << command;
  }
  for (const char* command : {"date +\\%Y", "mail -s hi%Hello%there", "mail -s 'it is done' team%Hello", "cat%",
                              "cat%a", "true", "cat %20 apples", "echo \\\"%text"}) {
    EXPECT_EQ(mistaken_percent(command), std::string_view::npos) << command;
  }
}

TEST(CrontabAdvice, WarnsOfAnUnescapedPercent) {
  const LoadedJobs jobs = load_crontab("0 1 * * * date +%Y >> days\n");
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(jobs.problems[0].severity, Severity::warning);
  EXPECT_EQ(jobs.problems[0].at, (Position{1, 17}));
  EXPECT_THAT(jobs.problems[0].cure, HasSubstr("\\%"));
  EXPECT_EQ(command_of(jobs.definitions.at(0)), "date +") << "read as cron reads it, all the same";
}

TEST(CrontabAdvice, AsksOnceForAUserColumnWhenCommandsAreUsers) {
  const LoadedJobs jobs =
      load_crontab("17 * * * * root  cd / && run-parts\n25 6 * * * www-data true\n0 1 * * * root\n");
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(jobs.problems[0].severity, Severity::warning);
  EXPECT_EQ(jobs.problems[0].at, (Position{1, 12}));
  EXPECT_THAT(jobs.problems[0].message, HasSubstr("begins with 'root'"));
  EXPECT_THAT(jobs.problems[0].cure, HasSubstr("--user-column"));
  const LoadedJobs system = load_crontab("17 * * * * root root x\n", {.form = CrontabForm::system});
  EXPECT_TRUE(system.problems.empty()) << "the column is there";
}

TEST(CrontabComments, AreTheDescriptionOfTheEntryBelow) {
  const LoadedJobs jobs = load_crontab(
      "# m h  dom mon dow   command\n"
      "0 1 * * * a\n"
      "# Nightly backup,\n"
      "#   with logs\n"
      "0 2 * * * b\n"
      "0 3 * * * c\n"
      "# about the file\n"
      "\n"
      "0 4 * * * d\n"
      "# not caf\xE9\n"
      "0 5 * * * e\n"
      "#0 6 * * * off\n"
      "0 6 * * * f\n"
      "# of a variable\n"
      "X=1\n"
      "0 7 * * * g\n");
  ASSERT_EQ(jobs.definitions.size(), 7U);
  std::vector<std::string> found;
  for (const JobDefinition& definition : jobs.definitions) found.push_back(definition.options->description);
  EXPECT_EQ(found, (std::vector<std::string>{"", "Nightly backup, with logs", "", "", "", "", ""}));
}

TEST(CrontabComments, AreCutAtTwoHundredBytes) {
  const LoadedJobs jobs = load_crontab("# " + std::string(300, 'x') + "\n0 1 * * * a\n");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].options->description, std::string(200, 'x'));
}

}  // namespace
}  // namespace kron::jobs
