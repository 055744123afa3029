// A KronJob from its creation to its end, on the model API server.
#include "kron/operator/fake/situation.h"

namespace kron::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KronJobLife : public Situation {};

TEST_F(KronJobLife, AnEditKeepsWhatIsHandledAndStartsNothingThatLayInThePast) {
  spec.schedule = "0 * * * *";
  spec.deadline = "1h";
  first_run();
  finish("12:00");
  spec.schedule = "5,40 * * * *";
  edit();
  EXPECT_THAT(work_at("12:20:00"), ElementsAre("create 201", "put 200"));
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_EQ(next(), "12:40:00");
  EXPECT_THAT(work_at("12:21:00"), IsEmpty());
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobLife, AnEditToASpecThatCannotBeScheduledIsSaidAndTheRestGoesOn) {
  first_run();
  spec.schedule = "61 * * * *";
  edit();
  EXPECT_THAT(work_at("12:00:30"), ElementsAre("put 200"));
  EXPECT_EQ(condition("Ready"), "not Ready: InvalidSpec");
  EXPECT_THAT(status().find("InvalidSpec")->message, ::testing::HasSubstr("spec.schedule"));
  finish("12:00");
  EXPECT_THAT(work_at("12:05:00"), ElementsAre("put 200"));
  EXPECT_EQ(status().active_count, 0);
  spec.schedule = "* * * * *";
  edit();
  work_at("12:05:40");
  EXPECT_EQ(condition("InvalidSpec"), "not InvalidSpec: Valid");
  EXPECT_EQ(next(), "12:06:00");
}

TEST_F(KronJobLife, ATemplateThatTheServerRefusesIsSaidAtOnce) {
  world.server.options.refuse_creates_with = 422;
  create();
  EXPECT_THAT(work(), ElementsAre("create 422", "put 200"));
  EXPECT_EQ(condition("InvalidSpec"), "InvalidSpec: TemplateRefused");
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 422", "put 200"));
  EXPECT_EQ(last(), "12:00 skipped, start failed");
  change_leader();
  EXPECT_THAT(work(), IsEmpty());
  EXPECT_EQ(condition("InvalidSpec"), "InvalidSpec: TemplateRefused");
}

TEST_F(KronJobLife, HistoryIsKeptWithinItsLimits) {
  spec.successful = 1;
  spec.failed = 0;
  first_run();
  finish("12:00");
  work_at("12:00:30");
  EXPECT_TRUE(job("12:00"));
  work_at("12:01:00");
  finish("12:01");
  EXPECT_THAT(work_at("12:01:30"), ElementsAre("put 200", "delete 200"));
  EXPECT_FALSE(job("12:00"));
  EXPECT_TRUE(job("12:01"));
  work_at("12:02:00");
  set_clock("12:02:30");
  finish("12:02", false);
  work();
  EXPECT_FALSE(job("12:02"));
  EXPECT_EQ(status().last_failure, at("2026-03-01T12:02:30Z"));
  EXPECT_EQ(starts(), 3U);
}

TEST_F(KronJobLife, WhatAKronJobThatIsDeletedHadAtTheGateIsRemoved) {
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  world.server.remove("kronjobs", kNamespace, kName, kube::ApiServer::Deletion::foreground);
  EXPECT_THAT(work(), ElementsAre("delete 200"));
  EXPECT_TRUE(has_notice("NotOpened"));
  EXPECT_EQ(starts(), 0U);
}

TEST_F(KronJobLife, WhatAnOrphaningDeletionLeavesAtTheGateIsRemoved) {
  create();
  work();
  set_clock("12:00:00");
  step();
  world.server.remove("kronjobs", kNamespace, kName, kube::ApiServer::Deletion::orphan);
  EXPECT_THAT(work(), ElementsAre("delete 200"));
}

TEST_F(KronJobLife, AKronJobThatIsMadeAnewDoesNotRepeatAPeriod) {
  spec.schedule = "0 * * * *";
  spec.window = "1h";
  create();
  work();
  const Instant first = *status().next->chosen;
  world.server.now = first;
  work();
  EXPECT_EQ(starts(), 1U);
  world.server.remove("kronjobs", kNamespace, kName, kube::ApiServer::Deletion::background);
  work();
  world.server.collect_garbage();
  // Another salt chooses a later second of the same hour.
  const Instant noon = at("2026-03-01T12:00:00Z");
  Instant second = first;
  for (int i = 0; second < first + Seconds(60); ++i) {
    spec.salt = std::to_string(i);
    const Node made = kube::ApiServer(world.server).create("kronjobs", spec.object()).body;
    second = *decide(*kronjobs::view_kron_job(made, zones())->job, noon).chosen;
  }
  world.server.now = first + Seconds(30);
  world.server.create("kronjobs", spec.object());
  work();
  EXPECT_EQ(status().handled->last_handled, noon) << "remembered, and durable by the first write";
  world.server.now = second;
  work();
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobLife, OnlyPeriodsAfterItsCreationCount) {
  spec.deadline = "1h";
  set_clock("12:00:00");
  create();
  EXPECT_THAT(work_at("12:00:30"), ElementsAre("create 201", "put 200"));
  EXPECT_EQ(next(), "12:01:00");
  EXPECT_EQ(starts(), 0U);
}

TEST_F(KronJobLife, AClockThatGoesBackRepeatsNothing) {
  first_run();
  finish("12:00");
  work_at("12:00:30");
  EXPECT_THAT(work_at("11:59:50"), ::testing::Each("put 200"));
  work_at("12:00:00");
  EXPECT_EQ(starts(), 1U);
  work_at("12:01:00");
  EXPECT_EQ(starts(), 2U);
}

TEST_F(KronJobLife, AStatusThatWasLostIsMadeUpFromTheJobs) {
  first_run();
  finish("12:00");
  work_at("12:00:20");
  world.server.edit("kronjobs", kNamespace, kName,
                    [](const Node& object) { return kube::without(object, {"status"}); });
  work_at("12:00:40");
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_EQ(status().last->seed_hash, hex(decide(*kron_job().job, at("2026-03-01T12:00:00Z")).seed_hash));
  EXPECT_EQ(status().handled->last_handled, at("2026-03-01T12:00:00Z"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobLife, AStatusThatCannotBeReadStopsEverything) {
  create();
  work();
  world.server.edit("kronjobs", kNamespace, kName, [](const Node& object) {
    return kube::with_text(object, {"status", "handled", "through"}, "yesterday");
  });
  EXPECT_THAT(work_at("12:00:00"), IsEmpty());
}

TEST_F(KronJobLife, ANewKronJobIsTriedAndItsStatusWrittenOnce) {
  create();
  EXPECT_THAT(work(), ElementsAre("create 201", "put 200"));
  EXPECT_THAT(world.server.list("jobs"), IsEmpty()) << "a trial creates nothing";
  EXPECT_EQ(status().observed_generation, 1);
  EXPECT_EQ(next(), "12:00:00");
  EXPECT_EQ(condition("Ready"), "Ready: Scheduled");
  EXPECT_EQ(condition("Suspended"), "not Suspended: Active");
  EXPECT_THAT(work(), IsEmpty());
}

}  // namespace
}  // namespace kron::testing
