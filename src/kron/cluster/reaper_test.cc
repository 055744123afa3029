#include "kron/cluster/reaper.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/cluster/redis_rig.h"
#include "kron/cluster/rundata.h"
#include "kron/cluster/scripts.h"
#include "kron/json/document.h"

namespace kron::cluster {
namespace {

struct ReaperTest : ::testing::Test {
  // A run that somebody has claimed and keeps alive until `beat` seconds from the start of the test.
  void run(const std::string& id, const std::string& job, int beat, Dialect dialect = Dialect::seed) {
    const std::string blob = running_blob(dialect, "vm", job).with("1800000000.250000");
    rig.ask({"HSET", rig.keys.rundata(), id, blob});
    rig.ask({"ZADD", rig.keys.active(), std::to_string(1'800'000'000 + beat), id});
    rig.ask({"HSET", rig.keys.claims(), id, "owner 7"});
  }
  Reaper::Reaped reap() {
    const Result<Reaper::Reaped> reaped = Reaper::reap(rig.link, rig.keys, options, rig.log);
    EXPECT_TRUE(reaped) << reaped.error().message;
    return reaped.value_or(Reaper::Reaped{});
  }
  std::vector<std::string> active() { return rig.texts({"ZRANGE", rig.keys.active(), "0", "-1"}); }
  RunData data(const std::string& id) { return parse_rundata(rig.text({"HGET", rig.keys.rundata(), id})).value(); }

  testing::RedisRig rig;
  Reaper::Options options;
};

using RunIds = std::vector<std::string>;

TEST_F(ReaperTest, FreezesRunsWithoutAHeartbeatAndOnlyThose) {
  run("dead", "a", 0);
  run("live", "a", 2);
  rig.ask({"ZADD", rig.keys.output("dead"), "1", "one", "2", "two", "3", std::string("one\0003", 5)});
  rig.clock.advance(std::chrono::seconds(46));
  EXPECT_EQ(reap(), (Reaper::Reaped{true, 1, 0}));
  EXPECT_EQ(active(), RunIds{"live"});
  const RunData dead = data("dead");
  EXPECT_EQ(dead.status, RunStatus::frozen);
  EXPECT_EQ(dead.retcode, std::nullopt);
  EXPECT_EQ(dead.host, "vm");
  EXPECT_EQ(dead.start_time, "1800000000.250000");
  EXPECT_EQ(dead.output, "one\ntwo\none\n");
  ASSERT_TRUE(dead.duration);
  EXPECT_NEAR(*dead.duration, 45.75, 0.001);
  EXPECT_EQ(rig.texts({"ZRANGE", rig.keys.results("fail"), "0", "-1"}), RunIds{"dead"});
  EXPECT_EQ(rig.texts({"ZRANGE", rig.keys.results("a", "fail"), "0", "-1"}), RunIds{"dead"});
  EXPECT_EQ(rig.ask({"ZCARD", rig.keys.results("success")}).integer, 0);
  EXPECT_EQ(rig.texts({"HKEYS", rig.keys.claims()}), RunIds{"live"});
  EXPECT_EQ(rig.ask({"EXISTS", rig.keys.reaper_lock()}).integer, 0);
  ASSERT_EQ(rig.ask({"XLEN", rig.keys.outcomes()}).integer, 1);
  const RedisValue entries = rig.ask({"XRANGE", rig.keys.outcomes(), "-", "+"});
  const Result<Node> outcome = parse_json(entries.items.at(0).items.at(1).items.at(1).text);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(*outcome->find("detail")->as<std::string>(), "frozen: no heartbeat");
  EXPECT_EQ(*outcome->find("runId")->as<std::string>(), "dead");
  EXPECT_EQ(reap(), (Reaper::Reaped{true, 0, 0}));
}

TEST_F(ReaperTest, WritesCronkensBlobAndReadsItsListsInItsDialect) {
  options.dialect = Dialect::cronken;
  options.last_lines = 2;
  run("dead", "a", 0, Dialect::cronken);
  rig.ask({"RPUSH", rig.keys.output("dead"), "one\n", "two\n", "three"});
  rig.clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(reap().frozen, 1U);
  EXPECT_EQ(data("dead").output, "two\nthree");
  EXPECT_EQ(parse_json(rig.text({"HGET", rig.keys.rundata(), "dead"}))->find("retcode"), nullptr);
}

TEST_F(ReaperTest, KeepsWhatOthersHavePutIntoTheBlob) {
  for (const Dialect dialect : {Dialect::seed, Dialect::cronken}) {
    options.dialect = dialect;
    rig.ask(
        {"HSET", rig.keys.rundata(), "dead",
         R"({"trace":{"a":[1.50]},"host":"h","job_name":"a","status":"running","start_time":"1800000000.25","x":"}"})"});
    rig.ask({"ZADD", rig.keys.active(), "1800000000", "dead"});
    rig.clock.advance(std::chrono::seconds(60));
    EXPECT_EQ(reap().frozen, 1U);
    const std::string blob = rig.text({"HGET", rig.keys.rundata(), "dead"});
    EXPECT_NE(blob.find(R"("trace":{"a":[1.50]},"x":"}")"), std::string::npos) << blob;
    ASSERT_TRUE(parse_json(blob)) << blob;
    EXPECT_EQ(data("dead").status, RunStatus::frozen);
  }
}

TEST_F(ReaperTest, RemovesWhatHasNoDataOrCannotBeRead) {
  rig.ask({"ZADD", rig.keys.active(), "1800000000", "none", "1800000000", "junk"});
  rig.ask({"HSET", rig.keys.rundata(), "junk", "?"});
  run("dead", "a", 0);
  rig.ask({"SET", rig.keys.output("dead"), "of another kind"});
  rig.clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(reap().frozen, 1U);
  EXPECT_TRUE(active().empty());
  EXPECT_EQ(rig.text({"HGET", rig.keys.rundata(), "junk"}), "?");
}

TEST_F(ReaperTest, ManyRunsAreFrozenInOnePass) {
  for (int i = 0; i < 250; ++i) run("run" + std::to_string(i), "a", 0);
  rig.clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(reap().frozen, 250U);
  EXPECT_TRUE(active().empty());
  EXPECT_EQ(rig.ask({"HLEN", rig.keys.claims()}).integer, 0);
}

TEST_F(ReaperTest, DropsInstancesAndClaimsThatAreGone) {
  rig.ask({"ZADD", rig.keys.instances(), "1800000000", "old", "1800000002", "new"});
  rig.ask({"HSET", rig.keys.claims(), "ended by cronken", "owner 7"});
  rig.clock.advance(std::chrono::seconds(46));
  reap();
  EXPECT_EQ(rig.texts({"ZRANGE", rig.keys.instances(), "0", "-1"}), RunIds{"new"});
  EXPECT_EQ(rig.ask({"HLEN", rig.keys.claims()}).integer, 0);
}

TEST_F(ReaperTest, OneHostAtATime) {
  run("dead", "a", 0);
  rig.clock.advance(std::chrono::seconds(60));
  rig.ask({"SET", rig.keys.reaper_lock(), "other", "PX", "10000"});
  EXPECT_EQ(reap(), (Reaper::Reaped{false, 0, 0}));
  EXPECT_EQ(rig.text({"GET", rig.keys.reaper_lock()}), "other");
  rig.clock.advance(std::chrono::seconds(11));
  EXPECT_EQ(reap().frozen, 1U);
}

// A link on which something happens just before runs are ended.
class LinkBeforeEnd : public Link {
 public:
  LinkBeforeEnd(Link& link, std::function<void()> before_end) : link_(link), before_end_(std::move(before_end)) {}

  void post(RedisCommand command, Urgency urgency, Answered answered) override {
    link_.post(std::move(command), urgency, std::move(answered));
  }
  std::vector<TimedReply> ask(std::vector<RedisCommand> commands, Nanoseconds timeout) override {
    if (std::ranges::find(commands.front(), script_named("end").sha) != commands.front().end()) before_end_();
    return link_.ask(std::move(commands), timeout);
  }
  [[nodiscard]] bool is_up() const override { return link_.is_up(); }

 private:
  Link& link_;
  std::function<void()> before_end_;
};

TEST_F(ReaperTest, ARunThatBeatsAgainInTimeGoesOn) {
  run("slow", "a", 0);
  rig.clock.advance(std::chrono::seconds(60));
  LinkBeforeEnd link(rig.link, [this] { rig.ask({"ZADD", rig.keys.active(), "1800000060", "slow"}); });
  const Result<Reaper::Reaped> reaped = Reaper::reap(link, rig.keys, options, rig.log);
  ASSERT_TRUE(reaped) << reaped.error().message;
  EXPECT_EQ(*reaped, (Reaper::Reaped{true, 0, 1}));
  EXPECT_EQ(active(), RunIds{"slow"});
  EXPECT_EQ(data("slow").status, RunStatus::running);
}

// Whichever command of a pass is lost, or its answer: the next pass ends it, and once.
TEST_F(ReaperTest, ALostCommandOrAnswerLeavesTheRestToTheNextPass) {
  using How = kron::testing::RedisFate::How;
  for (const How how : {How::request_lost, How::reply_lost}) {
    for (std::uint64_t n = 0; n < 8; ++n) {
      rig.ask({"DEL", rig.keys.rundata(), rig.keys.active(), rig.keys.claims(), rig.keys.outcomes(),
               rig.keys.reaper_lock()});
      run("dead", "a", 0);
      rig.clock.advance(std::chrono::seconds(60));
      ASSERT_TRUE(rig.link.pump());
      rig.redis.plan(n, {.how = how});
      (void)Reaper::reap(rig.link, rig.keys, options, rig.log);
      rig.clock.advance(std::chrono::seconds(11));
      (void)Reaper::reap(rig.link, rig.keys, options, rig.log);
      EXPECT_TRUE(active().empty()) << n;
      EXPECT_EQ(data("dead").status, RunStatus::frozen) << n;
      EXPECT_EQ(rig.ask({"XLEN", rig.keys.outcomes()}).integer, 1) << n;
    }
  }
}

TEST_F(ReaperTest, TicksAfterEachCadence) {
  run("dead", "a", 0);
  Reaper reaper({.link = rig.link, .keys = rig.keys, .log = rig.log, .aside = rig.aside()}, options);
  const auto tick = [&] { return reaper.tick(rig.clock.monotonic()); };
  EXPECT_EQ(tick(), rig.clock.monotonic() + std::chrono::seconds(30));
  rig.clock.advance(std::chrono::seconds(30));
  tick();
  EXPECT_EQ(active(), RunIds{"dead"});
  rig.clock.advance(std::chrono::seconds(30));
  rig.is_held = true;
  tick();
  rig.clock.advance(std::chrono::seconds(30));
  tick();
  EXPECT_EQ(rig.held.size(), 1U);  // one pass at a time
  rig.do_aside();
  EXPECT_TRUE(active().empty());
}

}  // namespace
}  // namespace kron::cluster
