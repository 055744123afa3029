#include "kron/jobs/source_lines.h"

#include <gtest/gtest.h>

#include "kron/jobs/load.h"
#include "kron/jobs/zone_files.h"

namespace kron::jobs {
namespace {

class SourceTest : public ::testing::Test {
 protected:
  // The source of the n-th job of a text.
  std::optional<std::string> source(const std::string& text, std::size_t index = 0, bool with_secrets = true,
                                    Spelling spelling = Spelling::kron) {
    const LoadedJobs jobs = load(text, spelling);
    EXPECT_TRUE(jobs.problems.empty() || !jobs.has_errors()) << jobs.problems.front().message;
    if (index >= jobs.definitions.size()) return "there is no such job";
    return source_of(text, jobs.definitions[index], with_secrets);
  }
  LoadedJobs load(const std::string& text, Spelling spelling) {
    return load_text("jobs", text, spelling, zones_, {.form = CrontabForm::user, .host = HostZone{TimeZone(), ""}});
  }

  ZoneDatabase zones_;
};

TEST_F(SourceTest, OfALineIsTheLine) {
  const std::string text =
      "# comment\n*/3 * * * * *  name=a command=true\r\n\n@yearly name=b \\\n  command=\"x y\"\n@daily name=c "
      "command=x";
  EXPECT_EQ(source(text, 0), "*/3 * * * * *  name=a command=true");
  EXPECT_EQ(source(text, 1), "@yearly name=b \\\n  command=\"x y\"");
  EXPECT_EQ(source(text, 2), "@daily name=c command=x");
}

TEST_F(SourceTest, OfYamlIsTheItemOfTheList) {
  const std::string text =
      "jobs:\n  - name: a\n    schedule: '@daily'\n\n    # why\n    command: x\n\n  # of b\n  - name: b\n"
      "    schedule: 0 5 * * *\n    command: |\n      one\n      two\nother: 1\n";
  EXPECT_EQ(source(text.substr(0, text.find("other")), 0, true, Spelling::yaml),
            "  - name: a\n    schedule: '@daily'\n\n    # why\n    command: x");
  EXPECT_EQ(source(text.substr(0, text.find("other")), 1, true, Spelling::yaml),
            "  - name: b\n    schedule: 0 5 * * *\n    command: |\n      one\n      two");
}

TEST_F(SourceTest, OfACrontabIsTheLine) {
  EXPECT_EQ(source("A=b\n*/5\t*  * * *   true\n", 0, true, Spelling::crontab), "*/5\t*  * * *   true");
}

TEST_F(SourceTest, OfAFileThatHasChangedThereIsNone) {
  const LoadedJobs jobs = load("@daily name=a command=true\n", Spelling::kron);
  const JobDefinition& a = jobs.definitions.at(0);
  EXPECT_TRUE(source_of("@daily name=a command=false\n", a, true)) << "it may be worded anew";
  EXPECT_FALSE(source_of("@daily name=b command=true\n@daily name=a command=true\n", a, true));
  EXPECT_FALSE(source_of("@hourly name=a command=true\n", a, true));
  EXPECT_FALSE(source_of("", a, true));
}

TEST_F(SourceTest, SecretsAreReplacedForThoseWhoMayNotSeeThem) {
  const std::string text =
      "@daily name=a command=\"env stdin=x\" env=A=hunter2 env=\"B=hunter2 hunter2\" @win(after, 1h) "
      "stdin=\"hunter2\" ping=https://h.example/hunter2\n";
  EXPECT_EQ(source(text), text.substr(0, text.size() - 1));
  EXPECT_EQ(source(text, 0, false),
            "@daily name=a command=\"env stdin=x\" env=A=… env=… @win(after, 1h) stdin=… ping=…");
  EXPECT_EQ(source("@daily name=a command=true ping=https://h.example/hunter2\n", 0, false),
            "@daily name=a command=true ping=…");
  EXPECT_EQ(source("@daily name=a command=true\n", 0, false), "@daily name=a command=true");
}

TEST_F(SourceTest, WhereSecretsAreIsNotGuessed) {
  EXPECT_EQ(source("@daily name=a command=true \\\n env=A=hunter2\n", 0, false), std::nullopt);
  EXPECT_EQ(
      source("jobs:\n- name: a\n  schedule: '@daily'\n  command: x\n  env: {A: hunter2}\n", 0, false, Spelling::yaml),
      std::nullopt);
  EXPECT_EQ(source("jobs:\n- name: a\n  schedule: '@daily'\n  command: x\n  ping: https://h.example/hunter2\n", 0,
                   false, Spelling::yaml),
            std::nullopt);
  EXPECT_EQ(source("A=b\n@daily true\n", 0, false, Spelling::crontab), std::nullopt);
}

TEST_F(SourceTest, ALineThatIsTooLongIsNotShown) {
  const std::string longest(kMostSourceBytes - std::string("@daily name=a command=\"\"").size(), 'x');
  EXPECT_TRUE(source("@daily name=a command=\"" + longest + "\"\n"));
  EXPECT_EQ(source("@daily name=a command=\"" + longest + "x\"\n"), std::nullopt);
}

TEST(ScheduleAsWritten, IsWhatTheAuthorWrote) {
  ZoneDatabase zones;
  const auto written = [&](const std::string& schedule) {
    const std::string line = schedule + " name=NAME command=true\n";
    std::string text;
    // The third line is read by what was learnt from the first two.
    for (const char* name : {"a", "b", "c"}) text += std::string(line).replace(line.find("NAME"), 4, name);
    const LoadedJobs jobs = load_text("jobs", text, Spelling::kron, zones);
    EXPECT_EQ(jobs.definitions.size(), 3U) << schedule;
    for (const JobDefinition& definition : jobs.definitions) {
      EXPECT_EQ(schedule_as_written(definition), schedule);
    }
  };
  for (const char* schedule :
       {"*/3 * * * * *", "@yearly", "0 12 * * *", "H H * * *", "0 5 * * mon-fri", "@every 90m"}) {
    written(schedule);
  }
}

}  // namespace
}  // namespace kron::jobs
