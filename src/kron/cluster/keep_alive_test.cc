#include "kron/cluster/keep_alive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/cluster/fake/scripted_link.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/testing/temporary_directory.h"

namespace kron::cluster {
namespace {

using kron::testing::CapturingLog;
using kron::testing::FakeClock;
using std::chrono::milliseconds;

class KeepAliveTest : public ::testing::Test {
 protected:
  KeepAliveTest() { clock_.advance(Seconds(1000)); }

  void add(const std::string& run_id, Seconds ttl) {
    ActiveRun run;
    run.claim.grant = {.run_id = run_id, .job = "job", .start_time = "5.000000", .fence = 3};
    run.claim.grant.sent = clock_.boot_time();
    if (ttl > Seconds(0)) run.claim.grant.lock_key = "lock-of-" + run_id;
    run.claim.grant.ttl = ttl;
    run.claim.process = {77, 88, "boot"};
    run.deadline = ttl > Seconds(0) ? lease_deadline(clock_.boot_time(), ttl) : kNoDeadline;
    run.file = runs_.claims().create(run.claim, run.deadline).value();
    runs_.add(std::move(run));
  }
  Nanoseconds deadline_of(const std::string& run_id) {
    Nanoseconds deadline{0};
    runs_.with(run_id, [&](const ActiveRun& run) { deadline = run.file.deadline(); });
    return deadline;
  }
  void answer_kept(std::vector<std::string> gone = {}, std::vector<std::string> lost = {}) {
    link_.answer("kept", {ScriptedLink::list_value(gone), ScriptedLink::list_value(lost)});
  }

  kron::testing::TemporaryDirectory directory_;
  FakeClock clock_{instant_of(0)};
  CapturingLog log_;
  ScriptedLink link_{clock_};
  ActiveRuns runs_{Claims::open(directory_.path()).value()};
  std::vector<pid_t> killed_;
  KeepAlive keep_{runs_,
                  link_,
                  Keys("{c}"),
                  clock_,
                  log_,
                  {.owner = "owner", .host = "vm", .kill = [this](const ProcessIdentity& process) {
                     killed_.push_back(process.pid);
                   }}};
};

TEST_F(KeepAliveTest, ALockIsRenewedEveryThirdOfItsTtlAndTheRunBeatsEveryThirtySeconds) {
  add("r1", Seconds(9));
  EXPECT_LE(keep_.tick(), Seconds(3));
  EXPECT_TRUE(link_.posted.empty()) << "the claim was the first of both";
  clock_.advance(Seconds(3));
  keep_.tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_EQ(link_.posted[0].script(), "keep");
  EXPECT_TRUE(link_.posted[0].names("lock-of-r1"));
  EXPECT_TRUE(link_.posted[0].names("9000"));
  EXPECT_EQ(link_.posted[0].urgency, Link::Urgency::urgent);

  add("free", Seconds(0));
  keep_.tick();
  EXPECT_EQ(link_.posted.size(), 1U) << "one is asked about once at a time";
  answer_kept();
  clock_.advance(Seconds(30));
  keep_.tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  EXPECT_TRUE(link_.posted[0].names("free"));
  EXPECT_FALSE(link_.posted[0].names("lock-of-free"));
}

TEST_F(KeepAliveTest, AConfirmedRenewalMovesTheDeadlineOnFromWhenItWasSent) {
  add("r1", Seconds(9));
  clock_.advance(Seconds(3));
  keep_.tick();
  const Nanoseconds sent = clock_.boot_time();
  clock_.advance(Seconds(2));
  answer_kept();
  EXPECT_EQ(deadline_of("r1"), sent + Seconds(9) - milliseconds(900));
}

TEST_F(KeepAliveTest, WhatIsNotConfirmedExtendsNothing) {
  add("r1", Seconds(9));
  const Nanoseconds before = deadline_of("r1");
  clock_.advance(Seconds(3));
  keep_.tick();
  link_.answer(RedisReply{RedisReply::How::error, {}, "OOM command not allowed"});
  EXPECT_EQ(deadline_of("r1"), before);
  EXPECT_EQ(log_.lines_of("keep_refused").size(), 1U);
  EXPECT_LE(keep_.tick(), milliseconds(200));
  EXPECT_TRUE(link_.posted.empty()) << "not at once";
  clock_.advance(milliseconds(200));
  keep_.tick();
  EXPECT_EQ(link_.posted.size(), 1U);
  link_.answer("nonsense");
  EXPECT_EQ(deadline_of("r1"), before);
}

TEST_F(KeepAliveTest, ALostLockEndsTheRunAtOnce) {
  add("r1", Seconds(9));
  clock_.advance(Seconds(3));
  keep_.tick();
  answer_kept({}, {"r1"});
  EXPECT_EQ(deadline_of("r1"), clock_.boot_time());
  EXPECT_EQ(killed_, (std::vector<pid_t>{77}));
  EXPECT_EQ(log_.lines_of("lock_lost").size(), 1U);
  clock_.advance(Seconds(10));
  keep_.tick();
  EXPECT_TRUE(link_.posted.empty()) << "it has none to renew";
  clock_.advance(Seconds(30));
  keep_.tick();
  EXPECT_TRUE(link_.posted.at(0).names("r1")) << "it beats until its end is told";
}

TEST_F(KeepAliveTest, ARunThatIsOverKeepsItsLockUntilItsEndIsTold) {
  add("r1", Seconds(9));
  runs_.end({"r1", 0, ""}, true);
  clock_.advance(Seconds(3));
  keep_.tick();
  ASSERT_EQ(link_.posted.size(), 1U);
  answer_kept({"r1"}, {"r1"});
  EXPECT_TRUE(killed_.empty());
  EXPECT_TRUE(log_.lines().empty());
}

TEST_F(KeepAliveTest, ARunThatRedisDoesNotCountIsSaidOnceAndGoesOn) {
  add("r1", Seconds(0));
  for (int i = 0; i < 3; ++i) {
    clock_.advance(Seconds(30));
    keep_.tick();
    answer_kept({"r1"});
  }
  EXPECT_EQ(log_.lines_of("run_not_active").size(), 1U);
  EXPECT_TRUE(killed_.empty());
}

TEST_F(KeepAliveTest, AShortTtlIsRenewedNotMoreThanFiveTimesASecond) {
  add("r1", Seconds(1));
  EXPECT_LE(keep_.tick(), milliseconds(334));
  clock_.advance(milliseconds(200));
  keep_.tick();
  EXPECT_TRUE(link_.posted.empty());
  clock_.advance(milliseconds(134));
  EXPECT_LE(keep_.tick(), milliseconds(334)) << "the answer wakes nobody";
  EXPECT_EQ(link_.posted.size(), 1U);
  EXPECT_LE(keep_.tick(), milliseconds(334));
  answer_kept();
  EXPECT_LE(keep_.tick(), milliseconds(334));
}

// As its thread does, which sleeps as long as a step says.
TEST_F(KeepAliveTest, NoLockLapsesWhenStepsComeAsLateAsTheyMay) {
  for (const Seconds ttl : {Seconds(1), Seconds(2), Seconds(5), Seconds(60)}) {
    const std::string run_id = "r" + std::to_string(ttl.count());
    add(run_id, ttl);
    const Nanoseconds end = clock_.boot_time() + 10 * ttl;
    while (clock_.boot_time() < end) {
      const Nanoseconds pause = keep_.tick();
      clock_.advance(milliseconds(20));
      while (!link_.posted.empty()) answer_kept();
      clock_.advance(pause);
      ASSERT_GT(deadline_of(run_id), clock_.boot_time()) << run_id;
    }
    runs_.remove(run_id);
  }
}

TEST_F(KeepAliveTest, ManyRunsGoInCallsOf250) {
  for (int i = 0; i < 600; ++i) add("r" + std::to_string(i), Seconds(9));
  clock_.advance(Seconds(3));
  keep_.tick();
  ASSERT_EQ(link_.posted.size(), 3U);
  // EVALSHA, its hash, the number of keys; active, fence and 250 locks; the number of runs, 250 of them, 250 × (token,
  // ttl)
  EXPECT_EQ(link_.posted[0].command.size(), 3U + 2 + 250 + 1 + 250 + 500);
}

TEST_F(KeepAliveTest, AfterARestartEverythingIsDueAtOnce) {
  add("r1", Seconds(9));
  runs_.with("r1", [](ActiveRun& run) { run.claim.grant.sent = Nanoseconds(0); });
  keep_.tick();
  EXPECT_EQ(link_.posted.size(), 1U);
}

TEST_F(KeepAliveTest, AfterLostWritesRunsAreAssertedAndOnlyThoseWhoseLockIsTakenAreKilled) {
  add("kept", Seconds(9));
  add("taken", Seconds(9));
  add("ended", Seconds(9));
  runs_.end({"ended", 0, ""}, true);
  clock_.advance(Seconds(3));
  keep_.tick();
  keep_.assert_runs();
  ASSERT_EQ(link_.posted.size(), 3U);
  // The renewal was on its way before; that the locks are gone is what the assertion is for.
  answer_kept({"kept", "taken"}, {"kept", "taken"});
  EXPECT_TRUE(killed_.empty());
  EXPECT_EQ(link_.posted[0].script(), "assert");
  EXPECT_TRUE(link_.posted[0].names("kept"));
  EXPECT_TRUE(link_.posted[0].names("owner"));
  EXPECT_TRUE(link_.posted[0].names(
      R"({"job_name":"job","start_time":"5.000000","host":"vm","status":"running","retcode":null,"output":null,"duration":null})"));
  link_.answer("ok");
  link_.answer("taken", {ScriptedLink::text_value("another")});
  EXPECT_EQ(killed_, (std::vector<pid_t>{77}));
  EXPECT_EQ(deadline_of("kept"), clock_.boot_time() + Seconds(9) - milliseconds(900));
  EXPECT_EQ(deadline_of("taken"), clock_.boot_time());
}

}  // namespace
}  // namespace kron::cluster
