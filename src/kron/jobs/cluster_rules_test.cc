#include "kron/jobs/cluster_rules.h"

#include <gtest/gtest.h>

#include "kron/core/cron_args.h"
#include "kron/jobs/lint.h"
#include "kron/jobs/load.h"

namespace kron::jobs {
namespace {

ZoneDatabase& cluster_zones() {
  static ZoneDatabase database;
  return database;
}

LoadedJobs load_clustered(std::string_view text, bool is_clustered = true) {
  LoadOptions options;
  options.is_clustered = is_clustered;
  return load_text("jobs.json", text, Spelling::cronken, cluster_zones(), options);
}

std::string named(std::string_view name, std::string_view lock, std::string_view kron,
                  std::string_view args = R"({"hour": "1"})") {
  return "{\"" + std::string(name) + R"(": {"cron_args": )" + std::string(args) +
         R"(, "job_args": {"cmd": "x", "lock": )" + std::string(lock) + R"(, "ttl": 0}, "kron": )" + std::string(kron) +
         "}}";
}

TEST(ClusterRules, ADefinitionBecomesWhatAClusterRuns) {
  const LoadedJobs jobs = load_clustered(R"({"a": {"cron_args": {"hour": "1"},
    "job_args": {"cmd": "x", "lock": true, "ttl": 0}, "job_state": {"paused": true},
    "kron": {"policy": {"concurrency": "allow"}}}})");
  ASSERT_EQ(jobs.definitions.size(), 1U) << text_of(jobs.problems.front());
  const JobDefinition& job = jobs.definitions[0];
  EXPECT_EQ(job.job.policy, (Policy{Concurrency::forbid, true, Seconds(1)}));
  EXPECT_EQ(job.options->terms, (ClusterTerms{true, "", Seconds(60), false}));
}

TEST(ClusterRules, ADeadlineThatIsNamedStays) {
  const LoadedJobs jobs = load_clustered(named("a", "true", R"({"policy": {"deadline": "0s"}})"));
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].job.policy.deadline, Seconds(0));
  EXPECT_EQ(load_clustered(named("a", "true", "{}"), false).definitions.at(0).job.policy.deadline, Seconds(0));
}

TEST(ClusterRules, WithoutALockAllowAndReplaceStay) {
  for (const std::string_view word : {"allow", "replace"}) {
    const LoadedJobs jobs =
        load_clustered(named("a", "false", R"({"policy": {"concurrency": ")" + std::string(word) + "\"}}"));
    ASSERT_EQ(jobs.definitions.size(), 1U) << word;
    EXPECT_EQ(name_of(jobs.definitions[0].job.policy.concurrency), word);
    EXPECT_EQ(jobs.definitions[0].options->terms->ttl, Seconds(0));
  }
}

TEST(ClusterRules, EachRefusalIsOfOneDefinition) {
  struct Case {
    std::string text;
    std::string field;
  };
  const Case cases[] = {
      {named("all", "true", "{}"), "name"},
      {named("__reaper__", "true", "{}"), "name"},
      {named("a\\nb", "true", "{}"), "name"},
      {named(std::string(513, 'x'), "true", "{}"), "name"},
      {named("a", "true", R"({"policy": {"concurrency": "replace"}})"), "kron.policy.concurrency"},
      {named("a", "true", R"({"policy": {"concurrency": "queue", "deadline": "1h"}})"), "kron.policy.concurrency"},
      {named("a", "false", R"({"policy": {"concurrency": "queue", "deadline": "1h"}})"), "kron.policy.concurrency"},
      {named("a", "true", R"({"policy": {"pauseAfter": 3}})"), "kron.policy.pauseAfter"},
      {named("a", "true", R"({"policy": {"catchUpSpread": "10m"}})"), "kron.policy.catchUpSpread"},
      {named("a", "true", R"({"pool": "db:4"})"), "kron.pool"},
      {named("a", "true", R"({"window": "300s"})", R"({"second": "*"})"), "kron.window"},
      {named("a", "true", "{}", R"({"cronstring": "@reboot"})"), "cron_args.cronstring"},
  };
  for (const Case& c : cases) {
    const std::string both = c.text.substr(0, c.text.size() - 1) +
                             R"(, "good": {"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": 1, "ttl": 1}}})";
    const LoadedJobs jobs = load_clustered(both);
    ASSERT_FALSE(jobs.problems.empty()) << c.text;
    EXPECT_EQ(jobs.problems[0].field, c.field) << text_of(jobs.problems[0]);
    ASSERT_EQ(jobs.definitions.size(), 1U) << c.text;
    EXPECT_EQ(jobs.definitions[0].job.identity, "good");
  }
  EXPECT_TRUE(check_cluster_name(std::string(512, 'x')));
  EXPECT_FALSE(check_cluster_name(""));
  EXPECT_FALSE(check_cluster_name("a\x7f"));
  EXPECT_TRUE(check_cluster_name("all of them, ä"));
  EXPECT_TRUE(load_clustered(named("a", "true", R"({"window": "250s"})", R"({"second": "*"})")).definitions.size() ==
              1);
}

TEST(ClusterRules, LintSaysWhatAClusterDoesAndOnWhichWeekdays) {
  const LoadedJobs jobs = load_clustered(
      named("a", "true", R"({"policy": {"concurrency": "allow", "deadline": "1h"}})", R"({"day_of_week": "0-4,6"})"),
      false);
  ASSERT_EQ(jobs.definitions.size(), 1U);
  const std::vector<Problem> problems = lint(jobs.definitions, {.now = instant_of(0), .notes = true});
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].field, "policy.concurrency");
  EXPECT_EQ(problems[1].field, "job_args.ttl");
  EXPECT_EQ(problems[2].message, "'a': it runs on Monday to Friday and Sunday: in cron_args 0 is Monday");
  EXPECT_EQ(problems[2].severity, Severity::note);
  const LoadedJobs replace =
      load_clustered(named("a", "true", R"({"policy": {"concurrency": "replace", "deadline": "1h"}})"), false);
  const std::vector<Problem> refused = lint(replace.definitions, {.now = instant_of(0)});
  ASSERT_FALSE(refused.empty());
  EXPECT_EQ(refused[0].severity, Severity::error);
}

TEST(ClusterRules, WeekdaysInWords) {
  struct Case {
    std::string args;
    std::optional<std::string> words;
  };
  const Case cases[] = {{"*", std::nullopt},
                        {"0", "Monday"},
                        {"6", "Sunday"},
                        {"0,1", "Monday and Tuesday"},
                        {"sat,sun", "Saturday and Sunday"},
                        {"1-3", "Tuesday to Thursday"},
                        {"0,2,4-6", "Monday, Wednesday and Friday to Sunday"}};
  for (const Case& c : cases) {
    for (const char* day : {"*", "1-7"}) {
      const auto args = parse_cron_args({{"day_of_week", c.args}, {"day", day}}, TimeZone(), cluster_zones());
      ASSERT_TRUE(args);
      EXPECT_EQ(weekdays_in_words(args->schedule), c.words) << c.args;
    }
  }
}

}  // namespace
}  // namespace kron::jobs
