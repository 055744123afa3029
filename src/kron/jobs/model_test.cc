#include "kron/jobs/model.h"

#include <gtest/gtest.h>

#include "kron/jobs/load.h"
#include "kron/jobs/yaml.h"

namespace kron::jobs::model_test {
namespace {

ZoneDatabase& zones() {
  static ZoneDatabase database;
  return database;
}

LoadedJobs load(std::string_view text) { return load_text("jobs.yaml", text, Spelling::yaml, zones()); }

TEST(JobDocument, DefaultsAreMergedIntoEachJob) {
  const LoadedJobs jobs = load(
      "defaults:\n"
      "  timezone: Europe/Paris\n"
      "  policy: {deadline: 10m, concurrency: allow}\n"
      "  env: {A: 1, B: true}\n"
      "  only: {dow: MON}\n"
      "  command: /bin/false\n"
      "jobs:\n"
      "  - {name: a, schedule: '@daily', command: 'true'}\n"
      "  - {name: b, schedule: '@daily', task: t, policy: {deadline: 5m}, env: {A: 2}, only: {hours: 3}, timezone: "
      "UTC}\n");
  ASSERT_EQ(jobs.definitions.size(), 2U) << text_of(jobs.problems.front());
  const JobDefinition& a = jobs.definitions[0];
  EXPECT_EQ(a.job.zone.name(), "Europe/Paris");
  EXPECT_EQ(command_of(a), "true");
  EXPECT_EQ(a.options->env, (Environment{{"A", "1"}, {"B", "true"}}));
  const JobDefinition& b = jobs.definitions[1];
  EXPECT_EQ(b.job.zone.name(), "UTC");
  EXPECT_EQ(b.job.policy, (Policy{Concurrency::allow, false, Seconds(300)}));
  EXPECT_EQ(b.options->env, (Environment{{"A", "2"}, {"B", "true"}}));
  EXPECT_EQ(b.job.constraints.only.weekdays, 0U) << "only is taken whole";
  EXPECT_EQ(b.action, Action(SubmitTask{"t"}));
  EXPECT_TRUE(command_of(b).empty());
}

TEST(JobDocument, CalendarsOfTheFileAreKnownToItsJobs) {
  const LoadedJobs jobs = load(
      "calendars: {holidays: [2026-12-24, 2027-01-01..2027-01-03], unused: 2026-05-01}\n"
      "jobs:\n"
      "  - {name: a, schedule: '@daily', command: x, avoid: {calendar: holidays}}\n"
      "  - {name: b, schedule: '@daily', command: x, avoid: {calendar: holidays}, calendars: {holidays: "
      "[2026-05-01]}}\n");
  ASSERT_EQ(jobs.definitions.size(), 2U) << text_of(jobs.problems.front());
  EXPECT_TRUE(jobs.problems.empty());
  EXPECT_EQ(jobs.definitions[0].job.constraints.avoid.calendars[0].dates.size(), 2U);
  EXPECT_EQ(jobs.definitions[1].job.constraints.avoid.calendars[0].dates.size(), 1U);
}

TEST(JobDocument, EachDocumentStandsForItself) {
  const LoadedJobs jobs = load(
      "defaults: {user: one}\njobs: [{name: a, schedule: '@daily', command: x}]\n---\n"
      "jobs: [{name: b, schedule: '@daily', command: x}]\n---\n");
  ASSERT_EQ(jobs.definitions.size(), 2U);
  EXPECT_EQ(jobs.definitions[0].options->user, "one");
  EXPECT_EQ(jobs.definitions[1].options->user, "");
}

TEST(JobDocument, ReportsEveryMistakeInOneGo) {
  const LoadedJobs jobs = load(
      "jobs:\n"
      "  - name: a\n"
      "    shedule: '@daily'\n"
      "    command: x\n"
      "  - name: b\n"
      "    schedule: '99 * * * *'\n"
      "    command: x\n"
      "    window: {mode: sideways, duration: 1x}\n"
      "    policy: {deadlin: 5m}\n"
      "  - just text\n"
      "  - {name: c, schedule: '@daily', command: x, env: [A]}\n"
      "  - {name: d, schedule: '@daily', command: x}\n"
      "job: []\n");
  struct Expected {
    Position at;
    std::string message;
    std::string cure;
  };
  const Expected expected[] = {
      {{13, 1}, "unknown key 'job'", "did you mean jobs?"},
      {{3, 5}, "unknown key 'shedule'", "did you mean schedule?"},
      {{6, 16}, "schedule: ", ""},
      {{8, 20}, "window.mode: ", ""},
      {{8, 41}, "window.duration: ", ""},
      {{9, 14}, "unknown key 'deadlin'", "deadline"},
      {{10, 5}, "a job must be a map", "name"},
      {{11, 47}, "env: ", "NAME=value"},
  };
  ASSERT_EQ(jobs.problems.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(jobs.problems[i].at, expected[i].at) << text_of(jobs.problems[i]);
    EXPECT_NE(jobs.problems[i].message.find(expected[i].message), std::string::npos) << text_of(jobs.problems[i]);
    EXPECT_NE(jobs.problems[i].cure.find(expected[i].cure), std::string::npos) << text_of(jobs.problems[i]);
  }
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].job.identity, "d");
}

TEST(JobDocument, AMistakeInTheDefaultsIsSaidOnceAndRefusesTheJobsThatTakeIt) {
  const LoadedJobs jobs = load(
      "defaults: {timeout: soon, nane: x}\n"
      "jobs:\n"
      "  - {name: a, schedule: '@daily', command: x}\n"
      "  - {name: b, schedule: '@daily', command: x}\n"
      "  - {name: c, schedule: '@daily', command: x, timeout: 1m}\n");
  EXPECT_EQ(jobs.problems.size(), 2U);
  EXPECT_EQ(jobs.definitions.size(), 0U) << "the unknown key is everybody's";
}

TEST(JobDocument, ShapesThatAreWrongAreRefused) {
  for (const char* text :
       {"jobs: 5\n", "a: b\n", "- a\n", "text\n", "jobs: {a: b}\n", "defaults: 3\njobs: []\n",
        "defaults: {name: a}\njobs: []\n", "calendars: x\njobs: []\n", "jobs: [{name: a, schedule: [1], command: x}]\n",
        "jobs: [{name: a, schedule: '@daily', command: {a: b}}]\n",
        "jobs: [{name: a, schedule: '@daily', command: x, env: 5}]\n",
        "jobs: [{name: a, schedule: '@daily', command: x, limits: [a]}]\n",
        "jobs: [{name: a, schedule: '@daily', command: x, limits: {memory: -1}}]\n",
        "jobs: [{name: a, schedule: '@daily', command: x, only: MON}]\n",
        "jobs: [{name: a, schedule: '@daily', command: []}]\n"}) {
    const LoadedJobs jobs = load(text);
    EXPECT_TRUE(jobs.has_errors()) << text;
    EXPECT_TRUE(jobs.definitions.empty()) << text;
  }
  EXPECT_TRUE(load("").problems.empty());
}

TEST(JobDocument, ManifestsOfKubernetesAreCalledWhatTheyAre) {
  const LoadedJobs kron_job = load("apiVersion: kron.io/v1alpha1\nkind: KronJob\nmetadata: {name: a}\n");
  ASSERT_EQ(kron_job.problems.size(), 1U);
  EXPECT_EQ(kron_job.problems[0].at, (Position{2, 7}));
  EXPECT_NE(kron_job.problems[0].message.find("operator for Kubernetes runs it, krond cannot"), std::string::npos);
  const LoadedJobs cron_job = load("apiVersion: batch/v1\nkind: CronJob\n---\nkind: Pod\n");
  ASSERT_EQ(cron_job.problems.size(), 2U);
  EXPECT_NE(cron_job.problems[0].cure.find("kron import cronjob"), std::string::npos);
  EXPECT_EQ(cron_job.problems[1].message, "the file has no list of jobs");
}

TEST(JobDocument, AnUnknownZoneOffersTheNearest) {
  for (const char* zone : {"europe/paris", "Europe/Pariss", "Paris"}) {
    const LoadedJobs jobs =
        load("jobs: [{name: a, schedule: '@daily', command: x, timezone: " + std::string(zone) + "}]\n");
    ASSERT_EQ(jobs.problems.size(), 1U) << zone;
    EXPECT_EQ(jobs.problems[0].cure, "did you mean Europe/Paris?");
  }
}

TEST(JobDocument, MessagesDoNotRepeatWhatMayBeAPassword) {
  for (const char* keys : {"env: [hunter2]", "env: {A: [hunter2]}", "env: {A: {b: hunter2}}", "env: hunter2",
                           "stdin: [hunter2]", "stdin: {a: hunter2}", "env: {A: *hunter2}", "env: {A: 'hunter2}",
                           "env: {A: hunter2: x}", "stdin: \"hunter2", "ping: hunter2", "ping: [hunter2]",
                           "ping: {a: hunter2}", "ping: 'https://x/hunter2?'", "ping: http://x/hunter2"}) {
    const LoadedJobs jobs = load("jobs:\n - {name: a, schedule: '@daily', command: x, " + std::string(keys) + "}\n");
    ASSERT_FALSE(jobs.problems.empty()) << keys;
    for (const Problem& problem : jobs.problems) {
      EXPECT_EQ((problem.field + problem.message + problem.cure).find("hunter2"), std::string::npos) << problem.message;
    }
  }
}

TEST(JobDocument, CommandsMayBeLists) {
  const LoadedJobs jobs = load("jobs: [{name: a, schedule: '@daily', command: [/bin/echo, 'a b', \"it's\", 5]}]\n");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(command_of(jobs.definitions[0]), R"(/bin/echo 'a b' 'it'\''s' 5)");
}

TEST(RequestedDefinition, TakesAnyIdentityAndNeedsNoAction) {
  Report report("", "");
  const auto nodes =
      parse_yaml(R"({"name": "Prod DB", "schedule": "0 0 * * *", "window": {"duration": "3h"}})", report);
  const auto definition = read_requested_definition(nodes.at(0), zones());
  ASSERT_TRUE(definition) << definition.error().message;
  EXPECT_EQ(definition->job.identity, "Prod DB");
  const auto bad = parse_yaml(R"({"name": "x", "schedule": "0 0 * * *", "window": {"duration": "soon"}})", report);
  const auto refused = read_requested_definition(bad.at(0), zones());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "window.duration");
}

TEST(JobDefinition, TheFormThatCronArgsAloneCanSayIsNotPrinted) {
  const LoadedJobs jobs = load_text(
      "f.json", R"({"a": {"cron_args": {"week": 5, "hour": 1}, "job_args": {"cmd": "x", "lock": true, "ttl": 1}}})",
      Spelling::cronken, zones());
  ASSERT_EQ(jobs.definitions.size(), 1U);
  const auto node = node_of(jobs.definitions[0]);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().field, "schedule");
}

}  // namespace
}  // namespace kron::jobs::model_test
