#include "kron/jobs/cronken.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/core/state.h"
#include "kron/jobs/load.h"
#include "kron/json/document.h"

namespace kron::jobs {
namespace {

ZoneDatabase& zones() {
  static ZoneDatabase database;
  return database;
}

LoadedJobs load(std::string_view text, LoadOptions options = {}) {
  return load_text("jobs.json", text, Spelling::cronken, zones(), options);
}

std::string definition(std::string_view cron_args, std::string_view more = "") {
  return R"({"a b": {"cron_args": )" + std::string(cron_args) +
         R"(, "job_args": {"cmd": "echo hi | wc", "lock": true, "ttl": 10})" + std::string(more) + "}}";
}

TEST(Cronken, ReadsTheSeedsExamples) {
  const LoadedJobs jobs = load(R"({"every_two_seconds": {
    "cron_args": {"second": "*/2"},
    "job_args": {"cmd": "echo every_two_seconds", "lock": true, "ttl": 10},
    "job_state": {"paused": true}},
   "minutely": {"cron_args": {"cronstring": "* * * * *"}, "job_args": {"cmd": "echo", "lock": "L", "ttl": 0}, "x": 1}})");
  ASSERT_EQ(jobs.definitions.size(), 2U) << text_of(jobs.problems.front());
  const JobDefinition& first = jobs.definitions[0];
  EXPECT_EQ(first.job.identity, "every_two_seconds");
  EXPECT_EQ(command_of(first), "echo every_two_seconds");
  EXPECT_EQ(first.options->shell, "/bin/sh");
  EXPECT_EQ(first.options->terms, (ClusterTerms{true, "", Seconds(10), true}));
  EXPECT_EQ(rfc3339(*first.job.schedule.next_after(instant_of(1), first.job.zone)), "1970-01-01T00:00:02Z");
  EXPECT_EQ(jobs.definitions[1].options->terms, (ClusterTerms{true, "L", Seconds(0), false}));
}

TEST(Cronken, TakesValuesAsCronkenDoes) {
  struct Case {
    std::string terms;
    std::string state;
    std::optional<ClusterTerms> expected;
  };
  const auto locked = [](std::int64_t ttl) { return ClusterTerms{true, "", Seconds(ttl), false}; };
  const Case cases[] = {
      {R"("lock": true, "ttl": "10")", "{}", locked(10)},
      {R"("lock": true, "ttl": " 10 ")", "{}", locked(10)},
      {R"("lock": true, "ttl": "10.0")", "{}", locked(10)},
      {R"("lock": true, "ttl": 10.0)", "{}", locked(10)},
      {R"("lock": true, "ttl": true)", "{}", locked(1)},
      {R"("lock": true, "ttl": 10.5)", "{}", std::nullopt},
      {R"("lock": true, "ttl": "ten")", "{}", std::nullopt},
      {R"("lock": true, "ttl": null)", "{}", std::nullopt},
      {R"("lock": true, "ttl": "-1")", "{}", std::nullopt},
      {R"("lock": true, "ttl": 1e300)", "{}", std::nullopt},
      {R"("lock": 1, "ttl": 1)", "{}", locked(1)},
      {R"("lock": 0, "ttl": 1)", "{}", ClusterTerms{false, "", Seconds(1), false}},
      {R"("lock": "", "ttl": 1)", "{}", ClusterTerms{false, "", Seconds(1), false}},
      {R"("lock": "true", "ttl": 1)", "{}", ClusterTerms{true, "true", Seconds(1), false}},
      {R"("lock": 2, "ttl": 1)", "{}", std::nullopt},
      {R"("lock": null, "ttl": 1)", "{}", std::nullopt},
      {R"("lock": true, "ttl": 1)", R"({"paused": "yes"})", ClusterTerms{true, "", Seconds(1), true}},
      {R"("lock": true, "ttl": 1)", R"({"paused": "ON"})", ClusterTerms{true, "", Seconds(1), true}},
      {R"("lock": true, "ttl": 1)", R"({"paused": 1})", ClusterTerms{true, "", Seconds(1), true}},
      {R"("lock": true, "ttl": 1)", R"({"paused": "off"})", locked(1)},
      {R"("lock": true, "ttl": 1)", "null", locked(1)},
      {R"("lock": true, "ttl": 1)", R"({"paused": "maybe"})", std::nullopt},
      {R"("lock": true, "ttl": 1)", R"({"paused": 2})", std::nullopt},
      {R"("lock": true, "ttl": 1)", "5", std::nullopt},
  };
  for (const Case& c : cases) {
    const std::string text = R"({"a": {"cron_args": {"hour": "1"}, "job_args": {"cmd": "x", )" + c.terms +
                             R"(}, "job_state": )" + c.state + "}}";
    const LoadedJobs jobs = load(text);
    ASSERT_EQ(jobs.definitions.size(), c.expected ? 1U : 0U) << text;
    if (!c.expected) continue;
    EXPECT_EQ(jobs.definitions[0].options->terms, c.expected) << text;
  }
}

TEST(Cronken, APauseTellsSinceWhenByWhomAndWhy) {
  const std::string long_text(kMostNoteBytes + 1, 'x');
  struct Case {
    std::string state;
    std::optional<ClusterPause> expected;
  };
  const Case cases[] = {
      {R"({"paused":true,"kron_pause":{"since":"2026-11-18T01:00:00Z","by":"anna","note":"disk"}})",
       ClusterPause{*parse_rfc3339("2026-11-18T01:00:00Z"), "anna", "disk"}},
      {R"({"paused":"yes","kron_pause":{"by":"anna"}})", ClusterPause{{}, "anna", ""}},
      {R"({"paused":true})", ClusterPause{}},
      {R"({"paused":false,"kron_pause":{"by":"anna"}})", std::nullopt},
      {R"({"kron_pause":{"by":"anna"}})", std::nullopt},
      {"null", std::nullopt},
      // What somebody else has written there is not known, and the job goes on.
      {R"({"paused":true,"kron_pause":7})", ClusterPause{}},
      {R"({"paused":true,"kron_pause":{"since":"yesterday","by":["anna"],"note":null}})", ClusterPause{}},
      {R"({"paused":true,"kron_pause":{"note":")" + long_text.substr(1) + "\"}}",
       ClusterPause{{}, "", long_text.substr(1)}},
      {R"({"paused":true,"kron_pause":{"note":")" + long_text + "\"}}", ClusterPause{}},
  };
  for (const Case& c : cases) {
    const std::string job = R"({"cron_args": {"hour": "1"}, "job_args": {"cmd": "x", "lock": true, "ttl": 1},
                            "job_state": )" +
                            c.state + "}";
    EXPECT_EQ(cronken_pause(*parse_json(job)), c.expected) << job;
    const LoadedJobs jobs = load("{\"a\":" + job + "}");
    ASSERT_EQ(jobs.definitions.size(), 1U) << job;
    const auto& pause = jobs.definitions[0].pause;
    EXPECT_EQ(pause ? std::optional(*pause) : std::nullopt, c.expected) << job;
  }
  for (const std::string_view none : {"[]", "7", R"({"job_state":5})"}) EXPECT_FALSE(cronken_pause(*parse_json(none)));
}

TEST(Cronken, PassesByUnknownArgsWhenATimeIsNamed) {
  const LoadedJobs jobs = load(definition(R"({"hour": "1", "hourz": "2", "nothing": null})"));
  ASSERT_EQ(jobs.definitions.size(), 1U);
  ASSERT_EQ(jobs.problems.size(), 2U);
  EXPECT_EQ(jobs.problems[0].severity, Severity::warning);
  EXPECT_EQ(jobs.problems[0].field, "cron_args.hourz");
  for (const std::string_view args : {"{}", R"({"hour": null})", R"({"jitter": 5})", R"({"timezone": "UTC"})"}) {
    const LoadedJobs none = load(definition(args));
    EXPECT_TRUE(none.definitions.empty()) << args;
    ASSERT_EQ(none.problems.size(), 1U) << args;
    EXPECT_EQ(none.problems[0].field, "cron_args") << args;
  }
}

TEST(Cronken, ACronstringLeavesNothingToTheOthers) {
  const LoadedJobs jobs =
      load(definition(R"({"cronstring": "@never", "hour": "99", "timezone": "Mars", "jitter": 5, "end_date": "x"})"));
  ASSERT_EQ(jobs.definitions.size(), 1U) << text_of(jobs.problems.front());
  EXPECT_EQ(jobs.definitions[0].job.zone.name(), TimeZone().name());
  EXPECT_EQ(jobs.definitions[0].job.window.duration.count(), 0);
  EXPECT_EQ(jobs.problems.size(), 4U);
  EXPECT_FALSE(jobs.has_errors());
  EXPECT_TRUE(load(definition(R"({"cronstring": "@reboot"})")).has_errors());
  EXPECT_TRUE(load(definition(R"({"cronstring": ""})")).has_errors());
}

TEST(Cronken, TheKronObjectGivesTheWholeModel) {
  LoadOptions options;
  options.local_zone = *zones().find("Asia/Tokyo");
  const LoadedJobs plain = load(definition(R"({"hour": 9})"), options);
  ASSERT_EQ(plain.definitions.size(), 1U);
  EXPECT_EQ(plain.definitions[0].job.zone.name(), "Asia/Tokyo");
  const LoadedJobs jobs =
      load(definition(R"({"hour": 9})", R"(, "kron": {"timezone": "Europe/Paris", "window": {"mode": "before",
        "duration": "1h"}, "only": {"dow": "MON-FRI"}, "policy": {"deadline": "5m"}, "user": "x", "timeout": "1m"})"),
           options);
  ASSERT_EQ(jobs.definitions.size(), 1U) << text_of(jobs.problems.front());
  const JobDefinition& found = jobs.definitions[0];
  EXPECT_EQ(found.job.zone.name(), "Europe/Paris");
  EXPECT_EQ(found.job.window.mode, WindowMode::before);
  EXPECT_EQ(found.job.policy.deadline, Seconds(300));
  EXPECT_EQ(found.options->user, "x");
  EXPECT_TRUE(found.options->terms);
}

TEST(Cronken, JitterIsAWindowAfter) {
  const LoadedJobs jobs = load(definition(R"({"hour": 9, "jitter": 120})"));
  ASSERT_EQ(jobs.definitions.size(), 1U) << text_of(jobs.problems.front());
  EXPECT_EQ(jobs.definitions[0].job.window, (WindowSpec{WindowMode::after, Seconds(120)}));
}

TEST(Cronken, OneBadDefinitionDisablesOnlyItself) {
  struct Case {
    std::string text;
    std::string field;
  };
  const std::string good = R"("job_args": {"cmd": "x", "lock": true, "ttl": 1})";
  const Case cases[] = {
      {R"({"job_args": {"cmd": "x", "lock": true, "ttl": 1}})", "cron_args"},
      {R"({"cron_args": {"hour": 1}})", "job_args"},
      {R"({"cron_args": {"hours": 1}, )" + good + "}", "cron_args.hours"},
      {R"({"cron_args": {"hour": 25}, )" + good + "}", "cron_args.hour"},
      {R"({"cron_args": {"hour": 1, "timezone": "Mars"}, )" + good + "}", "cron_args.timezone"},
      {R"({"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": true}})", "job_args.ttl"},
      {R"({"cron_args": {"hour": 1}, "job_args": {"cmd": 5, "lock": true, "ttl": 1}})", "job_args.cmd"},
      {R"({"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": [], "ttl": 1}})", "job_args.lock"},
      {R"({"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": true, "ttl": -1}})", "job_args.ttl"},
      {R"({"cron_args": {"hour": 1}, "kron": {"name": "x"}, )" + good + "}", "kron.name"},
      {R"({"cron_args": {"hour": 1, "jitter": 5}, "kron": {"window": "1m"}, )" + good + "}", "kron.window"},
      {R"({"cron_args": {"hour": 1}, "kron": {"windo": "1m"}, )" + good + "}", "windo"},
      {"[]", "bad"},
  };
  for (const Case& c : cases) {
    const LoadedJobs jobs = load(R"({"bad": )" + c.text + R"(, "good": {"cron_args": {"hour": 1}, )" + good + "}}");
    ASSERT_FALSE(jobs.problems.empty()) << c.text;
    EXPECT_EQ(jobs.problems[0].field, c.field) << text_of(jobs.problems[0]);
    ASSERT_EQ(jobs.definitions.size(), 1U) << c.text;
    EXPECT_EQ(jobs.definitions[0].job.identity, "good");
  }
}

TEST(Cronken, AJsonFileWithAListOfJobsIsTheModel) {
  const LoadedJobs jobs = load(R"({"jobs": [{"name": "a", "schedule": "@daily", "command": "true"}]})");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].spelling, Spelling::yaml);
}

}  // namespace
}  // namespace kron::jobs
