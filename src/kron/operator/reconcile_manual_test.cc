// Runs by hand, on the model API server.
#include "kron/operator/fake/situation.h"

namespace kron::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KronJobManualRun : public Situation {
 protected:
  // So many Jobs are recorded and still to be opened, while the KronJob is suspended.
  void hold(int count) {
    Node::List starting;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(10 + i);
      starting.push_back(parse_json(R"({"periodID":"2026-03-01T11:)" + number + R"(:00Z","jobName":"job-)" + number +
                                    R"(","jobUID":"uid-of-)" + number + R"(","at":"2026-03-01T11:59:30Z"})")
                             .value());
    }
    world.server.edit("kronjobs", kNamespace, kName, [&](const Node& object) {
      return kube::with(object, {"status", "starting"}, Node(std::move(starting)));
    });
  }
};

TEST_F(KronJobManualRun, ARunByHandGoesThroughTheSameGate) {
  create();
  work();
  run_now("now-1");
  EXPECT_THAT(work_at("11:59:40"), ElementsAre("create 201", "put 200", "patch 200"));
  EXPECT_EQ(status().last_manual->token, "now-1");
  EXPECT_EQ(status().last_manual->outcome, "executed");
  EXPECT_FALSE(status().handled->last_handled) << "no period is touched";
  EXPECT_EQ(starts(), 1U);
  EXPECT_THAT(work(), IsEmpty());
}

TEST_F(KronJobManualRun, ARunByHandObeysConcurrency) {
  first_run();
  run_now("now-1");
  EXPECT_THAT(work_at("12:00:10"), ElementsAre("put 200"));
  EXPECT_EQ(status().last_manual->outcome, "skipped");
  EXPECT_EQ(status().last_manual->reason, "concurrency_forbid");
}

TEST_F(KronJobManualRun, WhatIsRecordedAndNotSeenCountsAsActive) {
  spec.suspend = true;
  create();
  work();
  hold(1);
  run_now("now-1");
  EXPECT_THAT(work_at("11:59:40"), ::testing::Each("put 200"));
  ASSERT_TRUE(status().last_manual);
  EXPECT_EQ(status().last_manual->reason, "concurrency_forbid");
}

TEST_F(KronJobManualRun, ARunByHandWaitsWhileThereIsNoRoomToRecordIt) {
  spec.suspend = true;
  spec.concurrency = "allow";
  create();
  work();
  hold(static_cast<int>(kronjobs::kMostStarting));
  run_now("now-1");
  EXPECT_THAT(work_at("11:59:40"), ::testing::Each("put 200")) << "nothing is created";
  EXPECT_FALSE(status().last_manual);
  hold(static_cast<int>(kronjobs::kMostStarting) - 1);
  EXPECT_THAT(work_at("11:59:50"), ::testing::Contains("patch 200"));
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobManualRun, ARunByHandReplacesWhatIsActive) {
  spec.concurrency = "replace";
  first_run();
  run_now("now-1");
  EXPECT_THAT(work_at("12:00:10"), ElementsAre("delete 200"));
  world.server.collect_garbage();
  work();
  EXPECT_EQ(status().last_manual->outcome, "executed");
  EXPECT_EQ(starts(), 2U);
}

TEST_F(KronJobManualRun, ARunByHandIsAllowedWhileSuspended) {
  spec.suspend = true;
  create();
  work();
  run_now("now-1");
  work();
  EXPECT_EQ(starts(), 1U);
}

TEST_F(KronJobManualRun, ATokenThatIsThereAtFirstSightIsOnlyNoted) {
  world.server.create("kronjobs", spec.object());
  run_now("old");
  leader.list("kronjobs");
  leader.list("jobs");
  work();
  EXPECT_EQ(status().last_manual->token, "old");
  EXPECT_EQ(starts(), 0U);
}

TEST_F(KronJobManualRun, ATokenThatIsNoneIsSaidAndIgnored) {
  create();
  work();
  run_now("no token");
  EXPECT_THAT(work(), IsEmpty());
  EXPECT_EQ(starts(), 0U);
}

}  // namespace
}  // namespace kron::testing
