#include "kron/jobs/import_cronjob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/jobs/yaml.h"

namespace kron::jobs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Imported {
  std::vector<Node> kron_jobs;
  std::vector<Problem> problems;
};

Imported import(const std::string& text) {
  ZoneDatabase zones;
  Report report("cronjob.yaml", text);
  std::vector<Node> kron_jobs = import_cronjobs(text, zones, report);
  return {std::move(kron_jobs), report.take()};
}

// A CronJob whose spec has these lines beside a template.
std::string cron_job(const std::string& spec) {
  return "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  jobTemplate: {spec: {}}\n" + spec;
}

std::string policy_for(const std::string& spec) {
  const Imported imported = import(cron_job("  schedule: \"0 0 * * *\"\n" + spec));
  if (imported.kron_jobs.empty()) return "";
  return yaml_text(*imported.kron_jobs.front().find("spec")->find("policy"));
}

TEST(ImportCronjob, PolicySaysWhatKubernetesAssumes) {
  EXPECT_EQ(policy_for(""), "concurrency: allow\ndeadline: 52w\n");
  EXPECT_EQ(policy_for("  concurrencyPolicy: Replace\n  startingDeadlineSeconds: 0\n"),
            "concurrency: replace\ndeadline: 0s\n");
  EXPECT_EQ(policy_for("  suspend: true\n  startingDeadlineSeconds: 90\n"),
            "concurrency: allow\ndeadline: 1m30s\nsuspend: true\n");
  EXPECT_EQ(policy_for("  startingDeadlineSeconds: -1\n"), "");
}

TEST(ImportCronjob, AZoneBeforeTheFieldsBecomesTheZone) {
  const Imported imported = import(cron_job("  schedule: \"CRON_TZ=Asia/Tokyo 0 6 * * 1\"\n"));
  ASSERT_EQ(imported.kron_jobs.size(), 1U);
  const Node& spec = *imported.kron_jobs.front().find("spec");
  EXPECT_EQ(*spec.find("schedule")->as<std::string>(), "0 6 * * 1");
  EXPECT_EQ(*spec.find("timezone")->as<std::string>(), "Asia/Tokyo");
}

TEST(ImportCronjob, NotesWhereTheDayRulesDiffer) {
  struct Case {
    std::string schedule;
    bool differs;
  };
  for (const auto& [schedule, differs] : std::vector<Case>{{"0 0 */2 * 1", true},
                                                           {"0 0 1 * */2", true},
                                                           {"0 0 */2 * *", false},
                                                           {"0 0 1 * 1", false},
                                                           {"@daily", false}}) {
    const Imported imported = import(cron_job("  timeZone: UTC\n  schedule: \"" + schedule + "\"\n"));
    const bool noted = std::ranges::any_of(imported.problems, [](const Problem& problem) {
      return problem.message.find("match both") != std::string::npos;
    });
    EXPECT_EQ(noted, differs) << schedule;
    EXPECT_EQ(imported.kron_jobs.size(), 1U) << schedule;
  }
}

// The note that says `about`, of a CronJob with this schedule.
std::string note_of(const std::string& schedule, const std::string& zone, std::string_view about) {
  const std::string text = cron_job("  timeZone: " + zone + "\n  schedule: \"" + schedule + "\"\n");
  ZoneDatabase zones;
  Report report("cronjob.yaml", text);
  import_cronjobs(text, zones, report, instant_of(1'800'000'000));
  for (const Problem& problem : report.problems()) {
    if (problem.message.find(about) != std::string::npos) return problem.message;
  }
  return "nothing";
}

TEST(ImportCronjob, NotesAGapOnlyWhereOneSwallowsATime) {
  const auto noted = [](const std::string& schedule, const std::string& zone) {
    return note_of(schedule, zone, "a CronJob leaves that run out");
  };
  EXPECT_THAT(noted("30 2 * * *", "Europe/Paris"), HasSubstr("skips 2027-03-28 02:30"));
  EXPECT_EQ(noted("15 3 * * 1-5", "America/New_York"), "nothing");
  EXPECT_EQ(noted("30 2 * * 1-5", "America/New_York"), "nothing") << "clocks change on Sundays";
  EXPECT_EQ(noted("*/30 2 * * *", "Europe/Paris"), "nothing") << "left out by both";
  EXPECT_EQ(noted("30 2 * * *", "UTC"), "nothing");
}

TEST(ImportCronjob, NotesATimeThatComesTwiceOnlyWhereItIsRunOnce) {
  const auto noted = [](const std::string& schedule, const std::string& zone) {
    return note_of(schedule, zone, "a CronJob runs both times");
  };
  EXPECT_THAT(noted("30 2 * * *", "Europe/Paris"), HasSubstr("shows 2027-10-31 02:30 twice"));
  EXPECT_EQ(noted("30 3 * * *", "Europe/Paris"), "nothing");
  EXPECT_EQ(noted("30 * * * *", "Europe/Paris"), "nothing") << "both run each hour";
  EXPECT_EQ(noted("30 2 * * *", "UTC"), "nothing");
}

std::vector<std::string> notes_of(const std::string& spec) {
  std::vector<std::string> messages;
  for (const Problem& problem : import(cron_job("  timeZone: UTC\n  schedule: \"0 0 * * *\"\n" + spec)).problems) {
    if (problem.severity == Severity::note) messages.push_back(problem.field + ": " + problem.message);
  }
  return messages;
}

TEST(ImportCronjob, NotesWhatADeadlineDoesNotOutlive) {
  EXPECT_THAT(
      notes_of("  startingDeadlineSeconds: 29\n"),
      ElementsAre("startingDeadlineSeconds: a deadline under 30s can miss a period when the leader of the operator "
                  "dies"));
  EXPECT_THAT(notes_of("  startingDeadlineSeconds: 30\n"), IsEmpty());
}

TEST(ImportCronjob, AHistoryThatIsTooLongIsCutAndNoted) {
  const std::string spec =
      "  startingDeadlineSeconds: 60\n  successfulJobsHistoryLimit: 5000\n  failedJobsHistoryLimit: 1000\n";
  EXPECT_THAT(notes_of(spec), ElementsAre(HasSubstr("a KronJob keeps at most 1000 Jobs")));
  const Imported imported = import(cron_job("  schedule: \"0 0 * * *\"\n" + spec));
  EXPECT_EQ(*imported.kron_jobs.front().find("spec")->find("successfulJobsHistoryLimit")->as<std::int64_t>(), 1000);
}

TEST(ImportCronjob, NotesWhoElseStartsTheJobs) {
  const auto with_template = [](const std::string& job_template) {
    std::string text = cron_job("  timeZone: UTC\n  schedule: \"0 0 * * *\"\n  startingDeadlineSeconds: 60\n");
    text.replace(text.find("{spec: {}}"), 10, job_template);
    std::vector<std::string> fields;
    for (const Problem& problem : import(text).problems) fields.push_back(problem.field);
    return fields;
  };
  EXPECT_THAT(with_template("{spec: {suspend: true}}"), ElementsAre("jobTemplate.spec.suspend"));
  EXPECT_THAT(with_template("{spec: {managedBy: example.com/x}}"), ElementsAre("jobTemplate.spec.managedBy"));
  EXPECT_THAT(with_template("{spec: {suspend: false}}"), IsEmpty());
}

TEST(ImportCronjob, MistakesAreSaidOnceAndOfferTheNearest) {
  const Imported hour = import(cron_job("  timeZone: UTC\n  schedule: \"0 25 * * *\"\n"));
  EXPECT_THAT(hour.problems.front().message, HasSubstr("schedule: hour: '25'"));
  const Imported zone = import(cron_job("  timeZone: europe/paris\n  schedule: \"0 1 * * *\"\n"));
  EXPECT_EQ(zone.problems.front().cure, "did you mean Europe/Paris?");
}

TEST(ImportCronjob, MistakesNameTheirPlace) {
  const Imported imported = import(cron_job("  timeZone: UTC\n  schedule: \"0 99 * * *\"\n"));
  EXPECT_TRUE(imported.kron_jobs.empty());
  ASSERT_FALSE(imported.problems.empty());
  EXPECT_EQ(imported.problems.front().at.line, 7U);
  EXPECT_THAT(imported.problems.front().message, HasSubstr("hour"));
}

TEST(ImportCronjob, WhateverIsReadIsAnswered) {
  for (const char* text : {"", "[]", "- 1", "kind: CronJob", "kind: [", "kind: 3",
                           "kind: CronJob\nmetadata: x\nspec: y", "kind: List\nitems: [1, null, {}]",
                           "apiVersion: batch/v1\nkind: CronJob\nmetadata: []\nspec: {schedule: 5, jobTemplate: x}"}) {
    const Imported imported = import(text);
    EXPECT_TRUE(imported.kron_jobs.empty()) << text;
    EXPECT_FALSE(imported.problems.empty()) << text;
  }
}

}  // namespace
}  // namespace kron::jobs
