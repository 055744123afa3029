#include <gtest/gtest.h>

#include "kron/queue/redis_queue_rig.h"

// docs/failure-modes.md names these tests: the failure modes and invariants of a queue in Redis.
namespace kron::testing {
namespace {

// The switch that no program can reach: on its way to the server the commit script loses its judgement.
class WithoutBoundary : public RedisConnection {
 public:
  explicit WithoutBoundary(std::unique_ptr<RedisConnection> connection) : connection_(std::move(connection)) {}

  Status connect(Nanoseconds timeout) override { return connection_->connect(timeout); }
  bool is_connected() const override { return connection_->is_connected(); }
  void close() override { connection_->close(); }
  std::vector<RedisReply> call(std::span<const RedisCommand> commands, Nanoseconds timeout) override {
    const std::string judgement = "local word = judged(v, exec, token, b.us)\n  if word == 'accepted'";
    std::vector<RedisCommand> all(commands.begin(), commands.end());
    for (RedisCommand& command : all) {
      if (command.front() != "SCRIPT") continue;
      const std::size_t at = command.back().find(judgement);
      if (at != std::string::npos) command.back().replace(at, judgement.size(), "local word = 'accepted'\n  if false");
    }
    return connection_->call(all, timeout);
  }

 private:
  std::unique_ptr<RedisConnection> connection_;
};

struct Told {
  LeaseOutcome late = LeaseOutcome::accepted;
  LeaseOutcome current = LeaseOutcome::accepted;
};

// FM_001 on two hosts: A leases through the one, its lease runs out; B leases through the other; both finish. The
// effect of each is a follow-up.
Told let_both_hosts_commit(RedisRig& rig, TaskQueue& one, TaskQueue& other) {
  rig.submit(task_named("mail"));
  const Lease a = one.lease({.worker = "A", .starts = true}).value().at(0);
  rig.clock.advance(Seconds(60));
  EXPECT_EQ(other.expire().value().size(), 1U);
  rig.clock.advance(Seconds(10));
  const Lease b = other.lease({.worker = "B", .starts = true}).value().at(0);
  const auto late = one.commit({.key = a.key, .result = "A", .follow_ups = {task_named("sent-by-A")}});
  const auto current = other.commit({.key = b.key, .result = "B", .follow_ups = {task_named("sent-by-B")}});
  return {late.value().outcome, current.value().outcome};
}

TEST(FM_001, ReproducedInRedisWithoutTheBoundaryBothHostsApplyTheirEffect) {
  RedisRig rig;
  const auto without = [&] {
    return std::make_unique<RedisQueue>(std::make_unique<WithoutBoundary>(rig.redis.connection()), rig.clock, rig.log,
                                        redis_options({}));
  };
  const auto one = without();
  const auto other = without();
  const Told told = let_both_hosts_commit(rig, *one, *other);
  EXPECT_EQ(told.late, LeaseOutcome::accepted);
  EXPECT_EQ(told.current, LeaseOutcome::accepted);
  EXPECT_TRUE(rig.queue().get("sent-by-A"));
  EXPECT_TRUE(rig.queue().get("sent-by-B"));
}

TEST(FM_001, PreventedInRedisByTheBoundary) {
  RedisRig rig;
  const auto other = rig.another();
  const Told told = let_both_hosts_commit(rig, rig.queue(), *other);
  EXPECT_EQ(told.late, LeaseOutcome::lease_lost);
  EXPECT_EQ(told.current, LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().get("sent-by-A").error().code, Code::not_found);
  EXPECT_TRUE(rig.queue().get("sent-by-B"));
  EXPECT_EQ(rig.queue().get("mail")->result, "B");
}

TEST(FM_001, RecoveredInRedisACommitWhoseAnswerWasLostIsOne) {
  for (const auto how : {RedisFate::How::request_lost, RedisFate::How::reply_lost}) {
    RedisRig rig;
    rig.submit(task_named("mail"));
    const Lease lease = rig.lease_one();
    rig.redis.plan(0, {.how = how});
    const auto answer = rig.queue().commit(
        {.key = lease.key, .result = "r", .follow_ups = {task_named("sent")}, .files = {{"x", "y"}}});
    EXPECT_EQ(answer.value().outcome, LeaseOutcome::accepted);
    EXPECT_EQ(answer->follow_ups.at(0).outcome, SubmitOutcome::accepted);
    EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::duplicate);
    EXPECT_EQ(rig.queue().counts().value(), (TaskCounts{1, 0}));
  }
}

TEST(INV_001, InRedisOfAllWhoHeldATaskOneCommits) {
  RedisRig rig;
  const auto other = rig.another();
  NewTask task = task_named("a");
  task.retry.max_attempts = 10;
  rig.submit(task);
  std::vector<Lease> held;
  for (int i = 0; i < 5; ++i) {
    held.push_back((i % 2 == 0 ? rig.queue() : *other).lease({.worker = "w", .starts = true}).value().at(0));
    rig.clock.advance(Seconds(60));
    ASSERT_TRUE(rig.queue().expire());
    rig.clock.advance(Seconds(3600));
  }
  held.push_back(rig.lease_one());
  int accepted = 0;
  for (int round = 0; round < 2; ++round) {
    for (const Lease& lease : held) accepted += rig.commit(lease.key) == LeaseOutcome::accepted ? 1 : 0;
  }
  EXPECT_EQ(accepted, 1);
  for (std::size_t i = 1; i < held.size(); ++i) EXPECT_GT(held[i].key.token, held[i - 1].key.token);
}

TEST(INV_002, InRedisNothingOfACommitIsThereBeforeAllOfItIs) {
  RedisRig rig;
  rig.redis.keep_log_of(100);
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  const CommitRequest commit{
      .key = lease.key, .result = "r", .follow_ups = {task_named("child")}, .files = {{"x", "y"}}};
  EXPECT_EQ(rig.queue().commit(commit).value().outcome, LeaseOutcome::accepted);
  rig.redis.restart_without(1);
  EXPECT_EQ(rig.state("a"), TaskState::running);
  EXPECT_EQ(rig.queue().get("child").error().code, Code::not_found);
  EXPECT_TRUE(rig.queue().effects_of("a").value().empty());
}

TEST(INV_003, InRedisEveryAttemptIsOnRecord) {
  RedisRig rig;
  rig.submit(task_named("a"));
  ASSERT_TRUE(rig.queue().fail_attempt({rig.lease_one("w1").key, "boom"}));
  rig.clock.advance(Seconds(100));
  rig.lease_one("w2");
  rig.clock.advance(Seconds(60));
  ASSERT_TRUE(rig.queue().expire());
  rig.clock.advance(Seconds(100));
  EXPECT_EQ(rig.commit(rig.lease_one("w3").key), LeaseOutcome::accepted);
  const Task task = rig.queue().get("a").value();
  ASSERT_EQ(task.executions.size(), 3U);
  EXPECT_EQ(task.executions[0].reason, "boom");
  EXPECT_EQ(task.executions[1].reason, "lease expired");
  EXPECT_EQ(task.executions[1].lease_owner, "w2");
  EXPECT_EQ(task.executions[2].status, ExecutionStatus::done);
  EXPECT_EQ(rig.queue().retry("a", 1), RetryOutcome::not_failed);
  EXPECT_EQ(rig.queue().cancel("a"), CancelOutcome::already_over);
}

TEST(INV_005, InRedisEveryFailureHasASignal) {
  RedisRig rig;
  rig.submit(task_named("a"));
  rig.execute({"DEL", rig.key("t:a")});
  EXPECT_TRUE(rig.lease({}).empty());
  EXPECT_TRUE(rig.has_told_of("t:a"));
  rig.redis.refuse_connections(Error{Code::unreachable, "nobody there"});
  EXPECT_EQ(rig.queue().submit(task_named("b")).error().code, Code::unreachable);
  EXPECT_EQ(rig.log.lines_of("task_queue_unreachable").size(), 1U);
  EXPECT_EQ(rig.queue().submit(task_named("b")).error().code, Code::unreachable);
  EXPECT_EQ(rig.log.lines_of("task_queue_unreachable").size(), 1U) << "once for each reason";
  rig.redis.refuse_connections(std::nullopt);
  rig.clock.advance(Seconds(1));
  EXPECT_EQ(rig.submit(task_named("b")), SubmitOutcome::accepted);
  EXPECT_EQ(rig.log.lines_of("task_queue_reachable").size(), 1U);
}

}  // namespace
}  // namespace kron::testing
