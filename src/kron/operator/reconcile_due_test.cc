// What becomes of a period that is due, and what it costs, on the model API server.
#include "kron/operator/fake/situation.h"

namespace kron::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KronJobPeriod : public Situation {};

TEST_F(KronJobPeriod, ADuePeriodIsCreatedRecordedAndOpened) {
  EXPECT_THAT(first_run(), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_EQ(next(), "12:01:00");
  EXPECT_EQ(starts(), 1U);
  EXPECT_FALSE(job("12:00")->gate);
  EXPECT_EQ(status().active_count, 1);
  EXPECT_EQ(status().starting.size(), 1U) << "dropping it is no reason to write";
  EXPECT_TRUE(has_notice("Executed"));
  set_clock("12:00:20");
  finish("12:00");
  EXPECT_THAT(work(), ElementsAre("put 200"));
  EXPECT_EQ(status().active_count, 0);
  EXPECT_THAT(status().starting, IsEmpty());
  EXPECT_EQ(status().last_successful, at("2026-03-01T12:00:20Z"));
  EXPECT_THAT(work(), IsEmpty());
}

TEST_F(KronJobPeriod, ForbidSkipsWhileARunIsActive) {
  first_run();
  EXPECT_THAT(work_at("12:01:00"), ElementsAre("put 200"));
  EXPECT_EQ(last(), "12:01 skipped, concurrency_forbid");
}

TEST_F(KronJobPeriod, AllowStartsBesideWhatIsActive) {
  spec.concurrency = "allow";
  first_run();
  EXPECT_THAT(work_at("12:01:00"), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(status().active_count, 2);
}

TEST_F(KronJobPeriod, ReplaceWaitsInTheStatusUntilTheOtherIsGone) {
  spec.concurrency = "replace";
  spec.deadline = "0s";
  first_run();
  EXPECT_THAT(work_at("12:01:00"), ElementsAre("put 200", "delete 200"));
  EXPECT_EQ(status().waiting->period, at("2026-03-01T12:01:00Z"));
  EXPECT_TRUE(job("12:00")->meta.deleting);
  change_leader();
  EXPECT_THAT(work_at("12:01:20"), IsEmpty());
  world.server.collect_garbage();
  EXPECT_THAT(work_at("12:01:25"), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(last(), "12:01 executed") << "it was judged when it was due";
  EXPECT_FALSE(status().waiting);
}

TEST_F(KronJobPeriod, ALaterPeriodTakesThePlaceOfOneThatWaits) {
  spec.concurrency = "replace";
  first_run();
  work_at("12:01:00");
  EXPECT_THAT(work_at("12:02:00"), ElementsAre("put 200", "put 200"));
  EXPECT_EQ(last(), "12:01 skipped, replaced before start");
  EXPECT_EQ(status().waiting->period, at("2026-03-01T12:02:00Z"));
}

TEST_F(KronJobPeriod, AReplacementGivesUpOnARunThatDoesNotEnd) {
  spec.concurrency = "replace";
  spec.schedule = "*/5 * * * *";
  first_run();
  work_at("12:05:00");
  EXPECT_THAT(work_at("12:06:29"), IsEmpty());
  EXPECT_THAT(work_at("12:06:30"), ElementsAre("put 200")) << "30 s of grace and 60 s";
  EXPECT_EQ(last(), "12:05 skipped, could not stop");
}

TEST_F(KronJobPeriod, APeriodThatIsTooLateIsMissedAndTheOthersPassedOver) {
  first_run();
  finish("12:00");
  EXPECT_THAT(work_at("12:05:45"), ElementsAre("put 200"));
  EXPECT_EQ(last(), "12:05 missed, deadline");
  EXPECT_EQ(status().handled->passed_over,
            (std::vector<Span>{{at("2026-03-01T12:01:00Z"), at("2026-03-01T12:04:00Z")}}));
  EXPECT_TRUE(has_notice("PassedOver"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobPeriod, NothingIsJudgedWhileSuspended) {
  first_run();
  finish("12:00");
  spec.suspend = true;
  edit();
  EXPECT_THAT(work_at("12:00:30"), ElementsAre("create 201", "put 200"));
  EXPECT_EQ(condition("Suspended"), "Suspended: Suspended");
  EXPECT_EQ(condition("Ready"), "Ready: Suspended");
  EXPECT_EQ(next(), "");
  EXPECT_THAT(work_at("12:03:00"), IsEmpty());
  EXPECT_EQ(last(), "12:00 executed");
  spec.suspend = false;
  edit();
  EXPECT_THAT(work_at("12:05:10"), ElementsAre("create 201", "put 200", "create 201", "put 200", "patch 200"));
  EXPECT_EQ(last(), "12:05 executed") << "of those that were late, the latest, within its deadline";
}

TEST_F(KronJobPeriod, WhatMayPassIsTriedUntilTheDeadlineAndSaid) {
  create();
  work();
  world.server.options.refuse_creates_with = 403;
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 403"));
  EXPECT_THAT(work_at("12:00:06"), ElementsAre("put 200", "create 403"));
  EXPECT_EQ(condition("SchedulingError"), "SchedulingError: CannotStart");
  EXPECT_THAT(work_at("12:00:30"), ElementsAre("create 403"));
  EXPECT_THAT(work_at("12:00:41"), ElementsAre("put 200"));
  EXPECT_EQ(last(), "12:00 missed, deadline");
}

TEST_F(KronJobPeriod, ANamespaceThatIsBeingTerminatedGetsNoRecord) {
  create();
  work();
  world.server.options.namespace_terminating = true;
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 403"));
  EXPECT_THAT(work_at("12:00:06"), ElementsAre("create 403"));
  EXPECT_EQ(last(), "");
}

TEST_F(KronJobPeriod, APeriodWithoutATimeIsUnschedulable) {
  spec.job_template = R"({"spec":{"template":{}}})";
  create();
  world.server.edit("kronjobs", kNamespace, kName, [&](const Node& object) {
    return kube::with(object, {"spec", "constraints", "avoid", "hours"}, parse_json(R"(["12"])").value());
  });
  work();
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("put 200"));
  EXPECT_EQ(last(), "12:00 unschedulable, excluded");
  EXPECT_EQ(condition("Unschedulable"), "Unschedulable: NoTime");
}

TEST_F(KronJobPeriod, AJobThatSomebodyDeletesStaysExecuted) {
  first_run();
  remove_job("12:00");
  work_at("12:00:30");
  EXPECT_EQ(status().active_count, 0);
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobPeriod, AnExecutedPeriodCostsAtMostSixCalls) {
  spec.concurrency = "allow";
  create();
  work();
  const std::size_t before = world.witness.calls();
  constexpr std::size_t kPeriods = 30;
  for (std::size_t i = 0; i < kPeriods; ++i) {
    world.server.now = at("2026-03-01T12:00:00Z") + Seconds(60 * i);
    work();
    world.server.now += Seconds(20);
    world.server.finish(kNamespace, kronjobs::job_name(kNamespace, kName, world.server.now - Seconds(20)), true);
    work();
    world.server.now += Seconds(20);
    EXPECT_THAT(work(), IsEmpty());
  }
  EXPECT_EQ(world.witness.executed(), kPeriods);
  EXPECT_EQ(starts(), kPeriods);
  // One of the six is for the event that tells of it.
  EXPECT_LE(world.witness.calls() - before, kPeriods * 5);
}

TEST_F(KronJobPeriod, AnyOtherOutcomeCostsOneCall) {
  first_run();
  const std::size_t before = world.witness.calls();
  for (int i = 1; i <= 10; ++i) {
    world.server.now = at("2026-03-01T12:00:00Z") + Seconds(60 * i);
    work();
  }
  EXPECT_EQ(last(), "12:10 skipped, concurrency_forbid");
  EXPECT_EQ(world.witness.calls() - before, 10U);
}

}  // namespace
}  // namespace kron::testing
