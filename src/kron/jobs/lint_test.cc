#include "kron/jobs/lint.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/core/decision.h"
#include "kron/jobs/dst_effects.h"
#include "kron/jobs/load.h"

namespace kron::jobs {
namespace {

const Instant kNow = *parse_rfc3339("2026-11-15T00:00:00Z");

std::vector<JobDefinition> definitions(std::string_view lines) {
  static ZoneDatabase zones;
  LoadedJobs jobs = load_text("f.kron", lines, Spelling::kron, zones);
  for (const Problem& problem : jobs.problems) ADD_FAILURE() << text_of(problem);
  return std::move(jobs.definitions);
}

std::vector<Problem> linted(std::string_view lines) { return lint(definitions(lines), {.now = kNow}); }

struct Case {
  std::string line;
  Severity severity;
  std::string field;
  std::string message;
};

TEST(Lint, WarnsOfWhatTheAuthorHardlyWants) {
  const Case cases[] = {
      {"0 * * * * @win(2h) @policy(deadline=1m)", Severity::warning, "window",
       "longer than the 1h between periods: up to 3"},
      {"0 0 * * * @win(24h) @only(between=03:00-03:00)", Severity::warning, "only", "of the window"},
      {"0 0 * * * @only(hours=3)", Severity::warning, "only", "none of the next 16 periods has an allowed time"},
      {"* * * * *", Severity::warning, "policy.deadline", "every 1m with a deadline of 0s"},
      {"30 2 * * * @tz(Europe/Paris)", Severity::warning, "dst",
       "2027-03-28 02:30 moved to after the gap, 2028-03-26 02:30 moved to after the gap"},
      {"0 3 * * * @policy(catchUpSpread=1h,deadline=10s)", Severity::warning, "policy.catchUpSpread",
       "nothing is left to spread"},
      {"0 0 0 1 1 * 2020", Severity::warning, "schedule", "no time after"},
  };
  for (const Case& c : cases) {
    const auto problems = linted(c.line + " name=a command=true\n");
    ASSERT_EQ(problems.size(), 1U) << c.line;
    EXPECT_EQ(problems[0].severity, c.severity);
    EXPECT_EQ(problems[0].field, c.field) << c.line;
    EXPECT_NE(problems[0].message.find(c.message), std::string::npos) << problems[0].message;
    EXPECT_EQ(problems[0].at.line, 1U);
  }
}

TEST(Lint, WarnsOfAPoolThatIsTooSmallAndNamesTheHour) {
  const auto warnings = [](const std::string& lines, bool notes = false) {
    std::string said;
    for (const Problem& problem : lint(definitions(lines), {.now = kNow + Seconds(1800), .notes = notes})) {
      said += problem.field + ": " + problem.message + "\n";
    }
    return said;
  };
  const std::string deadline = " @policy(deadline=1h) ";
  // Twelve runs of up to ten minutes in an hour are two hours.
  const std::string busy = "*/5 3 * * *" + deadline + "name=a command=true timeout=10m pool=db:";
  EXPECT_EQ(warnings(busy + "1\n"),
            "pool: 'a': the pool 'db' has 1 slot, and in the hour from 2026-11-15T03:00:00Z 12 runs may take as much "
            "time as 2 slots have, by their timeouts\n");
  EXPECT_EQ(warnings(busy + "2\n"), "");
  const std::string more = "0 5 * * *" + deadline + "name=b command=true pool=db\n";
  EXPECT_NE(warnings(busy + "1\n" + more).find("; 1 job without a timeout not counted"), std::string::npos);
  EXPECT_NE(warnings("0 5 * * *" + deadline + "name=b command=true pool=db:2\n", true)
                .find("pool: 'b': how long its runs take is not known, so whether 2 slots"),
            std::string::npos);
  EXPECT_NE(warnings("0 5 * * * name=a command=true pool=db:2\n")
                .find("policy.deadline: 'a': with a deadline of 0s it is missed at once when all slots of the pool "
                      "'db' are taken"),
            std::string::npos);
  EXPECT_NE(warnings("0 5 * * *" + deadline + "name=a task=mail pool=db:2\n").find("pool: 'a': a task needs no slot"),
            std::string::npos);
}

TEST(Lint, WarnsOfAHostThatRunsTooFewAtOnce) {
  const auto warnings = [](const std::string& lines, std::size_t max_running, const UsualLengths& usual = {}) {
    std::string said;
    for (const Problem& problem :
         lint(definitions(lines), {.now = kNow, .max_running = max_running, .usual = &usual})) {
      said += problem.field + ": " + problem.message + "\n";
    }
    return said;
  };
  const std::string jobs =
      "*/10 3 * * * @policy(deadline=1h) name=a command=true timeout=10m\n"
      "*/10 3 * * * @policy(deadline=1h) name=b command=true timeout=10m\n"
      "*/10 3 * * * @policy(deadline=1h) name=c task=mail timeout=10m\n";
  EXPECT_EQ(warnings(jobs, 2), "");
  EXPECT_EQ(warnings(jobs, 0), "") << "any number";
  EXPECT_EQ(warnings(jobs, 1),
            ": 2 jobs (a, b): krond --max-running lets 1 run be active at once, and in the hour from "
            "2026-11-15T03:00:00Z 12 runs may take as much time as 2 slots have, by their timeouts\n");
  // What is usual counts, and not what may be at most.
  EXPECT_EQ(warnings(jobs, 1, {{"a", Seconds(300)}, {"b", Seconds(300)}}), "");
  EXPECT_NE(warnings(jobs, 1, {{"a", Seconds(300)}, {"b", Seconds(301)}})
                .find("12 runs take as much time as 2 slots have, by their usual lengths\n"),
            std::string::npos);
  EXPECT_NE(warnings(jobs, 1, {{"a", Seconds(301)}})
                .find("may take as much time as 2 slots have, by their usual lengths "
                      "and timeouts\n"),
            std::string::npos);
  EXPECT_NE(
      warnings("0 5 * * * name=a command=true timeout=1m\n", 3)
          .find("policy.deadline: 'a': with a deadline of 0s it is missed at once when all slots of the host (krond "
                "--max-running) are taken"),
      std::string::npos);
}

TEST(Lint, CountsRunsInTheHourThatIsDrawnForThem) {
  const std::string tail = " @policy(deadline=1h) command=true timeout=1h pool=db:1\n";
  const std::string drawn = "0 0 * * * @win(24h) name=drawn" + tail;
  const Instant chosen = *decide(definitions(drawn)[0].job, kNow).chosen;
  const auto hour = (chosen - kNow) / std::chrono::hours(1);
  ASSERT_GT(hour, 0);
  const auto warnings = [](const std::string& lines) {
    std::string said;
    for (const Problem& problem : lint(definitions(lines), {.now = kNow})) said += problem.message + "\n";
    return said;
  };
  EXPECT_EQ(warnings(drawn + "0 0 * * * name=a" + tail), "") << "they only have the nominal time in common";
  const std::string begin = rfc3339(kNow + std::chrono::hours(hour));
  EXPECT_NE(warnings(drawn + "0 " + std::to_string(hour) + " * * * name=a" + tail)
                .find("in the hour from " + begin + " 2 runs may take as much time as 2 slots have"),
            std::string::npos);
}

TEST(Lint, WarnsOfRetriesThatAreNeverMade) {
  const auto warnings = [](const std::string& keys) {
    std::string fields;
    for (const Problem& problem : linted("0 3 * * * @policy(deadline=1m) name=a command=true " + keys + "\n")) {
      fields += problem.field + ": " + problem.message + "\n";
    }
    return fields;
  };
  // 30 s, 1 m, 2 m
  const std::string found = warnings("timeout=3m30s retry=3 backoff=30s");
  EXPECT_NE(found.find("timeout: "), std::string::npos) << found;
  EXPECT_NE(found.find("the waits between its 4 attempts alone take 3m30s"), std::string::npos) << found;
  EXPECT_EQ(warnings("timeout=3m31s retry=3 backoff=30s"), "");
  EXPECT_EQ(warnings("retry=3 backoff=30s"), "");
  EXPECT_NE(warnings("timeout=30s retry=2"), "") << "10 s and 20 s when nothing is said";
  EXPECT_EQ(warnings("timeout=31s retry=2"), "");
  EXPECT_NE(warnings("backoff=30s").find("backoff: 'a': there is no retry"), std::string::npos);
}

TEST(Lint, WarnsOfRulesOfFailureThatContradict) {
  const auto field_of = [](const std::string& keys) {
    const auto problems = linted("0 3 * * * @policy(deadline=1m) name=a command=true " + keys + "\n");
    return problems.empty() ? "" : problems[0].field + ": " + problems[0].message;
  };
  EXPECT_EQ(field_of("success_exit=0,2"), "");
  EXPECT_EQ(field_of("fails_on=stderr retry=3"), "");
  EXPECT_NE(field_of("success_exit=2").find("success_exit: 'a': 0 is not among"), std::string::npos);
  EXPECT_NE(field_of("success_exit=0 fails_on=nothing").find("success_exit: "), std::string::npos);
  EXPECT_NE(field_of("fails_on=nothing retry=3").find("retry: "), std::string::npos);
}

TEST(Lint, APlannedDayOffIsNoProblem) {
  for (const char* line : {"0 0 * * * @only(dow=MON)", "0 9 * * * @avoid(dates=2026-11-20..2026-11-22)"}) {
    const auto problems = linted(std::string(line) + " @policy(deadline=1m) name=a command=true\n");
    EXPECT_TRUE(problems.empty()) << line << ": " << problems[0].message;
  }
}

TEST(Load, AJobThatWouldHaveTooManyPeriodsOpenAtOnceIsRefusedInEverySpelling) {
  const struct {
    Spelling spelling;
    std::string text;
  } files[] = {
      {Spelling::kron, "* * * * * * @win(after,30d) name=a command=true\n* * * * * name=b command=true\n"},
      {Spelling::yaml,
       "jobs:\n- {name: a, schedule: '@every 1s', window: 4096s, command: 'true'}\n"
       "- {name: b, schedule: '* * * * *', command: 'true'}\n"},
  };
  for (const auto& file : files) {
    ZoneDatabase zones;
    const LoadedJobs jobs = load_text("f", file.text, file.spelling, zones);
    ASSERT_EQ(jobs.definitions.size(), 1U) << file.text;
    EXPECT_EQ(jobs.definitions[0].job.identity, "b");
    ASSERT_EQ(jobs.problems.size(), 1U);
    EXPECT_EQ(jobs.problems[0].severity, Severity::error);
    EXPECT_NE(jobs.problems[0].message.find("more than 4096"), std::string::npos) << jobs.problems[0].message;
  }
}

TEST(Lint, IsSilentAboutGoodJobs) {
  for (const char* line :
       {"0 0 * * * @win(3h) @policy(deadline=30m)", "0 * * * * @win(1h)", "* * * * * @policy(deadline=10s)",
        "* * * * * @win(30s)", "0 12 * * * @tz(Europe/Paris)", "*/15 * * * * @tz(America/New_York)",
        "0 0 * * * @win(24h) @only(hours=9-17)", "@every 15m", "@reboot", "30 2 * * *"}) {
    const auto problems = linted(std::string(line) + " name=a command=true\n");
    EXPECT_TRUE(problems.empty()) << line << ": " << problems[0].message;
  }
}

TEST(Lint, SaysOnceForAZoneAndItsChangesWhatTouchesManyJobs) {
  std::string lines;
  for (int i = 0; i < 50; ++i) {
    lines += std::to_string(i) + " 2 * * * @tz(Europe/Paris) name=p" + std::to_string(i) + " command=true\n";
    lines += std::to_string(i) + " 2 * * * @tz(America/New_York) name=n" + std::to_string(i) + " command=true\n";
  }
  const auto problems = linted(lines);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(
      problems[1].message,
      "50 jobs (p0, p1, p2 …): changes of the clock in Europe/Paris affect them: 2027-03-28 moved to after the gap, "
      "2028-03-26 moved to after the gap, 2029-03-25 moved to after the gap, 2030-03-31 moved to after the gap, "
      "2031-03-30 moved to after the gap");
  EXPECT_EQ(problems[1].at.line, 1U);
}

TEST(Lint, WarnsOfNoDeadlineWhereOneLostPeriodCostsMost) {
  for (const char* line : {"0 3 * * 1", "0 3 1 * *", "@yearly", "0 3 * * MON @win(1h)", "0 0 0 1 1 * 2030"}) {
    const auto problems = linted(std::string(line) + " name=a command=true\n");
    ASSERT_EQ(problems.size(), 1U) << line;
    EXPECT_EQ(problems[0].severity, Severity::warning);
    EXPECT_EQ(problems[0].field, "policy.deadline");
    EXPECT_NE(problems[0].message.find("'a': due less often than daily"), std::string::npos) << problems[0].message;
  }
  for (const char* line :
       {"0 3 * * 1 @policy(deadline=1h)", "0 3 * * 1 @policy(suspend=true)", "0 3 * * 1-5", "@reboot", "0 3,4 * * 1"}) {
    const auto problems = linted(std::string(line) + " name=a command=true\n");
    EXPECT_TRUE(problems.empty()) << line << ": " << problems[0].message;
  }
}

TEST(Lint, SaysOnceForAFileThatItsJobsMayNotStartLate) {
  std::string lines;
  for (int i = 0; i < 5; ++i) {
    lines += "0 " + std::to_string(i) + " * * 1 name=w" + std::to_string(i) + " command=true\n";
    lines += "0 " + std::to_string(i) + " * * * name=d" + std::to_string(i) + " command=true\n";
  }
  const auto problems = lint(definitions(lines), {.now = kNow, .notes = true});
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_NE(problems[0].message.find("5 jobs (w0, w1, w2 …): due less often"), std::string::npos);
  EXPECT_EQ(problems[1].severity, Severity::note);
  EXPECT_NE(problems[1].message.find("5 jobs (d0, d1, d2 …): due once a day"), std::string::npos);
  EXPECT_EQ(linted(lines).size(), 1U) << "notes are for those who ask for them";
}

TEST(Lint, FindsHerds) {
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "0 3 * * * name=j" + std::to_string(i) + " command=true\n";
  for (int i = 0; i < 40; ++i) lines += "0 4 * * * @win(1h) name=w" + std::to_string(i) + " command=true\n";
  const auto problems = linted(lines);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].message.find("20 jobs without a window start together at 2026-11-15T03:00:00Z"),
            std::string::npos)
      << problems[0].message;
}

TEST(Lint, FindsJobsThatShareACheck) {
  const auto problems = linted(
      "0 * * * * @win(1m) name=a command=true ping=https://hc.example/hunter2\n"
      "0 * * * * @win(1m) name=b command=true ping=https://hc.example/hunter3\n"
      "0 * * * * @win(1m) name=c command=true ping=https://hc.example/hunter2/\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].field, "ping");
  EXPECT_EQ(problems[0].at.line, 1U);
  EXPECT_EQ(problems[0].message, "2 jobs (a, c): ping the same check, and one that is well hides another that is not");
}

TEST(DstEffects, AreTheExactDates) {
  struct Expected {
    DstEffect::Kind kind;
    CivilTime local;
    std::uint64_t count;
  };
  struct Row {
    std::string line;
    std::vector<Expected> effects;
  };
  using enum DstEffect::Kind;
  const Row rows[] = {
      {"30 2 * * * @tz(Europe/Paris)", {{moved, {2027, 3, 28, 2, 30, 0}, 1}}},
      {"30 2 * * * @tz(Europe/Paris) @dst(gap=skip)", {{dropped, {2027, 3, 28, 2, 30, 0}, 1}}},
      {"30 2 * * * @tz(Europe/Paris) @dst(overlap=both)",
       {{moved, {2027, 3, 28, 2, 30, 0}, 1}, {doubled, {2027, 10, 31, 2, 30, 0}, 1}}},
      {"*/20 2 * * * @tz(Europe/Paris)", {{dropped, {2027, 3, 28, 2, 0, 0}, 3}, {doubled, {2027, 10, 31, 2, 0, 0}, 3}}},
      {"0 * * * * @tz(Europe/Paris)", {}},
      {"0 * * * * @tz(Australia/Lord_Howe)",
       {{dropped, {2027, 10, 3, 2, 0, 0}, 1}}},      // 01:30-02:00 comes twice, but no full hour is in it
      {"*/5 * * * * @tz(Australia/Lord_Howe)", {}},  // half an hour is a multiple of five minutes, as an hour is
      {"*/5 * * * * @tz(Europe/Paris)", {}},
      {"30 2 * * MON @tz(Europe/Paris)", {}},
      {"0 1 * * * @tz(America/Sao_Paulo)", {}},
  };
  for (const Row& row : rows) {
    const auto jobs = definitions(row.line + " name=a command=true\n");
    const auto effects = dst_effects(jobs.at(0).job, kNow, kNow + std::chrono::years(1));
    ASSERT_EQ(effects.size(), row.effects.size()) << row.line;
    for (std::size_t i = 0; i < effects.size(); ++i) {
      EXPECT_EQ(effects[i].kind, row.effects[i].kind) << row.line;
      EXPECT_EQ(effects[i].local, row.effects[i].local) << row.line;
      EXPECT_EQ(effects[i].count, row.effects[i].count) << row.line;
    }
  }
}

TEST(Lint, OutputThatCannotBeMaskedIsNamed) {
  struct Case {
    const char* fields;
    const char* message;
  };
  for (const Case& c : {Case{"mask_output=true", "there is nothing to mask"},
                        Case{"mask_output=true env_file=/a stdout=/var/log/x", "stdout=/var/log/x is not masked"},
                        Case{"mask_output=true credential=a=/b stderr=inherit", "stderr=inherit is not masked"}}) {
    const auto problems = linted(std::string("@hourly @policy(deadline=5m) name=a command=true ") + c.fields + "\n");
    ASSERT_EQ(problems.size(), 1U) << c.fields;
    EXPECT_NE(problems[0].message.find(c.message), std::string::npos) << problems[0].message;
  }
  for (const char* fields : {"mask_output=true env_file=/a", "env_file=/a stdout=/var/log/x",
                             "mask_output=true env_file=/a stderr=syslog stdout=discard"}) {
    EXPECT_TRUE(linted(std::string("@hourly @policy(deadline=5m) name=a command=true ") + fields + "\n").empty());
  }
}

}  // namespace
}  // namespace kron::jobs
