#include "kron/jobs/kron_line.h"

#include <gtest/gtest.h>

#include "kron/jobs/load.h"

namespace kron::jobs::kron_line_test {
namespace {

LoadedJobs load(std::string_view text) {
  static ZoneDatabase zones;
  return load_text("jobs.kron", text, Spelling::kron, zones);
}

JobDefinition only_job(std::string_view text) {
  LoadedJobs jobs = load(text);
  for (const Problem& problem : jobs.problems) ADD_FAILURE() << text_of(problem);
  EXPECT_EQ(jobs.definitions.size(), 1U) << text;
  return jobs.definitions.empty() ? JobDefinition() : jobs.definitions.front();
}

TEST(KronLine, SaysTheWholeModel) {
  const JobDefinition definition = only_job(
      "# nightly backup\n"
      "0 0 * * * @tz(Europe/Paris) @win(after,3h) @dist(skewLate,shape=2.5) @seed(stable,salt=backup) "
      "@policy(concurrency=replace,deadline=30m,suspend=true) @avoid(dates=2026-12-24..2026-12-26) "
      "@only(hours=9-17,20,dow=MON-FRI) @dst(gap=skip) name=db-backup "
      "command=\"/usr/bin/backup --full\" user=backup group=disk cwd=/srv umask=027 timeout=2h grace=30s "
      "stdout=discard "
      "stderr=/var/log/err nice=5 limits=\"memory=1G,cpu=60s,files=1024\" history=5 description=\"nightly backup\" "
      "env=A=1 env=\"B=x y\" env=C=\"q r\" shell=true stdin=text\n");
  const Job& job = definition.job;
  EXPECT_EQ(job.identity, "db-backup");
  EXPECT_EQ(job.zone.name(), "Europe/Paris");
  EXPECT_EQ(job.window, (WindowSpec{WindowMode::after, std::chrono::hours(3)}));
  EXPECT_EQ(job.distribution.shape, 2.5);
  EXPECT_EQ(job.salt, "backup");
  EXPECT_EQ(job.policy, (Policy{Concurrency::replace, true, Seconds(1800)}));
  EXPECT_EQ(job.constraints.avoid.dates, (std::vector<DateRange>{{20261224, 20261226}}));
  EXPECT_EQ(job.constraints.only.hours, 0x13FE00U);
  EXPECT_EQ(job.constraints.only.weekdays, 0x3EU);
  EXPECT_EQ(job.schedule.dst, (DstRule{DstRule::Gap::skip, DstRule::Overlap::first}));
  EXPECT_EQ(command_of(definition), "/usr/bin/backup --full");
  EXPECT_EQ(definition.line, 2U);
  const RunOptions& options = *definition.options;
  EXPECT_EQ(options.shell, "/bin/sh");
  EXPECT_EQ(options.env, (Environment{{"A", "1"}, {"B", "x y"}, {"C", "q r"}}));
  EXPECT_EQ(options.process.umask, 027U);
  EXPECT_EQ(options.timeout, Seconds(7200));
  EXPECT_EQ(options.grace, Seconds(30));
  EXPECT_EQ(options.out, "discard");
  EXPECT_EQ(options.err, "/var/log/err");
  EXPECT_EQ(options.process.nice, 5);
  EXPECT_EQ(options.limits.memory, std::uint64_t{1} << 30);
  EXPECT_EQ(options.limits.cpu, Seconds(60));
  EXPECT_EQ(options.limits.files, 1024U);
  EXPECT_EQ(options.history, 5U);
  EXPECT_EQ(options.description, "nightly backup");
  EXPECT_EQ(options.input, "text");
}

TEST(KronLine, DefaultsAreTheContracts) {
  const JobDefinition definition = only_job("@daily name=a command=true");
  EXPECT_EQ(definition.job.zone.name(), "UTC");
  EXPECT_EQ(definition.job.window, WindowSpec{});
  EXPECT_EQ(definition.job.policy, Policy{});
  EXPECT_EQ(definition.options->history, 20U);
  EXPECT_TRUE(definition.options->shell.empty());
}

TEST(KronLine, OutputGoesToOneOfSixPlaces) {
  struct Case {
    std::string_view given;
    std::string_view kept;
  };
  for (const Case& c :
       {Case{"capture", ""}, Case{"discard", "discard"}, Case{"inherit", "inherit"}, Case{"syslog", "syslog"},
        Case{"/var/log/a", "/var/log/a"}, Case{"file:/var/log/a", "/var/log/a"}}) {
    const JobDefinition definition =
        only_job("@daily name=a command=true stdout=" + std::string(c.given) + " stderr=" + std::string(c.given));
    EXPECT_EQ(definition.options->out, c.kept) << c.given;
    EXPECT_EQ(definition.options->err, c.kept) << c.given;
  }
}

TEST(KronLine, DstPartsThatAreLeftOutKeepTheExpressionsRule) {
  const Schedule schedule = only_job("*/30 * * * * @dst(overlap=first) name=a command=true").job.schedule;
  EXPECT_EQ(schedule.dst, (DstRule{DstRule::Gap::skip, DstRule::Overlap::first}));
}

TEST(KronLine, SchedulesOfEveryKindComeFirst) {
  EXPECT_EQ(only_job("@every 90s name=a command=true").job.schedule.every, Seconds(90));
  EXPECT_EQ(only_job("@reboot name=a command=true").job.schedule.kind, Schedule::Kind::reboot);
  EXPECT_EQ(only_job("H H(0-5) * * * @tz(UTC) name=a command=true").job.schedule.kind, Schedule::Kind::fields);
  EXPECT_EQ(only_job("0 0 12 * * ? 2030 name=a command=true").job.schedule.kind, Schedule::Kind::fields);
}

TEST(KronLine, QuotesKeepBlanksAndOtherBackslashesStayThemselves) {
  EXPECT_EQ(command_of(only_job(R"(@daily name=a command="say \"a b\" \\ \d")")), R"(say "a b" \ \d)");
  EXPECT_EQ(command_of(only_job(R"(@daily name=a command=C:\x\y)")), R"(C:\x\y)");
}

TEST(KronLine, ModifiersTakeBlanksAndBareWordsInAnyOrder) {
  EXPECT_EQ(only_job("@daily @win( 3h , before ) name=a command=true").job.window.mode, WindowMode::before);
  EXPECT_EQ(only_job("@daily @win(3h) name=a command=true").job.window.mode, WindowMode::after);
  EXPECT_EQ(only_job("@daily name=a @seed(weekly) command=true").job.seed_strategy, SeedStrategy::weekly);
  EXPECT_EQ(only_job("@daily @seed(salt=\"a,b)=\") name=a command=true").job.salt, "a,b)=");
}

TEST(KronLine, CalendarsAreNamedInOnlyAndAvoid) {
  const JobDefinition definition = only_job(
      "@daily @avoid(calendar=holidays,dow=SUN) name=a command=true calendar=\"holidays:2026-12-24, "
      "2027-01-01..2027-01-03\"");
  ASSERT_EQ(definition.job.constraints.avoid.calendars.size(), 1U);
  EXPECT_EQ(definition.job.constraints.avoid.calendars[0].dates,
            (std::vector<DateRange>{{20261224, 20261224}, {20270101, 20270103}}));
  EXPECT_EQ(definition.job.constraints.avoid.weekdays, 1U);
}

TEST(KronLine, BackslashJoinsLinesAndPlacesStayRight) {
  EXPECT_EQ(command_of(only_job("@daily \\\n  name=a \\\r\n  command=\"x \\\ny\"\n")), "x y");
  const LoadedJobs jobs = load("@daily \\\n  name=a \\\n  comand=x\n@daily name=b command=true\n");
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(jobs.problems[0].at, (Position{3, 3}));
  EXPECT_EQ(jobs.problems[0].source_line, "  comand=x");
  EXPECT_EQ(jobs.definitions.size(), 1U);
}

TEST(KronLine, CrlfAndBomAreTolerated) {
  EXPECT_EQ(command_of(only_job("\xEF\xBB\xBF# x\r\n@daily name=a command=true\r\n")), "true");
}

TEST(KronLine, AnEmptyFileHasNoJobsAndNoProblems) {
  for (const char* text : {"", "\n", "# only\n  # comments\n\n", "\xEF\xBB\xBF"}) {
    const LoadedJobs jobs = load(text);
    EXPECT_TRUE(jobs.definitions.empty());
    EXPECT_TRUE(jobs.problems.empty());
  }
}

struct BadLine {
  std::string line;
  std::size_t column;
  std::string message;
  std::string cure;
};

class BadKronLine : public ::testing::TestWithParam<BadLine> {};

TEST_P(BadKronLine, IsReportedWithItsPlaceAndCure) {
  const BadLine& bad = GetParam();
  const LoadedJobs jobs = load("@hourly name=good command=true\n" + bad.line + "\n@hourly name=good2 command=true\n");
  ASSERT_EQ(jobs.problems.size(), 1U) << bad.line << (jobs.problems.empty() ? "" : text_of(jobs.problems.back()));
  const Problem& problem = jobs.problems.front();
  EXPECT_EQ(problem.severity, Severity::error);
  EXPECT_EQ(problem.at, (Position{2, bad.column})) << text_of(problem);
  EXPECT_NE(problem.message.find(bad.message), std::string::npos) << text_of(problem);
  EXPECT_NE(problem.cure.find(bad.cure), std::string::npos) << text_of(problem);
  EXPECT_EQ(jobs.definitions.size(), 2U) << "the other lines are read all the same";
}

const BadLine kBadLines[] = {
    {"@daily name=a comand=true", 15, "unknown key 'comand'", "did you mean command?"},
    {"@daily name=a command=true zzzzzz=1", 28, "unknown key 'zzzzzz'", "known are name"},
    {"@daily name=a command=true timezone=UTC", 28, "unknown key 'timezone'", "write @tz(…)"},
    {"@daily name=a name=b command=true", 15, "the key 'name' is given twice", "keep one"},
    {"@daily @tzz(UTC) name=a command=true", 8, "unknown modifier '@tzz'", "did you mean @tz?"},
    {"@daily @tz(UTC) @tz(UTC) name=a command=true", 17, "@tz is given twice", "into one @tz"},
    {"@daily @tz(Europe/Pariss) name=a command=true", 12, "timezone: ", ""},
    {"@daily @tz(../etc/passwd) name=a command=true", 12, "timezone: ", ""},
    {"@daily @tz(UTC name=a command=true", 11, "parenthesis is never closed", ")"},
    {"@daily @tz(UTC)name=a command=true", 16, "a blank is missing", ""},
    {"@daily @win(sideways,3h) name=a command=true", 13, "window.mode: ", ""},
    {"@daily @win(after,3x) name=a command=true", 20, "window.duration: ", "such as 90s"},
    {"@daily @win(after) name=a command=true", 8, "the window has no duration", "30m"},
    {"@daily @win(after,3h,4h) name=a command=true", 22, "'duration' is given twice", ""},
    {"@daily @dist(skewlate) name=a command=true", 14, "distribution", "did you mean skewLate?"},
    {"@daily @dist(skewLate,shape=nan) name=a command=true", 29, "shape", ""},
    {"@daily @dist(uniform,shape=2) name=a command=true", 22, "uniform takes no parameters", ""},
    {"@daily @seed(sometimes) name=a command=true", 14, "seed.strategy: ", ""},
    {"@daily @policy(forbid) name=a command=true", 16, "'forbid' does not belong into @policy", "concurrency=forbid"},
    {"@daily @policy(deadline=1.5s) name=a command=true", 25, "policy.deadline: ", ""},
    {"@daily @policy(concurency=allow) name=a command=true", 16, "unknown key 'concurency'", "concurrency"},
    {"@daily @policy(pauseAfter=x) name=a command=true", 27, "policy.pauseAfter: 'x' is not a whole number",
     "such as 3"},
    {"@daily @policy(pauseAfter=1001) name=a command=true", 16, "at most 1000 failures in a row", "0 is never"},
    {"@daily @policy(concurrency=queue) name=a command=true", 16, "deadline of 0s allows no wait", "1h"},
    {"@daily @policy(catchUpSpread=1.5s) name=a command=true", 30, "policy.catchUpSpread: ", ""},
    {"@daily @policy(suspend=yes) name=a command=true", 16, "policy.suspend: expected true or false", ""},
    {"@daily @only(hour=9-17) name=a command=true", 19, "unknown", "hours"},
    {"@daily @only(hours=9-25) name=a command=true", 22, "only.hours: ", ""},
    {"@daily @only(9-17) name=a command=true", 14, "does not belong into @only", "hours=9-17"},
    {"@daily @only(calendar=feasts) name=a command=true", 23, "no calendar is defined", ""},
    {"@daily @dst(gap=jump) name=a command=true", 13, "dst: ", "run, skip"},
    {"60 * * * * name=a command=true", 1, "schedule: ", ""},
    {"* * * name=a command=true", 1, "schedule: ", ""},
    {"0 0 31 2 * name=a command=true", 5, "schedule: ", ""},
    {"name=a command=true", 1, "the job has no schedule", "30 2 * * *"},
    {"@daily command=true", 1, "the job has no name", ""},
    {"@daily name=a", 1, "the job has no command", "task"},
    {"@daily name=A command=true", 13, "'A' is not a valid job name", "lower-case"},
    {"@daily name=a command=\"true", 23, "this quote is never closed", "\\\""},
    {"@daily name=a command=say hello", 27, "unexpected word 'hello'", "double quotes"},
    {"@daily name=a command=true env=A=hunter 2", 41, "unexpected word", "double quotes"},
    {"@daily name=a command=true env=A=hunter z=2", 41, "unknown key", "double quotes"},
    {"@daily name=a command=true stdin=hunter z=2", 41, "unknown key", "double quotes"},
    {"@daily name=a env=A=hunter comand=true", 28, "unknown key 'comand'", "did you mean command?"},
    {"@daily name=a command=true # why", 28, "unexpected word '#'", "line of its own"},
    {"@daily name=a command=\"'\"", 24, "is never closed", ""},
    {"@daily name=a command=\"\"", 24, "the command is empty", ""},
    {"@daily name=a command=true task=t", 28, "a command or a task, not both", "remove one"},
    {"@daily name=a command=true umask=9", 34, "is no umask", "022"},
    {"@daily name=a command=true timeout=soon", 36, "timeout: ", "90s"},
    {"@daily name=a command=true nice=20", 33, "not a whole number from -20 to 19", ""},
    {"@daily name=a command=true retry=101", 34, "not a whole number from 0 to 100", ""},
    {"@daily name=a command=true retry=-1", 34, "not a whole number from 0 to 100", ""},
    {"@daily name=a command=true backoff=1d1s", 36, "1d1s is longer than 1d", ""},
    {"@daily name=a command=true backoff=soon", 36, "backoff: ", "90s"},
    {"@daily name=a task=t retry=2", 22, "is for commands", "remove it"},
    {"@daily name=a task=t backoff=2s", 22, "is for commands", "remove it"},
    {"@daily name=a command=true fails_on=exti", 37, "'exti'", "stderr"},
    {"@daily name=a command=true success_exit=0,256", 43, "'256' is no exit code", "0,2"},
    {"@daily name=a command=true success_exit=0,,2", 43, "'' is no exit code", "0 to 255"},
    {"@daily name=a command=true fails_on=stderr stderr=/x", 28, "nobody sees", "capture it"},
    {"@daily name=a command=true fails_on=stderr stderr=inherit", 28, "nobody sees", "capture it"},
    {"@daily name=a task=t success_exit=0,2", 22, "is for commands", "remove it"},
    {"@daily name=a command=true history=x", 36, "not a whole number", ""},
    {"@daily name=a command=true env=A", 32, "gives no value", "NAME=value"},
    {"@daily name=a command=true env=A=1 env=A=2", 32, "the variable 'A' is given twice", ""},
    {"@daily name=a command=true cwd=srv", 32, "no absolute path", "~"},
    {"@daily name=a command=true shell=bash", 34, "is no shell", "absolute path"},
    {"@daily name=a command=true stdout=here", 35, "no place for output", "discard"},
    {"@daily name=a command=true stderr=file:here", 35, "no place for output", "syslog"},
    {"@daily name=a command=true user=a:b", 33, "is no user name", ""},
    {"@daily name=a command=true limits=memory", 35, "is no limit", "memory=512M"},
    {"@daily name=a command=true limits=memory=1X", 28, "unknown unit", ""},
    {"@daily name=a command=true notify=ops", 35, "is no part of notify", "to=ops"},
    {"@daily name=a command=true notify=on=failed", 28, "nobody is named", ""},
    {"@daily name=a command=true notify=on=faild,to=ops", 28, "unknown kind of alarm 'faild'", "did you mean failed?"},
    {"@daily name=a command=true notify=to=Ops", 28, "is no name of a destination", ""},
    {"@daily name=a command=true notify=on=late,to=ops", 28, "nothing says when a run is late", ""},
    {"@daily name=a command=true notify=on=failed,late=2h,to=ops", 28, "on does not have late", ""},
    {"@daily name=a command=true notify=after=0,to=ops", 28, "from 1 to 1000", ""},
    {"@daily name=a command=true notify=after=1001,to=ops", 28, "from 1 to 1000", ""},
    {"@daily name=a command=true ping=x", 33, "no URL of a check", "https://host/path"},
    {"@daily name=a command=true ping=http://hc.example/x", 33, "in the clear", "write https://"},
    {"@daily name=a command=true ping=https://hc.example", 33, "names no check", "add it"},
    {"@daily name=a command=true ping=https://hc.example/x?y=1", 33, "a ? or a #", "end it before"},
    {"@daily name=a task=t ping=https://hc.example/x", 22, "is for commands", "remove it"},
    {"@daily name=a command=true calendar=2026-12-24", 37, "needs a name and dates", "holidays:"},
    {"@daily @only(calendar=c) name=a command=true calendar=c:2026-13-01", 55, "calendars.c", ""},
    {"@daily name=a command=\"a\x01\"", 25, "a control character", "UTF-8"},
    {"@daily name=a command=\xFF", 1, "not valid UTF-8", "iconv"},
};
INSTANTIATE_TEST_SUITE_P(Table, BadKronLine, ::testing::ValuesIn(kBadLines));

TEST(KronLine, MessagesDoNotRepeatWhatMayBeAPassword) {
  for (const char* keys :
       {"env=A=x hunter2", "env=A=x hunter2=1", "stdin=x hunter2", "stdin=x hunter2=1", "env=hunter2",
        "env=\"A=hunter2", "stdin=\"hunter2", "ping=hunter2", "ping=http://x/hunter2", "ping=https://x/a hunter2",
        "ping=https://x/a hunter2=1", "ping=\"https://x/hunter2", "ping=https://x/a?hunter2"}) {
    const LoadedJobs jobs = load("@daily name=a command=true " + std::string(keys) + "\n");
    ASSERT_FALSE(jobs.problems.empty()) << keys;
    for (const Problem& problem : jobs.problems) {
      EXPECT_EQ((problem.field + problem.message + problem.cure).find("hunter2"), std::string::npos) << problem.message;
    }
  }
}

TEST(KronLine, NulBytesAndOverlongLinesAreRefused) {
  const LoadedJobs nul = load(std::string("@daily name=a command=\"x") + '\0' + "y\"\n@daily name=b command=true\n");
  ASSERT_EQ(nul.problems.size(), 1U);
  EXPECT_EQ(nul.problems[0].message, "a NUL byte");
  EXPECT_EQ(nul.problems[0].at, (Position{1, 25}));
  EXPECT_EQ(nul.definitions.size(), 1U);

  const std::string megabyte(std::size_t{1} << 20, 'x');
  for (const std::string& line : {"@daily name=a command=" + megabyte, "@daily name=a command=x\\\n" + megabyte}) {
    const LoadedJobs jobs = load(line + "\n@daily name=b command=true\n");
    ASSERT_EQ(jobs.problems.size(), 1U);
    EXPECT_NE(jobs.problems[0].message.find("longer than 128 KiB"), std::string::npos);
    EXPECT_LE(text_of(jobs.problems[0]).size(), 500U);
    EXPECT_EQ(jobs.definitions.size(), 1U);
  }
}

TEST(KronLine, Utf16IsNamed) {
  const LoadedJobs jobs = load(std::string_view("\xFF\xFE@\0", 4));
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_NE(jobs.problems[0].message.find("UTF-16"), std::string::npos);
}

TEST(KronLine, AllMistakesOfALineAreFound) {
  const LoadedJobs jobs = load("61 * * * * @tz(Mars/Base) @win(after,x) name=A command=\"\" nice=99\n");
  EXPECT_EQ(jobs.problems.size(), 6U);
}

TEST(KronLine, WarnsOfWhatIsHardlyMeant) {
  struct Case {
    std::string line;
    std::size_t column;
    std::string message;
  };
  const Case cases[] = {
      {"*/90 * * * * name=a command=true", 3, "a step of 90 is larger"},
      {"0 0-5/10 * * * name=a command=true", 7, "a step of 10 is larger"},
      {"0 0 * * MON-FRI/7 name=a command=true", 17, "a step of 7 is larger"},
      {"@daily name=a command=\"ls | wc\"", 27, "no shell reads this command: '|'"},
      {"@daily name=a command=true calendar=x:2026-12-24", 37, "the calendar 'x' is not used"},
  };
  for (const Case& c : cases) {
    const LoadedJobs jobs = load(c.line);
    ASSERT_EQ(jobs.problems.size(), 1U) << c.line;
    EXPECT_EQ(jobs.problems[0].severity, Severity::warning);
    EXPECT_EQ(jobs.problems[0].at.column, c.column) << text_of(jobs.problems[0]);
    EXPECT_NE(jobs.problems[0].message.find(c.message), std::string::npos) << text_of(jobs.problems[0]);
    EXPECT_EQ(jobs.definitions.size(), 1U);
  }
}

TEST(KronLine, PrintsCanonicallyAndRefusesWhatALineCannotSay) {
  JobDefinition definition = only_job(
      "0 0 * * * name=a command=\"echo \\\"x\\\"\" @seed(salt=\"a b\") @tz(Europe/Paris) @win(3h) env=A=\"1 2\"");
  const auto line = kron_line(definition);
  ASSERT_TRUE(line);
  EXPECT_EQ(*line,
            "0 0 * * * @tz(Europe/Paris) @win(after,3h) @seed(salt=\"a b\") name=a command=\"echo \\\"x\\\"\" "
            "env=\"A=1 2\"");
  definition.action = Command{"a\nb"};
  EXPECT_FALSE(kron_line(definition));
  definition.action = Command{"a"};
  definition.job.identity = "A";
  EXPECT_FALSE(kron_line(definition));
}

TEST(KronLine, NamesFilesWithSecretsAndLimitsOfTheWholeRun) {
  const JobDefinition definition = only_job(
      "@daily name=a command=true env_file=/etc/a env_file=\"/etc/b c\" credential=db=/etc/db credential=t-1=/etc/t "
      "mask_output=true memory_max=512M tasks_max=100 cpu_max=150%\n");
  const RunOptions& options = *definition.options;
  EXPECT_EQ(options.secrets.env_files, (std::vector<std::string>{"/etc/a", "/etc/b c"}));
  EXPECT_EQ(options.secrets.credentials, (Environment{{"db", "/etc/db"}, {"t-1", "/etc/t"}}));
  EXPECT_TRUE(options.secrets.mask_output);
  EXPECT_EQ(options.process.memory_max, 512U << 20);
  EXPECT_EQ(options.process.tasks_max, 100U);
  EXPECT_EQ(options.process.cpu_max, 150U);
  EXPECT_EQ(*kron_line(definition),
            "0 0 * * * name=a command=true env_file=/etc/a env_file=\"/etc/b c\" credential=db=/etc/db "
            "credential=t-1=/etc/t mask_output=true memory_max=512M tasks_max=100 cpu_max=150%");
}

TEST(KronLine, WhatNamesNoFileOrNoLimitIsAnErrorThatRepeatsNoSecret) {
  std::string many_files;
  std::string many_credentials;
  for (std::size_t i = 0; i <= kMostEnvFiles; ++i) many_files += " env_file=/e" + std::to_string(i);
  for (std::size_t i = 0; i <= kMostCredentials; ++i) {
    many_credentials += " credential=c" + std::to_string(i) + "=/e";
  }
  struct Case {
    std::string fields;
    std::string message;
  };
  const Case cases[] = {
      {"env_file=hunter2", "no absolute path"},
      {"env_file=/", "no absolute path"},
      {"env_file=/a env_file=/a", "given twice"},
      {many_files, "at most 16 of them, not 17"},
      {"credential=hunter2", "without = names no file"},
      {"credential=db=hunter2", "what is given for 'db' is no absolute path"},
      {"credential=.db=/a", "no name of a credential"},
      {"credential=a/b=/a", "no name of a credential"},
      {"credential=" + std::string(kMostCredentialName + 1, 'n') + "=/a", "no name of a credential"},
      {"credential=db=/a credential=db=/b", "'db' is given twice"},
      {many_credentials, "at most 16 of them, not 17"},
      {"mask_output=yes", "neither true nor false"},
      {"memory_max=1023k", "with less than 1M nothing can be executed"},
      {"memory_max=half", "is no size"},
      {"tasks_max=0", "not a whole number from 1 to"},
      {"tasks_max=4194305", "not a whole number from 1 to 4194304"},
      {"cpu_max=50", "no share of a processor"},
      {"cpu_max=0%", "no share of a processor"},
      {"cpu_max=100001%", "no share of a processor"},
      {"cpu_max=50%%", "no share of a processor"},
  };
  for (const Case& c : cases) {
    const LoadedJobs jobs = load("@daily name=a command=true " + c.fields + "\n");
    ASSERT_EQ(jobs.problems.size(), 1U) << c.fields;
    EXPECT_NE(jobs.problems[0].message.find(c.message), std::string::npos) << jobs.problems[0].message;
    EXPECT_EQ(jobs.problems[0].message.find("hunter2"), std::string::npos) << jobs.problems[0].message;
  }
  for (const char* field :
       {"env_file=/a", "credential=a=/b", "mask_output=true", "memory_max=1G", "tasks_max=5", "cpu_max=5%"}) {
    const LoadedJobs jobs = load(std::string("@daily name=a task=t ") + field + "\n");
    ASSERT_EQ(jobs.problems.size(), 1U) << field;
    EXPECT_NE(jobs.problems[0].message.find("is for commands"), std::string::npos) << jobs.problems[0].message;
  }
}

}  // namespace
}  // namespace kron::jobs::kron_line_test
