#include "kron/cluster/cluster_ledger.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/cluster/ledger_rig.h"

namespace kron::cluster {
namespace {

using namespace std::chrono_literals;
using kron::testing::RedisFate;
using testing::kLedgerStart;
using testing::LedgerHost;
using How = Written::How;

class ClusterLedgerTest : public testing::LedgerTest {
 protected:
  static LedgerStep outcome(const JobState& periods, Instant period, Outcome what, Reason reason) {
    LedgerStep it = step(periods, period);
    it.history.push_back({.period = period, .outcome = what, .reason = reason, .chosen = period});
    return it;
  }
  ClusterRecord record(const std::string& field = "job") {
    return parse_cluster_record(text({"HGET", keys.state(), field})).value_or(ClusterRecord{});
  }
  std::int64_t active() { return ask({"ZCARD", keys.active()}).integer; }
  // `b` waits for the run of `a` to end.
  void end(const std::string& run) {
    (void)ask({"ZREM", keys.active(), run});
    (void)ask({"DEL", keys.lock("lock")});
    (void)ask({"HDEL", keys.claims(), run});
  }
};

TEST_F(ClusterLedgerTest, ANewRecordCountsFromTheNextSecondAndIsMadeOnce) {
  const KnownJob first = a.load(now(clock));
  EXPECT_EQ(first.periods.first_seen, at(1));
  EXPECT_TRUE(first.periods.first_seen_is_floor);
  EXPECT_EQ(record().revision, 1'794'000'000'000'000U);
  clock.advance(5s);
  EXPECT_EQ(b.load(now(clock)).periods, first.periods);
}

TEST_F(ClusterLedgerTest, AHostWhoseClockIsBehindMakesNoRecordThatCountsAtOnce) {
  EXPECT_EQ(a.load(now(clock) - Seconds(30)).periods.first_seen, at(2));
}

TEST_F(ClusterLedgerTest, OneOfTwoHostsStartsAPeriod) {
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_EQ(b.load(now(clock)).periods, periods);
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::done);
  const Written other = b.write(start(periods, at(10)));
  EXPECT_EQ(other.how, How::newer);
  EXPECT_EQ(other.periods->last_handled, at(10));
  const std::optional<Grant> grant = a.grants.take(run_id(at(10)));
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->fence, 1U);
  EXPECT_EQ(grant->start_time, "1794000010.000000");
  EXPECT_EQ(grant->lock_key, keys.lock("lock"));
  EXPECT_EQ(grant->period, at(10));
  EXPECT_FALSE(b.grants.take(run_id(at(10))));
  EXPECT_EQ(active(), 1);
}

TEST_F(ClusterLedgerTest, ALockThatIsHeldIsNamed) {
  const JobState periods = a.load(now(clock)).periods;
  (void)ask({"SET", keys.lock("lock"), "other"});
  go_to(at(10));
  const Written answer = a.write(start(periods, at(10)));
  EXPECT_EQ(answer.how, How::held);
  EXPECT_EQ(answer.run_id, "other");
  EXPECT_EQ(a.write(outcome(periods, at(10), Outcome::skipped, Reason::lock_held)).how, How::done);
}

TEST_F(ClusterLedgerTest, ARunThatIsKnownIsToldOf) {
  const JobState periods = a.load(now(clock)).periods;
  (void)ask({"HSET", keys.rundata(), run_id(at(10)), "{}"});
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::ran);
}

TEST_F(ClusterLedgerTest, NothingIsHandledWhileTheJobIsPaused) {
  const JobState periods = a.load(now(clock)).periods;
  (void)ask({"SADD", keys.paused(), "job"});
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::refused);
  EXPECT_EQ(a.write(outcome(periods, at(10), Outcome::skipped, Reason::concurrency_forbid)).how, How::refused);
  EXPECT_EQ(a.read_again.size(), 2U);
  EXPECT_EQ(a.write(trigger(periods, "manual", true)).how, How::done) << "a trigger works all the same";
}

TEST_F(ClusterLedgerTest, AMissedPeriodMustBeOver) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(11));
  EXPECT_EQ(a.write(outcome(periods, at(10), Outcome::missed, Reason::deadline)).how, How::refused);
  go_to(at(12));
  EXPECT_EQ(a.write(outcome(periods, at(10), Outcome::missed, Reason::deadline)).how, How::done);
}

TEST_F(ClusterLedgerTest, AStartMustNotBeFarAhead) {
  const JobState periods = a.load(now(clock)).periods;
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::refused);
}

TEST_F(ClusterLedgerTest, TheEndsOfRunsNeedNoServer) {
  const JobState periods = a.load(now(clock)).periods;
  const std::uint64_t before = redis.commands();
  LedgerStep ended;
  ended.identity = "job";
  ended.now.periods = periods;
  ended.now.periods.schedule = ScheduleSeen{kHash, {}};
  ended.history.push_back({.period = at(1), .outcome = Outcome::executed, .run_id = "x"});
  EXPECT_EQ(a.write(ended).how, How::done);
  EXPECT_EQ(redis.commands(), before);
}

// The alarm is in the record that all hosts share: what one has told, another does not tell again.
TEST_F(ClusterLedgerTest, AnAlarmIsOpenedByOneHostAndClosedByAnother) {
  const auto terms = std::make_shared<AlarmTerms>(AlarmTerms{.on = all_alarm_kinds(), .to = {"ops"}});
  const auto end_of = [&](const KnownJob& known, int exit_code, Instant period) {
    LedgerStep step;
    step.identity = "job";
    step.now = known;
    step.alarm_terms = terms;
    step.history = {{.period = period, .outcome = Outcome::executed, .completed_at = period, .exit_code = exit_code}};
    return step;
  };
  go_to(at(10));
  const KnownJob on_a = a.load(at(10));
  const KnownJob on_b = b.load(at(10));
  const Written failed = a.write(end_of(on_a, 1, at(5)));
  ASSERT_TRUE(failed.is_done());
  ASSERT_EQ(failed.owed.size(), 1U);
  // It was judged by a record that knows of no alarm.
  EXPECT_EQ(b.write(end_of(on_b, 1, at(6))).how, Written::How::newer);
  const Written again = b.write(end_of(b.load(at(10)), 1, at(6)));
  EXPECT_TRUE(again.is_done());
  EXPECT_EQ(again.owed, failed.owed) << "nobody knows yet that it is in the queue: the same task is submitted again";
  LedgerStep paid;
  paid.identity = "job";
  paid.now = b.load(at(10));
  paid.alarm_terms = terms;
  paid.alarm_notes.paid = {key_of(failed.owed[0])};
  EXPECT_TRUE(b.write(paid).owed.empty());
  const Written closed = a.write(end_of(a.load(at(10)), 0, at(7)));
  ASSERT_EQ(closed.owed.size(), 1U);
  EXPECT_EQ(closed.owed[0].sign.kind, AlarmKind::recovered);
  EXPECT_EQ(closed.owed[0].first, at(5));
}

TEST_F(ClusterLedgerTest, ATriggerComparesNoRevision) {
  const JobState periods = a.load(now(clock)).periods;
  (void)b.load(now(clock));
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  end(run_id(at(10)));
  EXPECT_EQ(b.write(trigger(periods, "manual", true)).how, How::done);
  EXPECT_EQ(a.write(trigger(periods, "manual", true)).how, How::ran) << "the same request, elsewhere";
  EXPECT_EQ(record().state.periods.last_handled, at(10));
}

TEST_F(ClusterLedgerTest, AStepWhoseAnswerWasLostIsSentAgainAndRunsOnce) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  for (const RedisFate::How how : {RedisFate::How::reply_lost, RedisFate::How::request_lost}) {
    redis.plan(0, {.how = how});
    const Instant period = now(clock);
    EXPECT_EQ(a.write(start(periods, period)).how, How::done);
    EXPECT_TRUE(a.grants.take(run_id(period)));
    EXPECT_EQ(active(), 1);
    end(run_id(period));
    clock.advance(10s);
  }
}

TEST_F(ClusterLedgerTest, AStepWhoseAnswerNeverComesIsUnknownAndItsClaimIsEnded) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  redis.decide([](const RedisCommand& command) -> std::optional<RedisFate> {
    if (command[0] != "EVALSHA" || command[1] != script_named("step").sha) return std::nullopt;
    return RedisFate{.how = RedisFate::How::reply_lost};
  });
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::unknown);
  redis.decide({});
  EXPECT_FALSE(a.grants.take(run_id(at(10))));
  EXPECT_TRUE(a.link.pump());
  EXPECT_EQ(active(), 0);
  EXPECT_EQ(ask({"HLEN", keys.claims()}).integer, 0);
  EXPECT_EQ(ask({"EXISTS", keys.lock("lock")}).integer, 0);
  // Asked again, the period is handled: it does not run a second time.
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::newer);
}

TEST_F(ClusterLedgerTest, WhatWasNotSentIsRefused) {
  const JobState periods = a.load(now(clock)).periods;
  redis.refuse_connections(Error{Code::unreachable, "away"});
  a.link.look();  // notices
  EXPECT_EQ(a.write(start(periods, at(1))).how, How::refused);
}

TEST_F(ClusterLedgerTest, AServerThatIsFullTakesNothing) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  redis.set_out_of_memory(true);
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::refused);
  redis.set_out_of_memory(false);
  EXPECT_EQ(ask({"EXISTS", keys.lock("lock")}).integer, 0);
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::done);
}

TEST_F(ClusterLedgerTest, ARecordThatIsGoneIsPutBackAndTheStepRepeated) {
  JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  end(run_id(at(10)));
  const std::uint64_t revision = record().revision;
  (void)ask({"DEL", keys.state()});
  go_to(at(20));
  EXPECT_EQ(a.write(start(periods, at(20))).how, How::done);
  EXPECT_EQ(record().state.periods.last_handled, at(20));
  EXPECT_GT(record().revision, revision);
}

// Whoever knew of the run is gone, and Redis has forgotten it; the record that another host makes then must not be
// taken for the one that `b` remembers.
TEST_F(ClusterLedgerTest, AStepThatWasJudgedByARecordThatWasMadeAnewSinceIsNotTaken) {
  const JobState remembered = b.load(now(clock)).periods;
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  const std::uint64_t revision = record().revision;
  (void)ask({"FLUSHALL"});
  LedgerHost c{*this, "c"};
  clock.advance(1ms);
  (void)c.load(now(clock));
  EXPECT_GT(record().revision, revision);
  const Written written = b.write(start(remembered, at(10)));
  EXPECT_EQ(written.how, How::newer);
  EXPECT_GT(written.periods->first_seen, at(10));
  EXPECT_EQ(active(), 0);
}

// What a host writes again after lost writes, and finds there, moves its revision on; but nobody has judged by that
// yet.
TEST_F(ClusterLedgerTest, WhatIsLearnedWhenWritesWereLostIsToldBeforeAStepIsTaken) {
  const JobState at_first = b.load(now(clock)).periods;
  JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  end(run_id(at(10)));
  const Written told = b.write(start(at_first, at(10)));
  ASSERT_EQ(told.how, How::newer);
  go_to(at(20));
  ASSERT_EQ(a.write(start(*told.periods, at(20))).how, How::done);
  (void)ask({"FLUSHALL"});
  LedgerHost c{*this, "c"};
  (void)c.load(now(clock));
  b.link.look();
  EXPECT_TRUE(b.link.pump());
  ASSERT_EQ(record().state.periods.last_handled, at(10)) << "b has said what it knows";
  const Written written = b.write(start(*told.periods, at(20)));
  ASSERT_EQ(written.how, How::newer);
  EXPECT_GT(written.periods->first_seen, at(20));
  EXPECT_EQ(active(), 0);
}

TEST_F(ClusterLedgerTest, WhatIsNoRecordIsSetAsideAndReplacedByWhatIsKnown) {
  const JobState periods = a.load(now(clock)).periods;
  (void)ask({"HSET", keys.state(), "job", "rubbish"});
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::done);
  EXPECT_EQ(ask({"HGET", keys.state(), "corrupt\njob"}).text, "rubbish");
  EXPECT_EQ(record().state.periods.first_seen, at(1));
}

TEST_F(ClusterLedgerTest, WhatIsNoRecordIsBegunAnewByAHostThatKnowsNothing) {
  (void)ask({"HSET", keys.state(), "job", "rubbish"});
  const KnownJob known = a.load(now(clock));
  EXPECT_TRUE(known.unusable.empty());
  EXPECT_GE(known.periods.first_seen, at(1));
  EXPECT_EQ(ask({"HGET", keys.state(), "corrupt\njob"}).text, "rubbish");
}

TEST_F(ClusterLedgerTest, ARecordOfALaterVersionIsNotUsed) {
  (void)ask({"HSET", keys.state(), "job", R"({"Revision":5,"Version":"99","Identity":"job"})"});
  EXPECT_FALSE(a.load(now(clock)).unusable.empty());
}

TEST_F(ClusterLedgerTest, ARecordThatHasGoneBackIsNotAdopted) {
  const JobState periods = a.load(now(clock)).periods;
  const std::string old = ask({"HGET", keys.state(), "job"}).text;
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  end(run_id(at(10)));
  (void)ask({"HSET", keys.state(), "job", old});  // as after a failover
  go_to(at(20));
  const Written written = a.write(start(periods, at(20)));
  EXPECT_EQ(written.how, How::newer);
  EXPECT_EQ(written.periods->last_handled, at(10));
  EXPECT_EQ(record().state.periods.last_handled, at(10));
  EXPECT_EQ(a.lost_writes, 1);
}

TEST_F(ClusterLedgerTest, WhenTheServerForgetsAllHostsSayWhatTheyKnowBeforeAnythingStarts) {
  const JobState periods = a.load(now(clock)).periods;
  (void)b.load(now(clock));
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  a.link.look();
  b.link.look();
  (void)ask({"FLUSHALL"});
  b.while_waiting = [this] {
    a.link.look();  // notices, and asserts
    EXPECT_TRUE(a.link.pump());
  };
  // b puts back what it knows, judges again by that, and is told what a knows.
  Written written = b.write(start(periods, at(10)));
  if (written.how == How::newer && !written.periods->last_handled) {
    written = b.write(start(*written.periods, at(10)));
  }
  EXPECT_EQ(written.how, How::newer) << "b has never heard of the run, and does not run it";
  EXPECT_GT(b.waited, 1s);
  EXPECT_EQ(record().state.periods.last_handled, at(10));
}

TEST_F(ClusterLedgerTest, AJobWithoutLockHasARecordOnEachHost) {
  for (LedgerHost* host : {&a, &b}) host->set_unlocked();
  const JobState periods = a.load(now(clock)).periods;
  (void)b.load(now(clock));
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::done);
  LedgerStep other = start(periods, at(10));
  other.started[0].run_id = "of b";
  EXPECT_EQ(b.write(other).how, How::done);
  EXPECT_EQ(record("job\na").state.periods.last_handled, at(10));
  EXPECT_EQ(record("job\nb").state.periods.last_handled, at(10));
}

TEST_F(ClusterLedgerTest, AJobThatLosesItsLockIsJudgedByTheOtherRecord) {
  const JobState periods = a.load(now(clock)).periods;
  a.set_unlocked();
  go_to(at(10));
  EXPECT_EQ(a.write(start(periods, at(10))).how, How::newer);
  EXPECT_GT(record("job\na").revision, 0U);
}

TEST_F(ClusterLedgerTest, WhoHasReadAnOlderDefinitionWritesNothingAndReadsAgain) {
  JobState periods = a.load(now(clock)).periods;
  (void)b.load(now(clock));
  go_to(at(5));
  LedgerStep edit;  // a has read another schedule
  edit.identity = "job";
  edit.now.periods = periods;
  edit.now.periods.schedule = ScheduleSeen{99, at(5)};
  ASSERT_EQ(a.write(edit).how, How::done);
  go_to(at(10));
  const Written newer = b.write(start(periods, at(10)));
  ASSERT_EQ(newer.how, How::newer);
  const LedgerStep judged = start(*newer.periods, at(10));  // still by its own schedule
  EXPECT_EQ(b.write(judged).how, How::refused);
  EXPECT_EQ(b.read_again, std::vector<std::string>{"job"});
  // It has read again, and its definition is still another one: the job is left to the others.
  b.set_terms({.locked = true, .lock_name = "lock", .ttl = 10s, .deadline = 1s, .read_at = at(11)});
  EXPECT_EQ(b.write(judged).how, How::refused);
  EXPECT_EQ(b.read_again.size(), 1U);
  EXPECT_EQ(record().state.periods.schedule->hash, 99U);
}

TEST_F(ClusterLedgerTest, RunsAreNotStartedWhenTooFewReplicasHaveTheirClaim) {
  LedgerHost c(*this, "c", {.claim_replicas = 1});
  const JobState periods = c.load(now(clock)).periods;
  go_to(at(10));
  redis.set_replicas(0);
  EXPECT_EQ(c.write(start(periods, at(10))).how, How::unknown);
  EXPECT_FALSE(c.grants.take(run_id(at(10))));
  EXPECT_EQ(active(), 0);
  redis.set_replicas(1);
  go_to(at(20));
  const JobState after = c.load(now(clock)).periods;
  EXPECT_EQ(c.write(start(after, at(20))).how, How::done);
}

TEST_F(ClusterLedgerTest, ResetBeginsTheRecordAnewForAll) {
  const JobState periods = a.load(now(clock)).periods;
  (void)b.load(now(clock));
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  end(run_id(at(10)));
  ASSERT_EQ(b.write(start(periods, at(10))).how, How::newer);
  const Result<KnownJob> anew = a.ledger->reset("job", now(clock), "");
  ASSERT_TRUE(anew);
  EXPECT_EQ(anew->periods.first_seen, at(11));
  EXPECT_FALSE(anew->periods.last_handled);
  go_to(at(20));
  const Written other = b.write(start(periods, at(20)));
  EXPECT_EQ(other.how, How::newer);
  EXPECT_FALSE(other.periods->last_handled) << "it was meant, and is no lost write";
  EXPECT_EQ(b.lost_writes, 0);
}

TEST_F(ClusterLedgerTest, RecordsThatWereFetchedBeforeNeedNoQuestion) {
  const std::vector<std::string> names = {"job", "other"};
  ASSERT_TRUE(a.ledger->prefetch(names, {}, now(clock)));
  const std::uint64_t before = redis.commands();
  ASSERT_TRUE(a.ledger->load(names, now(clock)));
  EXPECT_EQ(redis.commands(), before);
  ASSERT_TRUE(a.ledger->load(names, now(clock)));
  EXPECT_GT(redis.commands(), before);
}

TEST_F(ClusterLedgerTest, RecordsAreFetchedByTheTermsThatTheJobsWillHave) {
  const std::vector<std::string> names = {"job"};
  const JobTerms without_lock{.locked = false, .lock_name = "", .ttl = 10s, .read_at = kLedgerStart};
  ASSERT_TRUE(a.ledger->prefetch(names, {{"job", without_lock}}, now(clock)));
  EXPECT_GT(record("job\na").revision, 0U);
  EXPECT_EQ(record("job").revision, 0U);
  a.set_terms(without_lock);
  const std::uint64_t before = redis.commands();
  ASSERT_TRUE(a.ledger->load(names, now(clock)));
  EXPECT_EQ(redis.commands(), before);
}

TEST_F(ClusterLedgerTest, AStepThatWasJudgedBeforeARecordWasFetchedBesideItIsToldSo) {
  const JobState periods = a.load(now(clock)).periods;
  ASSERT_EQ(b.load(now(clock)).periods, periods);
  go_to(at(10));
  ASSERT_EQ(a.write(start(periods, at(10))).how, How::done);
  end(run_id(at(10)));
  (void)ask({"HDEL", keys.rundata(), run_id(at(10))});
  ASSERT_TRUE(b.ledger->prefetch(std::vector<std::string>{"job"}, {}, now(clock)));
  const Written other = b.write(start(periods, at(10)));
  ASSERT_EQ(other.how, How::newer);
  EXPECT_EQ(other.periods->last_handled, at(10));
  go_to(at(20));
  EXPECT_EQ(b.write(start(*other.periods, at(20))).how, How::done);
}

TEST_F(ClusterLedgerTest, WhatIsWrittenWhileARecordIsFetchedBesideIsNoLostWrite) {
  const JobState periods = a.load(now(clock)).periods;
  go_to(at(10));
  a.link.before_answer = [&] { EXPECT_EQ(a.write(start(periods, at(10))).how, How::done); };
  ASSERT_TRUE(a.ledger->prefetch(std::vector<std::string>{"job"}, {}, now(clock)));
  EXPECT_EQ(a.lost_writes, 0);
  EXPECT_EQ(record().state.periods.last_handled, at(10));
}

TEST_F(ClusterLedgerTest, ManyRecordsAreReadInPages) {
  LedgerHost c(*this, "c", {.page = 3});
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("job" + std::to_string(i));
  EXPECT_EQ(c.ledger->load(names, now(clock)).value().size(), 100U);
  EXPECT_EQ(c.ledger->load(names, now(clock)).value().size(), 100U);
}

TEST_F(ClusterLedgerTest, KnowsRunsOfOthers) {
  (void)ask({"HSET", keys.rundata(), "x", "{}"});
  EXPECT_EQ(a.ledger->has_run("job", "x").value(), true);
  EXPECT_EQ(a.ledger->has_run("job", "y").value(), false);
}

}  // namespace
}  // namespace kron::cluster
