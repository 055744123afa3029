#include "cluster_definition.h"

#include <gtest/gtest.h>

#include "kron/core/cron_args.h"
#include "kron/jobs/load.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron::cli {
namespace {

std::string args_of(std::string_view expression) {
  const auto schedule = parse_schedule(expression, "job");
  if (!schedule) return "bad: " + schedule.error().message;
  const auto args = cron_args_of(*schedule);
  return args ? JsonWriter().node(*args).take() : "unsayable";
}

TEST(ClusterDefinition, WeekdaysAreWrittenAsNamesBecauseTheirNumbersDiffer) {
  EXPECT_EQ(args_of("30 3 * * 1"),
            R"({"month":"*","day":"*","day_of_week":"mon","hour":"3","minute":"30","second":"0"})");
  EXPECT_EQ(args_of("0 0 * * 0"), args_of("0 0 * * 7"));
  EXPECT_EQ(args_of("0 0 * * 5-1"),
            R"({"month":"*","day":"*","day_of_week":"mon,fri,sat,sun","hour":"0","minute":"0","second":"0"})");
}

TEST(ClusterDefinition, FieldsBecomeTheShortestText) {
  EXPECT_EQ(args_of("*/5 * * * * *"), R"({"month":"*","day":"*","hour":"*","minute":"*","second":"*/5"})");
  EXPECT_EQ(args_of("0,15 8-17 1,15,L 1-3 * "),
            R"({"month":"1-3","day":"1,15,last","hour":"8-17","minute":"0,15","second":"0"})");
  EXPECT_EQ(args_of("0 0 * * 2#3"), R"({"month":"*","day":"3rd tue","hour":"0","minute":"0","second":"0"})");
  EXPECT_EQ(args_of("0 0 * * 5L"), R"({"month":"*","day":"last fri","hour":"0","minute":"0","second":"0"})");
  EXPECT_EQ(args_of("@every 10s"), R"({"second":"*/10"})");
}

TEST(ClusterDefinition, WhatCronArgsCannotSayIsRefused) {
  for (const char* expression : {"0 0 13 * 5", "0 0 15W * *", "0 0 LW * *", "0 0 L-3 * *", "@reboot", "@every 7s"}) {
    EXPECT_EQ(args_of(expression), "unsayable") << expression;
  }
}

// Every line of a job file through the import and back.
Result<std::string> imported(const std::string& line, ZoneDatabase& zones) {
  const jobs::LoadedJobs loaded = jobs::load_text("test.kron", line + "\n", jobs::Spelling::kron, zones);
  if (loaded.definitions.size() != 1) {
    return fail(Code::internal, loaded.problems.empty() ? "no job" : loaded.problems.front().message);
  }
  return cluster_text(loaded.definitions.front(), {}, zones);
}

TEST(ClusterDefinition, AnImportedJobIsTheSameJob) {
  ZoneDatabase zones;
  for (const char* line : {
           R"(0 3 * * 1-5 @tz(Europe/Paris) @win(after,1h) name=backup command=/usr/bin/backup)",
           R"(*/10 * * * * name=a/b shell=true command="echo 'x' | wc -l" timeout=10s env=A=1)",
           R"(30 2 * * * @tz(America/New_York) name=gap command=true)",
           R"(*/15 * * * * @tz(Europe/Paris) name=interval command=true)",
           R"(@every 30s name=often command=true)",
           R"(0 0 1 1 * @tz(Asia/Kolkata) @policy(deadline=1h) name=year command=true)",
       }) {
    const auto text = imported(line, zones);
    ASSERT_TRUE(text) << line << ": " << text.error().message;
    EXPECT_TRUE(parse_json(*text)) << *text;
  }
}

TEST(ClusterDefinition, TheWordsOfACommandArriveAsTheyWere) {
  ZoneDatabase zones;
  const auto text = imported(R"(* * * * * name=x command="/bin/echo 'a  b' $HOME *")", zones);
  ASSERT_TRUE(text) << text.error().message;
  const auto node = parse_json(*text);
  ASSERT_TRUE(node);
  EXPECT_EQ(*node->find("job_args")->find("cmd")->as<std::string>(), "exec /bin/echo 'a  b' '$HOME' '*'");
  const auto shell = imported(R"(* * * * * name=x shell=/bin/bash command="echo 'a'")", zones);
  ASSERT_TRUE(shell) << shell.error().message;
  EXPECT_EQ(*parse_json(*shell)->find("job_args")->find("cmd")->as<std::string>(),
            R"(exec '/bin/bash' -c 'echo '\''a'\''')");
}

TEST(ClusterDefinition, AJobThatSubmitsATaskHasNoCommand) {
  ZoneDatabase zones;
  const auto text = imported(R"(* * * * * name=x task=mail stdin="{\"n\":1}")", zones);
  ASSERT_TRUE(text) << text.error().message;
  const auto node = parse_json(*text);
  ASSERT_TRUE(node);
  EXPECT_EQ(*node->find("job_args")->find("cmd")->as<std::string>(), "");
  EXPECT_EQ(*node->find("kron")->find("task")->as<std::string>(), "mail");
}

TEST(ClusterDefinition, AJobThatAClusterCannotSayIsRefused) {
  ZoneDatabase zones;
  for (const char* line : {"0 0 13 * 5 name=x command=true", "@reboot name=x command=true"}) {
    const auto text = imported(line, zones);
    ASSERT_FALSE(text) << line;
    EXPECT_EQ(text.error().code, Code::invalid) << text.error().message;
  }
}

TEST(ClusterDefinition, ANewDefinitionHasCronkensThreeKeys) {
  EXPECT_EQ(definition_text({.cron = "* * * * *", .command = "echo \"x\""}),
            R"({"cron_args":{"cronstring":"* * * * *"},"job_args":{"cmd":"echo \"x\"","lock":true,"ttl":60}})");
  EXPECT_EQ(definition_text({.cron = "@daily", .command = "x", .lock = "shared", .ttl = 5}),
            R"({"cron_args":{"cronstring":"@daily"},"job_args":{"cmd":"x","lock":"shared","ttl":5}})");
  EXPECT_EQ(definition_text({.cron = "@daily", .command = "x", .is_locked = false}),
            R"({"cron_args":{"cronstring":"@daily"},"job_args":{"cmd":"x","lock":false,"ttl":60}})");
}

TEST(ClusterDefinition, ATaskStandsInTheFourthKeyBesideAnEmptyCommand) {
  EXPECT_EQ(definition_text({.cron = "@daily", .task = "report"}),
            R"({"cron_args":{"cronstring":"@daily"},"job_args":{"cmd":"","lock":true,"ttl":60},)"
            R"("kron":{"task":"report"}})");
  EXPECT_EQ(definition_text({.cron = "@daily", .task = "report", .data = R"({"day":1})"}),
            R"({"cron_args":{"cronstring":"@daily"},"job_args":{"cmd":"","lock":true,"ttl":60},)"
            R"("kron":{"task":"report","stdin":"{\"day\":1}"}})");
}

}  // namespace
}  // namespace kron::cli
