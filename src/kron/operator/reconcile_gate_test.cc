// First the record, then the run: what may happen between them, on the model API server.
#include "kron/operator/fake/situation.h"

namespace kron::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KronJobGate : public Situation {};

TEST_F(KronJobGate, NothingHasRunBeforeTheRecord) {
  create();
  work();
  set_clock("12:00:00");
  EXPECT_THAT(step(), ElementsAre("create 201"));
  EXPECT_TRUE(job("12:00")->is_at_gate());
  EXPECT_EQ(starts(), 0U);
  EXPECT_THAT(step(), ElementsAre("put 200"));
  EXPECT_EQ(starts(), 0U);
  EXPECT_EQ(status().starting.front().job_uid, job("12:00")->meta.uid);
  EXPECT_THAT(step(), ElementsAre("patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, WhoComesNextGoesOnAfterEachCallAndEachLostAnswer) {
  for (const Fate fate : {Fate::answered, Fate::answer_lost, Fate::floats, Fate::not_sent}) {
    for (int calls = 0; calls < 4; ++calls) {
      SCOPED_TRACE(std::to_string(calls) + " calls, fate " + std::to_string(static_cast<int>(fate)));
      world = World();
      leader.crash();
      set_clock("11:59:30");
      create();
      work();
      set_clock("12:00:00");
      for (int i = 0; i < calls; ++i) leader.step(i + 1 == calls ? fate : Fate::answered);
      set_clock("12:00:20");
      change_leader();
      work();
      while (!world.floating.empty()) world.land(0);
      work();
      EXPECT_EQ(last(), "12:00 executed");
      EXPECT_EQ(starts(), 1U);
      world.witness.look_at_end(world.server);
      EXPECT_THAT(world.witness.broken(), IsEmpty());
    }
  }
}

TEST_F(KronJobGate, AJobAtItsGateIsTakenOverByWhoeverFindsItsName) {
  create();
  work();
  set_clock("12:00:00");
  leader.step(Fate::answer_lost);
  EXPECT_THAT(step(), ElementsAre("create 409"));
  EXPECT_THAT(step(), ElementsAre("get 200"));
  EXPECT_THAT(work(), ElementsAre("put 200", "patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AJobAtItsGateOfAnotherGenerationIsMadeAnew) {
  create();
  work();
  set_clock("12:00:00");
  step();
  const std::string before = job("12:00")->meta.uid;
  spec.job_template = R"({"spec":{"template":{"spec":{"containers":[]}}}})";
  edit();
  EXPECT_THAT(work(), ElementsAre("create 201", "put 200", "delete 200", "create 201", "put 200", "patch 200"));
  EXPECT_NE(job("12:00")->meta.uid, before);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AJobAtItsGateOfAnotherKronJobOfTheNameIsMadeAnew) {
  create();
  work();
  set_clock("12:00:00");
  step();
  const std::string before = job("12:00")->meta.uid;
  set_clock("11:59:50");
  world.server.remove("kronjobs", kNamespace, kName, kube::ApiServer::Deletion::background);
  world.server.create("kronjobs", spec.object());
  change_leader();
  work();
  ASSERT_TRUE(job("12:00")) << "its garbage is not collected yet";
  EXPECT_THAT(work_at("12:00:05"), ElementsAre("delete 200", "create 201", "put 200", "patch 200"));
  EXPECT_NE(job("12:00")->meta.uid, before);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AJobOfAnEditThatWeHaveNotHeardOfIsLeftAlone) {
  create();
  work();
  spec.successful = 2;
  edit();
  set_clock("12:00:00");
  Leader other(world, "other");
  other.list("kronjobs");
  other.list("jobs");
  for (int i = 0; i < 4; ++i) other.step(Fate::answered);  // it tries, notes the edit, creates and records
  ASSERT_EQ(status().starting.size(), 1U);
  EXPECT_THAT(step(), ElementsAre("create 409"));
  EXPECT_THAT(step(), ElementsAre("get 200"));
  EXPECT_THAT(step(), ElementsAre("get 200")) << "the KronJob";
  EXPECT_THAT(work(), ElementsAre("patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AJobThatIsBeingDeletedIsWaitedForInTheSameTurn) {
  spec.deadline = "0s";
  create();
  work();
  set_clock("12:00:00");
  step();
  world.server.remove("jobs", kNamespace, job_of("12:00"), kube::ApiServer::Deletion::foreground);
  EXPECT_THAT(work(), IsEmpty());
  world.server.collect_garbage();
  EXPECT_THAT(work(), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(last(), "12:00 executed");
}

TEST_F(KronJobGate, AJobOfThePeriodThatIsNotAtItsGateHasRun) {
  create();
  work();
  Node ran = parse_json(R"({"metadata":{"namespace":"shop","name":")" + job_of("12:00") +
                        R"(","labels":{"kron.io/name":"report"},"annotations":{"kron.io/identity":"shop/report",)" +
                        R"("kron.io/period-id":"2026-03-01T12:00:00Z"}},"spec":{"template":{}}})")
                 .value();
  world.server.create("jobs", ran);
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("put 200"));
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_THAT(status().starting, IsEmpty());
}

TEST_F(KronJobGate, AnotherThingOfThatNameLeavesThePeriodOut) {
  create();
  work();
  world.server.create("jobs", parse_json(R"({"metadata":{"namespace":"shop","name":")" + job_of("12:00") +
                                         R"("},"spec":{"template":{}}})")
                                  .value());
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 409", "get 200", "put 200"));
  EXPECT_EQ(last(), "12:00 skipped, start failed");
  EXPECT_EQ(condition("SchedulingError"), "SchedulingError: CannotStart");
  EXPECT_EQ(condition("Ready"), "not Ready: SchedulingError");
  EXPECT_THAT(work_at("12:01:00"), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(condition("SchedulingError"), "not SchedulingError: Scheduling");
}

TEST_F(KronJobGate, NothingIsOpenedWhileSuspended) {
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  spec.suspend = true;
  edit();
  EXPECT_THAT(work_at("12:00:10"), ElementsAre("create 201", "put 200"));
  EXPECT_EQ(starts(), 0U);
  spec.suspend = false;
  edit();
  EXPECT_THAT(work_at("12:00:20"), ElementsAre("patch 200", "create 201", "put 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, WhatIsRecordedAndCouldNotBeOpenedInTimeIsRemovedAndSaid) {
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  spec.suspend = true;
  edit();
  work_at("12:01:30");
  EXPECT_TRUE(job("12:00")) << "30 s of deadline and 60 s";
  EXPECT_THAT(work_at("12:01:31"), ElementsAre("delete 200", "put 200"));
  EXPECT_TRUE(has_notice("NotOpened"));
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_EQ(starts(), 0U);
}

TEST_F(KronJobGate, WhatSomebodyElseHasOpenedIsNotRemovedHoweverLate) {
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  spec.suspend = true;
  edit();
  world.server.edit("jobs", kNamespace, job_of("12:00"), [](const Node& object) {
    return kube::with(object, {"spec", "suspend"}, Node(false));
  });
  const Calls calls = work_at("12:01:31");
  EXPECT_THAT(calls, ::testing::Contains("patch 200"));
  EXPECT_THAT(calls, ::testing::Not(::testing::Contains("delete 200")));
  ASSERT_TRUE(job("12:00"));
  EXPECT_FALSE(job("12:00")->gate);
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, WhatMayBeOpenedByNowIsLookedAtBeforeItIsRemoved) {
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  leader.crash();  // and does not know of any Job
  leader.list("kronjobs");
  set_clock("12:10:00");
  EXPECT_THAT(step(), ElementsAre("get 200"));
  EXPECT_THAT(step(), ElementsAre("delete 200"));
}

TEST_F(KronJobGate, NothingStartsWhileTheStatusCannotBeWritten) {
  create();
  work();
  world.server.options.refuse_status_with = 500;
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 201", "put 500"));
  EXPECT_THAT(work_at("12:00:20"), ElementsAre("put 500"));
  EXPECT_EQ(starts(), 0U);
  world.server.options.refuse_status_with = 0;
  EXPECT_THAT(work_at("12:00:25"), ElementsAre("put 200", "patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, APolicyThatRefusesToOpenIsSaidAndTriedAgain) {
  create();
  work();
  world.server.options.refuse_patches_with = 422;
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 201", "put 200", "patch 422", "get 200"));
  EXPECT_THAT(work_at("12:00:10"), ElementsAre("put 200", "patch 422", "get 200"));
  EXPECT_EQ(condition("SchedulingError"), "SchedulingError: CannotStart");
  world.server.options.refuse_patches_with = 0;
  EXPECT_THAT(work_at("12:00:20"), ElementsAre("patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AJobThatSomebodyDeletesAtItsGateIsSaid) {
  create();
  work();
  set_clock("12:00:00");
  step();
  step();
  remove_job("12:00");
  EXPECT_THAT(step(), ElementsAre("patch 404"));
  EXPECT_TRUE(has_notice("NotOpened"));
  work();
  EXPECT_EQ(starts(), 0U);
}

TEST_F(KronJobGate, AJobThatSomebodyDeletesBeforeItsRecordIsMadeAnew) {
  create();
  work();
  set_clock("12:00:00");
  step();
  remove_job("12:00");
  EXPECT_THAT(work(), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AJobWhoseLabelWasTakenOffStillLocksItsPeriod) {
  create();
  work();
  set_clock("12:00:00");
  step();
  world.server.edit("jobs", kNamespace, job_of("12:00"), [](const Node& object) {
    return kube::without(object, {"metadata", "labels", "kron.io/name"});
  });
  EXPECT_THAT(work(), ElementsAre("create 409", "get 200", "put 200", "patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, AConflictOnTheRecordIsReadAndJudgedAgain) {
  create();
  work();
  set_clock("12:00:00");
  step();
  run_now("other");  // changes the version
  spec.suspend = true;
  edit();
  EXPECT_THAT(step(), ElementsAre("put 409"));
  EXPECT_THAT(step(), ElementsAre("get 200"));
  work();
  EXPECT_EQ(last(), "") << "suspended by now: not judged";
}

TEST_F(KronJobGate, ARecordWhoseAnswerIsLostIsRead) {
  create();
  work();
  set_clock("12:00:00");
  step();
  EXPECT_THAT(step(Fate::answer_lost), ElementsAre("put 200"));
  EXPECT_THAT(work(), ElementsAre("get 200", "patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobGate, ALateOpenDoesNotUnpauseAJob) {
  first_run();
  world.server.edit("jobs", kNamespace, job_of("12:00"), [](const Node& object) {
    return kube::with(object, {"spec", "suspend"}, Node(true));
  });
  EXPECT_THAT(
      world.server
          .handle(kronjobs::request_of(kronjobs::Open{job_of("12:00"), job("12:00")->meta.uid}, kron_job().meta))
          .code,
      422);
  change_leader();
  EXPECT_THAT(work(), IsEmpty());
  EXPECT_TRUE(job("12:00")->suspended);
}

TEST_F(KronJobGate, SuspendedByAnotherAJobIsRecordedAndLeftToThem) {
  world.server.options.forces_suspend = true;
  create();
  work();
  EXPECT_EQ(condition("Ready"), "Ready: ForeignGate");
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 201", "put 200"));
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_FALSE(job("12:00")->gate);
  EXPECT_THAT(status().starting, IsEmpty());
}

TEST_F(KronJobGate, ATemplateThatSuspendsIsAnothersGate) {
  spec.job_template = R"({"spec":{"suspend":true,"template":{}}})";
  first_run();
  EXPECT_EQ(condition("Ready"), "Ready: ForeignGate");
  EXPECT_FALSE(job("12:00")->gate);
  EXPECT_TRUE(job("12:00")->suspended);
}

TEST_F(KronJobGate, OnAServerWithoutSuspendTheNameIsTheLock) {
  world.server.options.knows_suspend = false;
  create();
  work();
  EXPECT_EQ(condition("Ready"), "Ready: Ungated");
  const std::string hash = status().next->seed_hash;
  EXPECT_THAT(work_at("12:00:00"), ElementsAre("create 201", "put 200"));
  EXPECT_EQ(starts(), 1U);
  EXPECT_EQ(last(), "12:00 executed");
  EXPECT_EQ(status().last->seed_hash, hash);
  EXPECT_EQ(status().recent.back().seed_hash, hash);
}

}  // namespace
}  // namespace kron::testing
