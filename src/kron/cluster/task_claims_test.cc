#include <gtest/gtest.h>

#include "kron/cluster/ledger_rig.h"
#include "kron/cluster/rundata.h"
#include "kron/queue/redis_queue.h"

// The claim of a run that only submits a task: the record, the end of the run and the task are one step.
namespace kron::cluster {
namespace {

using kron::testing::RedisFate;

class TaskClaims : public testing::LedgerTest {
 protected:
  // What starts the run of a period, which submits a task.
  static LedgerStep start(const JobState& periods, Instant period, const std::string& data = R"({"n":1})") {
    LedgerStep it = LedgerTest::start(periods, period);
    it.started[0].task = TaskToSubmit{"job-" + std::to_string(epoch_seconds(period)), "MAIL", data};
    return it;
  }
  static LedgerStep trigger(const JobState& periods, const std::string& run, bool has_key) {
    LedgerStep it = LedgerTest::trigger(periods, run, has_key);
    it.started[0].task = TaskToSubmit{"task-of-" + run, "MAIL", "null"};
    return it;
  }
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

  RedisQueue queue{redis.connection(), clock, log};
};

TEST_F(TaskClaims, OneOfTwoHostsSubmitsTheTaskOfAPeriodAndItsRunIsOver) {
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_EQ(b.load(now(clock)).periods, periods);
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, Written::How::done);
  const Written other = b.write(start(periods, at(10)));
  EXPECT_EQ(other.how, Written::How::newer);
  EXPECT_EQ(other.periods->last_handled, at(10));

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
  EXPECT_EQ(ask({"EXISTS", keys.lock("lock")}).integer, 0) << "the run is over, and so is its lock";
  EXPECT_EQ(outcomes(), 2U) << "its start and its end";
  EXPECT_FALSE(a.grants.take("run1794000010")) << "there is no process to let go";
}

TEST_F(TaskClaims, AStepWhoseAnswerWasLostHasSubmittedOneTask) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  redis.plan(0, {.how = RedisFate::How::reply_lost});
  const Written written = a.write(start(periods, at(10)));
  EXPECT_EQ(written.how, Written::How::newer) << "sent again, it finds the record of its own first sending";
  EXPECT_EQ(written.periods->last_handled, at(10));
  EXPECT_EQ(tasks().size(), 1U);
  EXPECT_EQ(outcomes(), 2U);
}

TEST_F(TaskClaims, AStepThatArrivesLateAndTwiceSubmitsNothingMore) {
  JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  redis.plan(0, {.how = RedisFate::How::request_lost, .repeated_after = 1000});
  const Written written = a.write(start(periods, at(10)));
  EXPECT_TRUE(written.is_done()) << "sent again";
  for (int i = 0; i < 1001; ++i) (void)b.load(now(clock));
  EXPECT_EQ(tasks().size(), 1U);
  EXPECT_EQ(outcomes(), 2U);

  // Or it comes before it is sent again.
  go_to(at(20));
  redis.plan(0, {.how = RedisFate::How::request_lost, .repeated_after = 1});
  periods.last_handled = at(10);
  EXPECT_EQ(a.write(start(periods, at(20))).how, Written::How::newer);
  EXPECT_EQ(tasks().size(), 2U);
  EXPECT_EQ(outcomes(), 4U);
}

TEST_F(TaskClaims, NothingIsSubmittedWithoutTheRecordNorTheOtherWayRound) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  redis.set_out_of_memory(true);
  EXPECT_EQ(a.write(start(periods, at(10))).how, Written::How::refused);
  redis.set_out_of_memory(false);
  EXPECT_TRUE(tasks().empty());
  EXPECT_EQ(outcomes(), 0U);
  (void)ask({"SADD", keys.paused(), "job"});
  EXPECT_EQ(a.write(start(periods, at(10))).how, Written::How::refused);
  EXPECT_TRUE(tasks().empty());
  (void)ask({"SREM", keys.paused(), "job"});
  EXPECT_TRUE(a.write(start(periods, at(10))).is_done());
  EXPECT_EQ(tasks().size(), 1U);
}

// docs/cluster.md, "What a crash loses": whether it was done meanwhile, nobody knows.
TEST_F(TaskClaims, ATaskThatTheServerLostWithItsClaimDoesNotComeBackWithTheRecord) {
  redis.keep_log_of(100);
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_EQ(b.load(now(clock)).periods, periods);
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, Written::How::done);
  EXPECT_EQ(tasks(), std::vector<std::string>{"job-1794000010"});
  redis.restart_without(1);
  EXPECT_TRUE(tasks().empty());
  EXPECT_EQ(outcomes(), 0U) << "the whole claim is lost";
  for (int i = 0; i < 2; ++i) a.link.look();  // the first finds that its connection was closed
  EXPECT_TRUE(a.link.pump()) << "a has noticed, and says what it knows";
  const Written other = b.write(start(periods, at(10)));
  ASSERT_EQ(other.how, Written::How::newer) << "the period is not run again";
  EXPECT_EQ(other.periods->last_handled, at(10));
  EXPECT_TRUE(tasks().empty());
}

TEST_F(TaskClaims, ALockThatAnotherRunHoldsIsRespected) {
  const JobState periods = a.load(now(clock)).periods;
  (void)ask({"SET", keys.lock("lock"), "other"});
  go_to(at(10));
  const Written answer = a.write(start(periods, at(10)));
  EXPECT_EQ(answer.how, Written::How::held);
  EXPECT_EQ(answer.run_id, "other");
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
  a.set_unlocked();
  b.set_unlocked();
  const JobState of_a = a.load(now(clock)).periods;
  const JobState of_b = b.load(now(clock)).periods;
  go_to(at(10));
  LedgerStep mine = start(of_a, at(10));
  LedgerStep theirs = start(of_b, at(10));
  theirs.started[0].run_id = "run-of-b";
  EXPECT_TRUE(a.write(mine).is_done());
  EXPECT_TRUE(b.write(theirs).is_done());
  EXPECT_EQ(tasks(), std::vector<std::string>{"job-1794000010"});
}

TEST_F(TaskClaims, AnEditedJobDoesNotReplaceTheTaskThatIsThere) {
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_TRUE(queue.submit(NewTask{.id = "job-1794000010", .type = "MAIL", .data = R"({"n":0})"}));
  go_to(at(10));
  EXPECT_TRUE(a.write(start(periods, at(10))).is_done());
  EXPECT_EQ(queue.get("job-1794000010")->spec.data, R"({"n":0})");
  ASSERT_EQ(a.log.lines_of("task_submitted").size(), 1U);
  EXPECT_EQ(a.log.lines_of("task_submitted")[0].field("outcome"), "conflict");
}

}  // namespace
}  // namespace kron::cluster
