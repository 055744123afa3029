#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "command_rig.h"
#include "kron/json/document.h"
#include "kron/testing/temporary_directory.h"

// The verbs that look ahead without any daemon: what of their flags and files is wrong, and how that is told.
namespace kron::cli {
namespace {

constexpr char kTwoJobs[] =
    "0 12 * * * name=noon command=x\n"
    "30 2 * * * @tz(Europe/Paris) name=night command=x\n";

class Ahead : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = directory_.file(name);
    std::ofstream(path) << text;
    return path;
  }

  testing::TemporaryDirectory directory_;
};
using Next = Ahead;
using Lint = Ahead;
using Explain = Ahead;
using Simulate = Ahead;
using Convert = Ahead;
using Import = Ahead;

TEST_F(Next, TimesOfAnExpressionInItsZone) {
  EXPECT_EQ(kron({"next", "--cron", "30 2 * * *", "--from", "2026-03-01T00:00:00Z", "--count", "2"}).out,
            "2026-03-01T02:30:00Z\n2026-03-02T02:30:00Z\n");
  EXPECT_EQ(kron({"next", "--cron", "30 12 * * *", "--tz", "Europe/Paris", "--from", "2026-07-01T00:00:00+02:00",
                  "--count", "1"})
                .out,
            "2026-07-01T10:30:00Z\n");
  EXPECT_EQ(
      kron({"next", "--cron", "@daily", "--from", "2026-03-01T00:00:00Z", "--count", "1", "--format", "json"}).out,
      R"({"expr":"@daily","tz":"UTC","next":["2026-03-02T00:00:00Z"]})"
      "\n");
  EXPECT_EQ(kron({"next", "--cron", "@daily", "--count", "0"}).out, "");
}

TEST_F(Next, AnHourThatIsSkippedOrRepeatedGoesByTheRule) {
  const auto times = [](const char* rule, const char* from) {
    return kron({"next", "--cron", "30 2 * * *", "--tz", "Europe/Paris", "--from", from, "--count", "2", "--dst", rule})
        .out;
  };
  EXPECT_EQ(times("gap=skip", "2026-03-29T00:00:00Z"), "2026-03-30T00:30:00Z\n2026-03-31T00:30:00Z\n");
  EXPECT_THAT(times("gap=run", "2026-03-29T00:00:00Z"), StartsWith("2026-03-29T01:"));
  EXPECT_EQ(times("overlap=both", "2026-10-25T00:00:00Z"), "2026-10-25T00:30:00Z\n2026-10-25T01:30:00Z\n");
  EXPECT_EQ(times("overlap=second", "2026-10-25T00:00:00Z"), "2026-10-25T01:30:00Z\n2026-10-26T01:30:00Z\n");
}

TEST_F(Next, WhatIsWrongIsToldByItsFlagOrItsColumn) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--cron", "* 99 * * *"}, "kron next: column 3: "},
      {{"--cron", ""}, "kron next: "},
      {{"--cron", "@daily", "--tz", "Europe/Pariss"}, "Europe/Paris"},
      {{"--cron", "@daily", "--dst", "gap=maybe"}, "--dst: "},
      {{"--cron", "@daily", "--from", "later"}, "--from: "},
  };
  for (const auto& [flags, told] : cases) {
    std::vector<std::string> words{"next"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = kron(words);
    EXPECT_EQ(ran.status, 1) << told;
    EXPECT_THAT(ran.err, AllOf(StartsWith("kron next: "), HasSubstr(told)));
    EXPECT_EQ(ran.out, "");
    words.insert(words.end(), {"--format", "json"});
    const Ran json = kron(words);
    EXPECT_EQ(json.status, 1);
    EXPECT_TRUE(parse_json(json.out).value().find("error") != nullptr);
    EXPECT_EQ(json.err, "");
  }
}

TEST_F(Next, AScheduleWithoutAnyTimeAheadIsEmptyAndNoError) {
  const Ran ran = kron({"next", "--cron", "0 0 1 1 *", "--from", "2199-12-31T00:00:00Z"});
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.status, 0);
}

TEST_F(Next, JobsOfFilesInOrderOfTime) {
  const std::string path = file("a.kron", kTwoJobs);
  const Ran ran = kron({"next", "--all", "--file", path, "--from", "2026-03-01T00:00:00Z", "--count", "3"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "PERIOD                CHOSEN (UTC)          CHOSEN (LOCAL)             JOB    WINDOW\n"
            "2026-03-01T01:30:00Z  2026-03-01T01:30:00Z  2026-03-01T02:30:00+01:00  night  -\n"
            "2026-03-01T12:00:00Z  2026-03-01T12:00:00Z  2026-03-01T12:00:00+00:00  noon   -\n"
            "2026-03-02T01:30:00Z  2026-03-02T01:30:00Z  2026-03-02T02:30:00+01:00  night  -\n");
  EXPECT_THAT(kron({"next", "noon", "--file", path, "--from", "2026-03-01T00:00:00Z", "--for", "3d"}).out,
              AllOf(HasSubstr("2026-03-03T12"), Not(HasSubstr("2026-03-04")), Not(HasSubstr("night"))));
}

TEST_F(Next, AJobThatIsMisspeltIsToldTheNearest) {
  const Ran ran = kron({"next", "nonn", "--file", file("a.kron", kTwoJobs)});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "kron next: there is no job 'nonn' among the 2 that were read; did you mean noon?\n");
}

TEST_F(Next, FilesThatCannotBeReadAreStatusTwoAndErrorsStatusOne) {
  EXPECT_EQ(kron({"next", "--all", "--file", directory_.file("nowhere.kron")}).status, 2);
  const Ran ran =
      kron({"next", "--all", "--file", file("a.kron", std::string(kTwoJobs) + "99 * * * * name=c command=x\n"),
            "--from", "2026-03-01T00:00:00Z", "--count", "1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("a.kron:3:1: error: "));
  EXPECT_THAT(ran.out, HasSubstr("night")) << "the others are shown all the same";
  EXPECT_EQ(kron({"next", "--all", "--file", file("b.kron", kTwoJobs), "--for", "never"}).status, 1);
}

TEST_F(Next, ABatchAnswersEachLineWithOne) {
  const Ran ran =
      kron({"next", "--batch"}, R"({"expr":"@daily","tz":"UTC","from_utc":"2026-03-01T00:00:00Z","n":1})"
                                "\n"
                                "\n"
                                R"({"expr":"@daily","tz":"UTC","from_utc":"2026-03-01T00:00:00Z","n":100001})"
                                "\n"
                                R"({"exprr":"@daily"})"
                                "\n"
                                R"([1])"
                                "\n"
                                R"({"expr":"@daily","cron_args":{}})"
                                "\n"
                                R"({"cron_args":{"minute":"30"},"now":"2026-03-01T00:00:00Z"})");
  EXPECT_EQ(ran.status, 1);
  std::istringstream lines(ran.out);
  std::vector<std::string> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(line);
  ASSERT_EQ(answers.size(), 7U) << ran.out;
  EXPECT_EQ(answers[0], R"({"next":["2026-03-02T00:00:00Z"]})");
  EXPECT_THAT(answers[1], StartsWith(R"({"error":)"));
  EXPECT_THAT(answers[2], HasSubstr("from 0 to 100000"));
  EXPECT_THAT(answers[3], HasSubstr("did you mean expr?"));
  EXPECT_THAT(answers[4], HasSubstr("expected a JSON object"));
  EXPECT_THAT(answers[5], HasSubstr("expected one of expr and cron_args"));
  EXPECT_EQ(answers[6], R"({"next":["2026-03-01T00:30:00Z"]})") << "the last line needs no newline";
}

TEST_F(Lint, CountsWhatItFoundAndQuietShowsErrorsOnly) {
  const std::string path = file("a.kron", "0 0 * * * nam=a command=x\n0 0 31 2 * name=b command=x\n");
  const Ran ran = kron({"lint", path, "--now", "2026-03-01T00:00:00Z"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("a.kron:1:"), HasSubstr("did you mean name?"), HasSubstr("a.kron:2:")));
  const Ran quiet = kron({"lint", "-q", path, "--now", "2026-03-01T00:00:00Z"});
  EXPECT_EQ(quiet.status, 1);
  EXPECT_THAT(quiet.out, Not(HasSubstr(": warning: ")));
  EXPECT_EQ(ran.out.substr(ran.out.rfind('\n', ran.out.size() - 2)),
            quiet.out.substr(quiet.out.rfind('\n', quiet.out.size() - 2)))
      << "warnings are counted, shown or not";
}

TEST_F(Lint, StatusIsTwoWhenAFileCannotBeReadWhateverElseIsWrong) {
  const Ran ran = kron({"lint", file("a.kron", "nonsense\n"), directory_.file("nowhere.kron")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(kron({"lint", file("b.kron", ""), "--now", "x"}).status, 1);
  EXPECT_EQ(kron({"lint", file("c.kron", "")}).out, "0 jobs read: 0 errors, 0 warnings\n");
}

TEST_F(Lint, ControlCharactersOfAFileAreShownNotObeyed) {
  const Ran ran = kron({"lint", file("a.kron", "0 0 * * * name=\x1b[2Jx command=x\n")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
}

TEST_F(Lint, StandardInputNeedsItsFormat) {
  EXPECT_EQ(kron({"lint", "--source", "kron", "-"}, kTwoJobs).status, 0);
  EXPECT_NE(kron({"lint", "-"}, kTwoJobs).status, 0);
}

TEST_F(Explain, TellsOfAPeriodByItsTimeOrItsId) {
  const std::string path = file("a.kron", kTwoJobs);
  const std::vector<std::string> base{"explain", "noon", "--file", path, "--now", "2026-03-01T00:00:00Z"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> words = base;
    words.insert(words.end(), more);
    return kron(words);
  };
  EXPECT_THAT(with({}).out, HasSubstr("2026-03-01T12:00:00Z"));
  EXPECT_EQ(with({}).status, 0);
  EXPECT_THAT(with({"--at", "2026-03-05T12:00:00Z"}).out, HasSubstr("2026-03-05T12:00:00Z"));
  EXPECT_THAT(with({"--period", "2026-03-07T12:00:00Z"}).out, HasSubstr("2026-03-07T12:00:00Z"));
  EXPECT_EQ(with({"--period", "2026-03-07T12:00:01Z"}).status, 1) << "no period of it";
  EXPECT_EQ(with({"--period", "x"}).status, 1);
  EXPECT_THAT(with({"--at", "x"}).err, HasSubstr("--at: "));
  EXPECT_TRUE(parse_json(with({"--format", "json"}).out));
  EXPECT_THAT(with({}).out, Not(HasSubstr("your clock")));
  const Variable tz("TZ", "Asia/Kolkata");
  EXPECT_THAT(with({"--local"}).out, HasSubstr("\nyour clock    2026-03-01 17:30:00, "));
  EXPECT_TRUE(parse_json(with({"--local", "--format", "json"}).out));
}

TEST_F(Next, OnATerminalIsOnTheClockOfTheReader) {
  const std::string path = file("a.kron", kTwoJobs);
  const Variable tz("TZ", "Asia/Kolkata");
  const Words words{"next", "night", "--file", path, "--from", "2026-03-01T12:00:00Z", "--count", "1", "--local"};
  EXPECT_THAT(kron(words).out,
              AllOf(HasSubstr("CHOSEN (JOB'S ZONE)"), HasSubstr("2026-03-02 07:00:00   2026-03-02 07:00:00, "),
                    HasSubstr("2026-03-02T02:30:00+01:00  night  -")));
  EXPECT_THAT(kron({"next", "--cron", "@yearly", "--from", "2026-03-01 00:00", "--count", "1", "--local"}).out,
              StartsWith("2027-01-01 05:30:00, "));
}

TEST_F(Explain, AJobThatIsNotThereAndALineThatIsNone) {
  EXPECT_EQ(kron({"explain", "x", "--file", file("a.kron", kTwoJobs)}).status, 1);
  EXPECT_EQ(kron({"explain", "x", "--file", directory_.file("nowhere")}).status, 2);
  EXPECT_EQ(kron({"explain", "--log-line", "no decision in it"}).status, 1);
}

TEST_F(Explain, ALogLineThatAgreesAndOneThatDoesNot) {
  const std::string request = R"({"identity":"a","periodStart":"2026-03-01T00:00:00Z","window":"3h"})";
  const Node decided = parse_json(kron({"decide"}, request + "\n").out).value();
  const std::string chosen = *decided.find("chosenTime")->as<std::string>();
  const std::string line = R"({"event":"run_started","chosenTime":")" + chosen + R"(","decision":)" + request + "}";
  EXPECT_EQ(kron({"explain", "--log-line", line}).status, 0);
  const std::string other = R"({"event":"run_started","chosenTime":"2026-03-01T00:00:00Z","decision":)" + request + "}";
  const Ran ran = kron({"explain", "--log-line", other});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("which this request does not give"));
}

TEST_F(Simulate, FitsNarrowAndWideTerminals) {
  const std::string path = file("a.kron", "*/5 * * * * name=often command=x\n0 * * * * name=hourly command=x\n");
  for (const char* columns : {"1", "20", "40", "80", "200", "1000", "100000", "-5", "x"}) {
    const Variable width("COLUMNS", columns);
    const Variable locale("LC_ALL", "C.UTF-8");
    const Ran ran = kron({"simulate", path, "--from", "2026-03-01T00:00:00Z", "--for", "6h"});
    EXPECT_EQ(ran.status, 0) << columns << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("2026-03-01")) << columns;
  }
}

TEST_F(Simulate, WiderTerminalsHaveWiderPicturesAndNoneIsBeyondItsWidth) {
  const std::string path = file("a.kron", "*/5 * * * * name=often command=x\n");
  const auto widest = [&](const char* columns) {
    const Variable width("COLUMNS", columns);
    std::istringstream lines(kron({"simulate", path, "--from", "2026-03-01T00:00:00Z", "--for", "12h"}).out);
    std::size_t most = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("█") == std::string::npos && line.find("─") == std::string::npos) continue;
      std::size_t letters = 0;
      for (const char c : line) letters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
      most = std::max(most, letters);
    }
    return most;
  };
  EXPECT_LE(widest("80"), 80U);
  EXPECT_LE(widest("200"), 200U);
  EXPECT_GT(widest("200"), widest("80"));
}

TEST_F(Simulate, PlainCharactersWhereTheLocaleHasNoOthers) {
  const Variable locale("LC_ALL", "C");
  const std::string out =
      kron({"simulate", file("a.kron", kTwoJobs), "--from", "2026-03-01T00:00:00Z", "--for", "1d"}).out;
  for (const char c : out) ASSERT_GE(c, 0) << out;
}

TEST_F(Simulate, EachFormatAndWhatIsWrong) {
  const std::string path = file("a.kron", kTwoJobs);
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> words{"simulate", path, "--from", "2026-03-01T00:00:00Z", "--for", "1d"};
    words.insert(words.end(), more);
    return kron(words);
  };
  EXPECT_TRUE(parse_json(with({"--format", "json"}).out));
  EXPECT_THAT(with({"--format", "html"}).out, HasSubstr("</html>"));
  EXPECT_THAT(with({"--step", "0s"}).err, HasSubstr("--step"));
  EXPECT_EQ(with({"--step", "0s"}).status, 1);
  EXPECT_THAT(with({"--step", "often"}).err, HasSubstr("--step: "));
  EXPECT_THAT(kron({"simulate", path, "--for", "x"}).err, HasSubstr("--for: "));
  EXPECT_THAT(kron({"simulate", path, "--from", "x"}).err, HasSubstr("--from: "));
  EXPECT_EQ(kron({"simulate", directory_.file("nowhere")}).status, 2);
}

TEST_F(Convert, FromOneSpellingToTheOtherAndBack) {
  const std::string yaml = kron({"convert", "--to", "yaml", file("a.kron", kTwoJobs)}).out;
  EXPECT_THAT(yaml, AllOf(HasSubstr("jobs:"), HasSubstr("noon"), HasSubstr("Europe/Paris")));
  const Ran back = kron({"convert", "--to", "kron", file("b.yaml", yaml)});
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(kron({"convert", "--to", "yaml", file("c.kron", back.out)}).out, yaml);
}

TEST_F(Convert, WhatIsWrongIsLeftOutAndTold) {
  const Ran ran = kron({"convert", "--to", "kron", file("a.kron", std::string("bad\n") + kTwoJobs)});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("a.kron:1:1: error: "));
  EXPECT_THAT(ran.out, HasSubstr("name=noon"));
  EXPECT_EQ(kron({"convert", "--to", "kron", directory_.file("nowhere")}).status, 2);
  EXPECT_EQ(kron({"convert", "--to", "yaml", file("empty.kron", "# nothing\n")}).out, "");
}

TEST_F(Import, ACrontabBecomesAJobFileAndSaysSo) {
  const Ran ran = kron({"import", "crontab", "--to", "kron", "-"}, "CRON_TZ=UTC\n5 4 * * * /usr/bin/backup --all\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("5 4 * * *"), HasSubstr("/usr/bin/backup --all")));
  EXPECT_THAT(ran.err, HasSubstr("wrote 1 job. The crontabs were not changed"));
}

TEST_F(Import, NamesThatPeopleCanReadAreCountedWhereTheyAreTheSame) {
  const Ran ran =
      kron({"import", "crontab", "--readable-names", "--to", "kron", "-"},
           "CRON_TZ=UTC\n5 4 * * * /usr/bin/backup\n6 4 * * * /usr/bin/backup\n7 4 * * * /usr/bin/backup\n");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("name=backup "), HasSubstr("name=backup-2 "), HasSubstr("name=backup-3 ")));
}

TEST_F(Import, ALineThatCannotBeReadIsLeftOutAndCounted) {
  const Ran ran = kron({"import", "crontab", "-"}, "CRON_TZ=UTC\n99 4 * * * x\n5 4 * * * y\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("wrote 1 job"), HasSubstr("left out 1 (see above)")));
  EXPECT_EQ(kron({"import", "crontab", directory_.file("nowhere")}).status, 2);
}

TEST_F(Import, TimersOfSystemd) {
  const std::string saved = file("saved",
                                 "Id=a.timer\nUnit=a.service\nActiveState=active\n"
                                 "TimersCalendar={ OnCalendar=*-*-* 04:05:00 UTC ; next_elapse=x }\n"
                                 "TimersCalendar={ OnCalendar=Fri *-*-13 00:00:00 UTC ; next_elapse=x }\n\n"
                                 "Id=a.service\nType=oneshot\n"
                                 "ExecStart={ path=/x ; argv[]=/x y ; ignore_errors=no }\n");
  const Ran ran = kron({"import", "timers", "--from", saved, "--to", "kron"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "5 4 * * * name=a command=\"/x y\" cwd=/\n");
  EXPECT_THAT(ran.err, HasSubstr("saved:5:1: error: OnCalendar="));
  EXPECT_THAT(ran.err, HasSubstr("kron import: wrote 1 job. The timers were not changed"));
  EXPECT_THAT(kron({"import", "timers", "--from", saved, "--to", "kron", "--keep-unit"}).out,
              HasSubstr("systemctl start --wait a.service"));
  EXPECT_EQ(kron({"import", "timers", "--from", directory_.file("nowhere")}).status, 2);
}

TEST_F(Import, ACronJobOfKubernetes) {
  const Ran ran = kron({"import", "cronjob", "-"},
                       "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: '5 4 * * *'\n"
                       "  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n"
                       "          containers: [{name: a, image: busybox}]\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("apiVersion: kron.io/v1alpha1"), HasSubstr("kind: KronJob")));
  EXPECT_THAT(ran.err, HasSubstr("wrote 1 KronJob. The CronJobs were not changed: suspend them before"));
  const Ran checked = kron({"kube", "lint", "-", "--now", "2026-03-01T00:00:00Z"}, ran.out);
  EXPECT_EQ(checked.out, "1 KronJob read: 0 errors, 0 warnings\n");
  EXPECT_EQ(kron({"import", "cronjob", "-"}, "kind: Pod\n").status, 1);
  EXPECT_EQ(kron({"import", "cronjob", directory_.file("nowhere")}).status, 2);
}

TEST_F(Import, ACronJobWhoseTemplateIsNoneIsLeftOut) {
  const Ran ran = kron({"import", "cronjob", "-"},
                       "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: '5 4 * * *'\n"
                       "  jobTemplate: {spec: {template: {spec: {containers: [{name: a}]}}}}\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err,
              HasSubstr("the KronJob 'a' would be refused: spec.jobTemplate.spec.template.spec.restartPolicy"));
}

TEST_F(Ahead, DecideAnswersEachLineAndTellsWhatIsWrongWithIt) {
  const Ran ran = kron({"decide"}, "{\"identity\":\"a\",\"periodStart\":\"2026-03-01T00:00:00Z\"}\n{\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr(R"("chosenTime":"2026-03-01T00:00:00Z")"), HasSubstr("\n{\"error\":{")));
  EXPECT_EQ(kron({"decide"}, "").out, "") << "no line, no answer";
}

TEST_F(Ahead, EvaluateRefusesWhatIsNoQuestion) {
  constexpr char kJob[] = R"("job":{"name":"a","schedule":"0 0 * * *"})";
  const std::pair<std::string, const char*> cases[] = {
      {"{}", "job"},
      {std::string("{") + kJob + "}", "now"},
      {std::string("{") + kJob + R"(,"now":"x"})", "now"},
      {std::string("{") + kJob + R"(,"now":"2026-03-01T00:00:00Z","state":3})", "state"},
      {std::string("{") + kJob + R"(,"now":"2026-03-01T00:00:00Z","state":{"Identity":"b"}})", "state.Identity"},
      {std::string("{") + kJob + R"(,"now":"2026-03-01T00:00:00Z","active":{}})", "active"},
      {std::string("{") + kJob + R"(,"now":"2026-03-01T00:00:00Z","nwo":1})", "nwo"},
      {R"({"job":{"name":"a","schedule":"99 0 * * *"},"now":"2026-03-01T00:00:00Z"})", "schedule"},
  };
  for (const auto& [line, field] : cases) {
    const Ran ran = kron({"evaluate"}, line + "\n");
    EXPECT_EQ(ran.status, 1) << line;
    EXPECT_THAT(ran.out, AllOf(StartsWith(R"({"error":)"), HasSubstr(field))) << line;
  }
  EXPECT_THAT(kron({"evaluate"}, std::string("{") + kJob + R"(,"state":null,"now":"2026-03-01T00:00:00Z"})" + "\n").out,
              StartsWith(R"({"action":"start")"));
}

TEST_F(Ahead, ALineThatIsTooLongIsAnsweredAndTheNextOneToo) {
  const Ran ran = kron({"decide"}, std::string((1U << 20U) + 1, ' ') +
                                       "\n{\"identity\":\"a\",\"periodStart\":\"2026-03-01T00:00:00Z\"}\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("longer than 1048576 bytes"), HasSubstr("chosenTime")));
}

TEST_F(Ahead, TheSchemaIsJson) { EXPECT_TRUE(parse_json(kron({"schema"}).out)); }

}  // namespace
}  // namespace kron::cli
