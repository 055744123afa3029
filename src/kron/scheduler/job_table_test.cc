#include "kron/scheduler/job_table.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

#include "kron/testing/scale.h"

namespace kron {
namespace {

jobs::JobDefinition some_job(const std::string& identity, const std::string& schedule = "0 0 * * *") {
  jobs::JobDefinition definition;
  definition.job.identity = identity;
  definition.job.schedule = *parse_schedule(schedule, identity);
  definition.job.salt = "pepper";
  definition.action = jobs::Command{"/bin/" + identity};
  definition.line = 7;
  return definition;
}

KnownJob known_since(std::int64_t seconds) {
  KnownJob known;
  known.periods.first_seen = instant_of(seconds);
  return known;
}

KnownJob known_in_full() {
  KnownJob known = known_since(1);
  known.periods.last_handled = instant_of(2);
  known.periods.open_periods = {instant_of(1)};
  known.periods.passed_over = {{instant_of(0), instant_of(0)}};
  known.periods.first_seen_is_floor = true;
  known.periods.suspended = Suspension{instant_of(3), instant_of(4)};
  ActiveExecution& run = known.active.emplace_back();
  run.started_at = instant_of(2);
  run.run_id = "r";
  known.last_boot_id = "b";
  return known;
}

TEST(JobTable, GivesBackWhatItPacked) {
  JobTable table;
  const KnownJob full = known_in_full();
  std::vector<KnownJob> knowledge{KnownJob(), known_since(5), full};
  for (const bool rests : {false, true}) {
    for (std::size_t part = 0; part < 9; ++part) {
      KnownJob known = known_since(9);
      if (part == 0) known.periods.open_periods = full.periods.open_periods;
      if (part == 1) known.periods.passed_over = full.periods.passed_over;
      if (part == 2) known.periods.first_seen_is_floor = true;
      if (part == 3) known.periods.suspended = full.periods.suspended;
      if (part == 4) known.active = full.active;
      if (part == 5) known.last_boot_id = full.last_boot_id;
      if (part == 6) known.periods.first_seen_reach = Seconds(7);
      if (part == 8) known.periods.failures_in_a_row = 2;
      if (part == 7) known.periods.schedule = ScheduleSeen{17, instant_of(3)};
      knowledge.push_back(known);
    }
    for (const KnownJob& known : knowledge) {
      const JobTable::Number job = table.add(some_job("a"), KnownJob());
      table.wake(job).known = known;
      if (rests) table.let_rest();
      EXPECT_EQ(table.known(job), known);
      EXPECT_EQ(table.first_seen(job), known.periods.first_seen);
      EXPECT_EQ(table.has_runs(job), !known.active.empty());
      EXPECT_EQ(table.has_open_or_passed_over(job),
                !known.periods.open_periods.empty() || !known.periods.passed_over.empty());
      const JobTable::Entry& awake = table.wake(job);
      EXPECT_EQ(awake.known, known);
      EXPECT_EQ(awake.definition, some_job("a"));
      EXPECT_EQ(awake.definition.line, 7U);
      EXPECT_EQ(table.definition(job), some_job("a"));
      table.remove(job);
      table.erase(job);
    }
  }
}

TEST(JobTable, JobsThatShareTheirScheduleKeepTheirOwnNames) {
  JobTable table;
  const auto a = table.add(some_job("a"), known_since(1));
  const auto b = table.add(some_job("b"), known_since(2));
  EXPECT_EQ(&table.schedule(a), &table.schedule(b));
  EXPECT_EQ(table.definition(a).job.identity, "a");
  EXPECT_EQ(table.definition(b).job.identity, "b");
  EXPECT_EQ(command_of(table.wake(b).definition), "/bin/b");
}

TEST(JobTable, WhatIsReplacedIsSeenByTheOneAwake) {
  JobTable table;
  const auto job = table.add(some_job("a"), known_since(1));
  JobTable::Entry& entry = table.wake(job);
  table.replace(job, some_job("a", "5 5 * * *"));
  table.tidy();
  EXPECT_EQ(entry.definition, some_job("a", "5 5 * * *"));
  EXPECT_EQ(table.schedule(job), *parse_schedule("5 5 * * *"));
  EXPECT_EQ(entry.known, known_since(1));
}

TEST(JobTable, ARemovedJobIsFoundUntilItIsErased) {
  JobTable table;
  const auto job = table.add(some_job("a"), known_in_full());
  table.remove(job);
  EXPECT_EQ(table.wanted(), 0U);
  EXPECT_EQ(table.find("a"), job);
  EXPECT_TRUE(table.is_removed(job));
  table.replace(job, some_job("a"));
  EXPECT_EQ(table.wanted(), 1U);
  EXPECT_TRUE(table.is_wanted(job));
  table.remove(job);
  table.erase(job);
  EXPECT_EQ(table.find("a"), std::nullopt);
  EXPECT_FALSE(table.is_wanted(job));
  EXPECT_FALSE(table.is_removed(job));
}

TEST(JobTable, AJobWithARunWaitingDoesNotRest) {
  JobTable table;
  const auto job = table.add(some_job("a"), known_since(1));
  JobTable::Entry& entry = table.wake(job);
  entry.waiting = std::make_unique<WaitingRun>();
  table.let_rest();
  EXPECT_EQ(&table.wake(job), &entry);
  table.take_waiting(job);
  table.let_rest();
  EXPECT_EQ(table.wake(job).waiting, nullptr);
  EXPECT_EQ(table.known(job), known_since(1));
}

TEST(JobTable, RestIsDueOnceManyAreAwakeAndNotForThoseThatWait) {
  JobTable table;
  std::vector<JobTable::Number> jobs;
  for (int i = 0; i < 1000; ++i) jobs.push_back(table.add(some_job("j" + std::to_string(i)), known_since(i)));
  std::size_t rests = 0;
  for (const auto job : jobs) {
    table.wake(job).waiting = std::make_unique<WaitingRun>();
    if (!table.is_restless()) continue;
    table.let_rest();
    ++rests;
  }
  for (const auto job : jobs) EXPECT_NE(table.wake(job).waiting, nullptr);
  EXPECT_FALSE(table.is_restless()) << "who waits is not looked at when others rest";
  EXPECT_GT(rests, 1U);
  EXPECT_LT(rests, 20U);
}

TEST(JobTable, HoldsWhatAMapHolds) {
  std::mt19937 random(3);
  JobTable table;
  std::map<std::string, std::pair<jobs::JobDefinition, KnownJob>> model;
  for (int i = 0; i < testing::scaled(3000); ++i) {
    const std::string identity = "job-" + std::to_string(random() % 40);
    const jobs::JobDefinition definition = some_job(identity, std::to_string(random() % 5) + " 0 * * *");
    const KnownJob known = random() % 3 == 0 ? known_in_full() : known_since(static_cast<std::int64_t>(random() % 99));
    const auto job = table.find(identity);
    ASSERT_EQ(job.has_value(), model.contains(identity));
    if (!job) {
      table.add(jobs::JobDefinition(definition), KnownJob(known));
      model[identity] = {definition, known};
    } else if (random() % 3 == 0) {
      table.remove(*job);
      table.erase(*job);
      model.erase(identity);
    } else {
      table.replace(*job, definition);
      table.wake(*job).known = known;
      model[identity] = {definition, known};
    }
    if (random() % 5 == 0) table.let_rest();
    if (random() % 50 == 0) table.tidy();
    ASSERT_EQ(table.wanted(), model.size());
    for (const auto& [name, said] : model) {
      const auto number = table.find(name);
      ASSERT_TRUE(number);
      ASSERT_EQ(table.identity(*number), name);
      ASSERT_EQ(table.definition(*number), said.first);
      ASSERT_EQ(table.known(*number), said.second);
    }
  }
}

}  // namespace
}  // namespace kron
