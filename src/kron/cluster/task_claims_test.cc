#include <gtest/gtest.h>

#include "kron/cluster/cluster_ledger.h"
#include "kron/cluster/fake/direct_link.h"
#include "kron/cluster/rundata.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_redis.h"
#include "kron/queue/redis_queue.h"

// The claim of a run that only submits a task: the record, the end of the run and the task are one step.
namespace kron::cluster {
namespace {

using kron::testing::FakeRedis;
using kron::testing::RedisFate;

constexpr Instant kClaimStart = instant_of(1'794'000'000);
Instant claim_at(std::int64_t seconds) { return kClaimStart + Seconds(seconds); }

struct ClaimingHost {
  ClaimingHost(FakeRedis& redis, const Clock& its_clock, const Keys& its_keys, std::string its_name)
      : name(std::move(its_name)), link(redis.connection(), its_keys, its_clock) {
    ledger = std::make_unique<ClusterLedger>(ClusterLedger::World{.link = link,
                                                                  .keys = its_keys,
                                                                  .clock = its_clock,
                                                                  .log = log,
                                                                  .grants = grants,
                                                                  .terms = terms,
                                                                  .instance = [this] { return name; },
                                                                  .wait = [](Nanoseconds) {}},
                                             ClusterLedger::Options{.owner = name + "-owner", .host = name});
    link.on_lost_writes = [this](const FenceWatch::Lost& lost) { ledger->assert_what_is_known(lost); };
    set_locked(true);
  }

  void set_locked(bool locked) {
    terms.set({{"job", {.locked = locked, .lock_name = "job", .ttl = Seconds(10), .read_at = kClaimStart}}});
  }
  KnownJob load(Instant t) { return ledger->load(std::vector<std::string>{"job"}, t).value()[0]; }
  Written write(const LedgerStep& step) { return ledger->write(std::vector{step})[0]; }

  std::string name;
  kron::testing::CapturingLog log;
  Grants grants;
  JobTermsTable terms;
  testing::DirectLink link;
  std::unique_ptr<ClusterLedger> ledger;
};

class TaskClaims : public ::testing::Test {
 protected:
  // What starts the run of a period, which submits a task.
  static LedgerStep start(JobState periods, Instant period, const std::string& data = R"({"n":1})") {
    LedgerStep step;
    step.identity = "job";
    periods.last_handled = period;
    periods.schedule = ScheduleSeen{7, {}};
    step.now.periods = std::move(periods);
    step.last_outcome = Outcome::executed;
    step.last_chosen = period;
    step.started.push_back({.run_id = "run" + std::to_string(epoch_seconds(period)),
                            .period = period,
                            .chosen = period,
                            .task = TaskToSubmit{"job-" + std::to_string(epoch_seconds(period)), "MAIL", data}});
    return step;
  }
  static LedgerStep trigger(const JobState& periods, const std::string& run, bool has_key) {
    LedgerStep step;
    step.identity = "job";
    step.now.periods = periods;
    step.started.push_back({.run_id = run,
                            .period = {},
                            .chosen = {},
                            .trigger = Trigger::manual,
                            .has_key = has_key,
                            .task = TaskToSubmit{"task-of-" + run, "MAIL", "null"}});
    return step;
  }
  RedisValue ask(const RedisCommand& command) { return redis.execute(command).value; }
  std::vector<std::string> tasks() {
    std::vector<std::string> ids;
    const auto listed = queue.list({});
    EXPECT_TRUE(listed) << listed.error().message;
    if (listed) {
      for (const Task& task : *listed) ids.push_back(task.spec.id);
    }
    return ids;
  }
  std::size_t outcomes() { return ask({"XRANGE", keys.outcomes(), "-", "+"}).items.size(); }

  kron::testing::FakeClock clock{kClaimStart};
  kron::testing::CapturingLog log;
  FakeRedis redis{[this] { return clock.wall(); }};
  Keys keys{"{cronken}"};
  RedisQueue queue{redis.connection(), clock, log};
  ClaimingHost a{redis, clock, keys, "a"};
  ClaimingHost b{redis, clock, keys, "b"};
};

TEST_F(TaskClaims, OneOfTwoHostsSubmitsTheTaskOfAPeriodAndItsRunIsOver) {
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_EQ(b.load(now(clock)).periods, periods);
  clock.advance_to(claim_at(10));
  EXPECT_EQ(a.write(start(periods, claim_at(10))).how, Written::How::done);
  const Written other = b.write(start(periods, claim_at(10)));
  EXPECT_EQ(other.how, Written::How::newer);
  EXPECT_EQ(other.periods->last_handled, claim_at(10));

  EXPECT_EQ(tasks(), std::vector<std::string>{"job-1794000010"});
  const auto task = queue.get("job-1794000010");
  ASSERT_TRUE(task);
  EXPECT_EQ(task->spec.type, "MAIL");
  EXPECT_EQ(task->spec.data, R"({"n":1})");
  EXPECT_EQ(task->spec.retry, RetryPolicy{});
  const auto leased = queue.lease({.worker = "w", .types = {"MAIL"}});
  ASSERT_TRUE(leased);
  EXPECT_EQ(leased->size(), 1U) << "it is ready, as one that was submitted";

  const Result<RunData> run = parse_rundata(ask({"HGET", keys.rundata(), "run1794000010"}).text);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->status, RunStatus::success);
  EXPECT_EQ(run->retcode, 0);
  EXPECT_EQ(run->start_time, "1794000010.000000");
  EXPECT_EQ(run->output, "submitted as task job-1794000010\n");
  EXPECT_EQ(ask({"ZCARD", keys.active()}).integer, 0);
  EXPECT_EQ(ask({"HLEN", keys.claims()}).integer, 0);
  EXPECT_EQ(ask({"ZCARD", keys.results("success")}).integer, 1);
  EXPECT_EQ(ask({"ZCARD", keys.results("job", "success")}).integer, 1);
  EXPECT_EQ(ask({"EXISTS", keys.lock("job")}).integer, 0) << "the run is over, and so is its lock";
  EXPECT_EQ(outcomes(), 2U) << "its start and its end";
  EXPECT_FALSE(a.grants.take("run1794000010")) << "there is no process to let go";
}

TEST_F(TaskClaims, AStepWhoseAnswerWasLostHasSubmittedOneTask) {
  const JobState periods = a.load(now(clock)).periods;
  clock.advance_to(claim_at(10));
  redis.plan(0, {.how = RedisFate::How::reply_lost});
  const Written written = a.write(start(periods, claim_at(10)));
  EXPECT_EQ(written.how, Written::How::newer) << "sent again, it finds the record of its own first sending";
  EXPECT_EQ(written.periods->last_handled, claim_at(10));
  EXPECT_EQ(tasks().size(), 1U);
  EXPECT_EQ(outcomes(), 2U);
}

TEST_F(TaskClaims, AStepThatArrivesLateAndTwiceSubmitsNothingMore) {
  JobState periods = a.load(now(clock)).periods;
  clock.advance_to(claim_at(10));
  redis.plan(0, {.how = RedisFate::How::request_lost, .repeated_after = 1000});
  const Written written = a.write(start(periods, claim_at(10)));
  EXPECT_TRUE(written.is_done()) << "sent again";
  for (int i = 0; i < 1001; ++i) (void)b.load(now(clock));
  EXPECT_EQ(tasks().size(), 1U);
  EXPECT_EQ(outcomes(), 2U);

  // Or it comes before it is sent again.
  clock.advance_to(claim_at(20));
  redis.plan(0, {.how = RedisFate::How::request_lost, .repeated_after = 1});
  periods.last_handled = claim_at(10);
  EXPECT_EQ(a.write(start(periods, claim_at(20))).how, Written::How::newer);
  EXPECT_EQ(tasks().size(), 2U);
  EXPECT_EQ(outcomes(), 4U);
}

TEST_F(TaskClaims, NothingIsSubmittedWithoutTheRecordNorTheOtherWayRound) {
  const JobState periods = a.load(now(clock)).periods;
  clock.advance_to(claim_at(10));
  redis.set_out_of_memory(true);
  EXPECT_EQ(a.write(start(periods, claim_at(10))).how, Written::How::refused);
  redis.set_out_of_memory(false);
  EXPECT_TRUE(tasks().empty());
  EXPECT_EQ(outcomes(), 0U);
  (void)ask({"SADD", keys.paused(), "job"});
  EXPECT_EQ(a.write(start(periods, claim_at(10))).how, Written::How::refused);
  EXPECT_TRUE(tasks().empty());
  (void)ask({"SREM", keys.paused(), "job"});
  EXPECT_TRUE(a.write(start(periods, claim_at(10))).is_done());
  EXPECT_EQ(tasks().size(), 1U);
}

TEST_F(TaskClaims, ALockThatAnotherRunHoldsIsRespected) {
  const JobState periods = a.load(now(clock)).periods;
  (void)ask({"SET", keys.lock("job"), "other"});
  clock.advance_to(claim_at(10));
  const Written held = a.write(start(periods, claim_at(10)));
  EXPECT_EQ(held.how, Written::How::held);
  EXPECT_EQ(held.run_id, "other");
  EXPECT_TRUE(tasks().empty());
}

TEST_F(TaskClaims, ATriggerThatReachesAllHostsSubmitsOnce) {
  const JobState periods = a.load(now(clock)).periods;
  (void)b.load(now(clock));
  EXPECT_TRUE(a.write(trigger(periods, "m1", false)).is_done());
  EXPECT_EQ(b.write(trigger(periods, "m2", false)).how, Written::How::held) << "nobody named it: the lock tells";
  EXPECT_EQ(tasks(), std::vector<std::string>{"task-of-m1"});
  clock.advance(std::chrono::milliseconds(1100));
  EXPECT_TRUE(b.write(trigger(periods, "m3", false)).is_done()) << "that is another one";
  EXPECT_TRUE(a.write(trigger(periods, "named", true)).is_done());
  EXPECT_EQ(b.write(trigger(periods, "named", true)).how, Written::How::ran);
  EXPECT_EQ(tasks().size(), 3U);
}

TEST_F(TaskClaims, WithoutALockAllHostsRunAndTheirTaskIsOne) {
  a.set_locked(false);
  b.set_locked(false);
  const JobState of_a = a.load(now(clock)).periods;
  const JobState of_b = b.load(now(clock)).periods;
  clock.advance_to(claim_at(10));
  LedgerStep mine = start(of_a, claim_at(10));
  LedgerStep theirs = start(of_b, claim_at(10));
  theirs.started[0].run_id = "run-of-b";
  EXPECT_TRUE(a.write(mine).is_done());
  EXPECT_TRUE(b.write(theirs).is_done());
  EXPECT_EQ(tasks(), std::vector<std::string>{"job-1794000010"});
}

TEST_F(TaskClaims, AnEditedJobDoesNotReplaceTheTaskThatIsThere) {
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_TRUE(queue.submit(NewTask{.id = "job-1794000010", .type = "MAIL", .data = R"({"n":0})"}));
  clock.advance_to(claim_at(10));
  EXPECT_TRUE(a.write(start(periods, claim_at(10))).is_done());
  EXPECT_EQ(queue.get("job-1794000010")->spec.data, R"({"n":0})");
  ASSERT_EQ(a.log.lines_of("task_submitted").size(), 1U);
  EXPECT_EQ(a.log.lines_of("task_submitted")[0].field("outcome"), "conflict");
}

}  // namespace
}  // namespace kron::cluster
