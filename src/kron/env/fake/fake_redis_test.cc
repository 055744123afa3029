#include "kron/env/fake/fake_redis.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

#include "kron/env/fake/fake_clock.h"

namespace kron::testing {
namespace {

using How = RedisReply::How;
using Commands = std::vector<RedisCommand>;

constexpr Nanoseconds kNoWait{0};

class FakeRedisTest : public ::testing::Test {
 protected:
  FakeRedisTest() { EXPECT_TRUE(connection_->connect(kNoWait)); }

  std::vector<RedisReply> call(const Commands& commands) {
    return connection_->call(commands, std::chrono::seconds(3));
  }
  std::vector<How> hows(const Commands& commands) {
    std::vector<How> all;
    for (const RedisReply& reply : call(commands)) all.push_back(reply.how);
    return all;
  }
  std::string text_of(const std::string& key) { return redis_.execute({"GET", key}).value.text; }
  void reconnect() {
    connection_->close();
    ASSERT_TRUE(connection_->connect(kNoWait));
  }

  FakeClock clock_{instant_of(1'700'000'000)};
  FakeRedis redis_{[this] { return clock_.wall(); }};
  std::unique_ptr<RedisConnection> connection_ = redis_.connection();
};

TEST_F(FakeRedisTest, HasTheTimeOfItsTest) {
  clock_.advance(std::chrono::microseconds(42));
  EXPECT_EQ(call({{"TIME"}})[0].value.items[0].text, "1700000000");
  EXPECT_EQ(call({{"TIME"}})[0].value.items[1].text, "42");
  clock_.jump(-std::chrono::hours(1));
  EXPECT_EQ(call({{"EVAL", "return redis.call('TIME')[1]", "0"}})[0].value.text, "1699996400");
}

TEST_F(FakeRedisTest, ForgetsAKeyWhenItsTimeHasPassed) {
  (void)call({{"SET", "a", "1", "PX", "1500"}});
  clock_.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(text_of("a"), "1");
  EXPECT_EQ(call({{"PTTL", "a"}})[0].value.integer, 0);
  clock_.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(call({{"EXISTS", "a"}, {"DBSIZE"}})[1].value.integer, 0);
  EXPECT_EQ(call({{"SET", "a", "2", "NX"}})[0].value.text, "OK");
}

TEST_F(FakeRedisTest, CountsTheCommandsOfConnections) {
  (void)call({{"SET", "a", "1"}, {"EVAL", "redis.call('PING') return redis.call('PING')", "0"}});
  (void)redis_.execute({"SET", "b", "1"});
  EXPECT_EQ(redis_.commands(), 2U);
  EXPECT_EQ(redis_.commands("SET"), 1U);
  EXPECT_EQ(redis_.commands("PING"), 0U);
}

TEST_F(FakeRedisTest, LosesARequestAndTheRestOfItsPipeline) {
  redis_.plan(1, {.how = RedisFate::How::request_lost});
  EXPECT_EQ(hows({{"SET", "a", "1"}, {"SET", "b", "1"}, {"SET", "c", "1"}}),
            (std::vector{How::reply, How::lost, How::lost}));
  EXPECT_EQ(redis_.execute({"DBSIZE"}).value.integer, 1);
  EXPECT_FALSE(connection_->is_connected());
  EXPECT_EQ(hows({{"PING"}}), std::vector{How::not_sent});
}

TEST_F(FakeRedisTest, LosesAnAnswerOfWhatItHasDone) {
  redis_.plan(0, {.how = RedisFate::How::reply_lost});
  EXPECT_EQ(hows({{"SET", "a", "1"}, {"SET", "b", "1"}}), (std::vector{How::lost, How::lost}));
  EXPECT_EQ(redis_.execute({"DBSIZE"}).value.integer, 2);
  reconnect();
  redis_.plan(0, {.how = RedisFate::How::reply_lost, .executes_rest = false});
  EXPECT_EQ(hows({{"SET", "c", "1"}, {"SET", "d", "1"}}), (std::vector{How::lost, How::lost}));
  EXPECT_EQ(redis_.execute({"DBSIZE"}).value.integer, 3);
}

TEST_F(FakeRedisTest, TellsOfWhatWasNeverSent) {
  redis_.plan(1, {.how = RedisFate::How::not_sent});
  EXPECT_EQ(hows({{"SET", "a", "1"}, {"SET", "b", "1"}}), (std::vector{How::reply, How::not_sent}));
  EXPECT_EQ(redis_.execute({"DBSIZE"}).value.integer, 1);
}

TEST_F(FakeRedisTest, ExecutesACopyLaterAlsoWhenItsConnectionIsGone) {
  redis_.plan(0, {.how = RedisFate::How::request_lost, .repeated_after = 2});
  (void)call({{"SET", "a", "old"}});
  reconnect();
  (void)call({{"SET", "a", "new"}});
  EXPECT_EQ(text_of("a"), "new");
  (void)call({{"PING"}});
  EXPECT_EQ(text_of("a"), "old");
}

TEST_F(FakeRedisTest, ExecutesACopyWhenItsTimeHasCome) {
  redis_.plan(0, {.repeated_in = std::chrono::seconds(3)});
  (void)call({{"INCR", "a"}});
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ(text_of("a"), "1");
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(text_of("a"), "2");
}

TEST_F(FakeRedisTest, AsksTheTestWhatBecomesOfACommand) {
  redis_.decide([](const RedisCommand& command) -> std::optional<RedisFate> {
    if (command[0] != "DEL") return std::nullopt;
    return RedisFate{.how = RedisFate::How::reply_lost};
  });
  EXPECT_EQ(hows({{"SET", "a", "1"}, {"DEL", "a"}}), (std::vector{How::reply, How::lost}));
  EXPECT_EQ(redis_.execute({"DBSIZE"}).value.integer, 0);
}

TEST_F(FakeRedisTest, LetsTimePassForWhoWaitsInVain) {
  redis_.on_timeout([this](Nanoseconds timeout) { clock_.advance(timeout); });
  redis_.plan(0, {.how = RedisFate::How::reply_lost});
  (void)call({{"PING"}});
  EXPECT_EQ(now(clock_), instant_of(1'700'000'003));
}

TEST_F(FakeRedisTest, DrawsTheSameFaultsFromTheSameSeed) {
  const auto drawn = [](std::uint64_t seed) {
    FakeRedis redis([] { return WallTime(); }, seed);
    redis.set_faults({.request_lost = 0.1, .not_sent = 0.1, .reply_lost = 0.1, .repeated = 0.2, .connect_fails = 0.2});
    const auto connection = redis.connection();
    std::vector<How> all;
    for (int i = 0; i < 300; ++i) {
      (void)connection->connect(kNoWait);
      for (const RedisReply& reply : connection->call(Commands{{"INCR", "a"}}, kNoWait)) all.push_back(reply.how);
    }
    return std::pair(all, redis.execute({"GET", "a"}).value.text);
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  const std::vector<How> all = drawn(1).first;
  for (const How how : {How::reply, How::lost, How::not_sent}) EXPECT_NE(std::count(all.begin(), all.end(), how), 0);
}

TEST_F(FakeRedisTest, ExecutesWhatCameInAStallWhenItGoesOn) {
  redis_.stall();
  EXPECT_EQ(hows({{"SET", "a", "1"}}), std::vector{How::lost});
  EXPECT_EQ(connection_->connect(kNoWait).error().code, Code::unreachable);
  EXPECT_EQ(text_of("a"), "");
  redis_.go_on();
  EXPECT_EQ(text_of("a"), "1");
  reconnect();
  redis_.stall();
  (void)call({{"SET", "a", "2"}});
  redis_.go_on(true);
  EXPECT_EQ(text_of("a"), "1");
}

TEST_F(FakeRedisTest, ClosesConnectionsWhichNoticeAtTheirNextCall) {
  const auto listener = redis_.subscription();
  ASSERT_TRUE(listener->subscribe(std::vector<std::string>{"c"}, kNoWait));
  redis_.close_connections();
  EXPECT_TRUE(connection_->is_connected());
  EXPECT_EQ(hows({{"SET", "a", "1"}}), std::vector{How::lost});
  EXPECT_EQ(text_of("a"), "");
  EXPECT_FALSE(connection_->is_connected());
  EXPECT_EQ(listener->next(kNoWait).error().code, Code::unreachable);
}

TEST_F(FakeRedisTest, RefusesConnectionsForTheReasonItIsGiven) {
  redis_.refuse_connections(Error{Code::refused, "WRONGPASS"});
  EXPECT_EQ(hows({{"PING"}}), std::vector{How::lost});
  EXPECT_EQ(connection_->connect(kNoWait).error().message, "WRONGPASS");
  redis_.refuse_connections(std::nullopt);
  EXPECT_TRUE(connection_->connect(kNoWait));
}

TEST_F(FakeRedisTest, RestartsWithItsDataButWithoutScripts) {
  (void)call({{"SET", "a", "1"}, {"SCRIPT", "LOAD", "return 1"}});
  redis_.restart();
  EXPECT_EQ(hows({{"PING"}}), std::vector{How::lost});
  reconnect();
  EXPECT_EQ(call({{"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"}})[0].why.substr(0, 8), "NOSCRIPT");
  EXPECT_EQ(text_of("a"), "1");
  redis_.restart_empty();
  EXPECT_EQ(redis_.execute({"DBSIZE"}).value.integer, 0);
}

TEST_F(FakeRedisTest, LosesTheLastWrites) {
  (void)call({{"SET", "before", "1"}});
  redis_.keep_log_of(3);
  const std::string sha1 =
      call({{"SCRIPT", "LOAD", "return redis.call('SET', 'at', redis.call('TIME')[1])"}})[0].value.text;
  for (int i = 1; i <= 20; ++i) {
    clock_.advance(std::chrono::seconds(1));
    (void)call({{"INCR", "n"}, {"GET", "n"}, {"EVALSHA", sha1, "0"}});
  }
  redis_.restart_without(3);
  EXPECT_EQ(text_of("before"), "1");
  EXPECT_EQ(text_of("n"), "19");
  EXPECT_EQ(text_of("at"), "1700000018");
  redis_.restart_without(0);
  EXPECT_EQ(text_of("n"), "19");
}

TEST_F(FakeRedisTest, LosesAllOrNothingOfAScript) {
  redis_.keep_log_of(3);
  const std::string script = "redis.call('INCR', 'n') redis.call('SELECT', 3) redis.call('INCR', 'n') ";
  (void)call({{"EVAL", script, "0"}, {"EVAL", script + "return redis.call('NOSUCH')", "0"}, {"INCR", "last"}});
  redis_.restart_without(1);
  reconnect();
  EXPECT_EQ(call({{"GET", "n"}, {"SELECT", "3"}, {"GET", "n"}})[2].value.text, "2") << "what failed had been written";
  EXPECT_EQ(text_of("n"), "2");
  EXPECT_EQ(text_of("last"), "");
  redis_.restart_without(1);
  reconnect();
  EXPECT_EQ(call({{"SELECT", "3"}, {"GET", "n"}})[1].value.text, "2") << "nothing was written since";
  (void)call({{"SELECT", "0"}, {"EVAL", script, "0"}});
  redis_.restart_without(1);
  reconnect();
  EXPECT_EQ(text_of("n"), "2");
  EXPECT_EQ(call({{"SELECT", "3"}, {"GET", "n"}})[1].value.text, "2");
}

TEST_F(FakeRedisTest, IsReadOnlyFullOrDeniesForAllButTheTest) {
  redis_.set_read_only(true);
  EXPECT_EQ(call({{"SET", "a", "1"}})[0].why, "READONLY You can't write against a read only replica.");
  EXPECT_EQ(call({{"ROLE"}})[0].value.items[0].text, "slave");
  EXPECT_TRUE(redis_.execute({"SET", "a", "1"}).is_reply());
  redis_.set_read_only(false);
  redis_.set_out_of_memory(true);
  EXPECT_EQ(call({{"SET", "a", "1"}})[0].why.substr(0, 4), "OOM ");
  redis_.set_out_of_memory(false);
  redis_.deny("SCRIPT");
  EXPECT_EQ(call({{"SCRIPT", "LOAD", "return 1"}})[0].why.substr(0, 7), "NOPERM ");
  redis_.allow("SCRIPT");
  EXPECT_TRUE(call({{"SCRIPT", "LOAD", "return 1"}})[0].is_reply());
}

TEST_F(FakeRedisTest, GivesMessagesToWhoeverListensThen) {
  const auto listener = redis_.subscription();
  const auto other = redis_.subscription();
  EXPECT_EQ(listener->next(kNoWait).error().code, Code::unreachable);
  ASSERT_TRUE(listener->subscribe(std::vector<std::string>{"c", "d"}, kNoWait));
  ASSERT_TRUE(other->subscribe(std::vector<std::string>{"d"}, kNoWait));
  EXPECT_EQ(call({{"PUBLISH", "c", "1"}})[0].value.integer, 1);
  EXPECT_EQ(call({{"EVAL", "return redis.call('PUBLISH', 'd', '2')", "0"}})[0].value.integer, 2);
  EXPECT_EQ(call({{"PUBLISH", "e", "3"}})[0].value.integer, 0);
  EXPECT_EQ(*listener->next(kNoWait), (RedisMessage{"c", "1"}));
  EXPECT_EQ(*listener->next(kNoWait), (RedisMessage{"d", "2"}));
  EXPECT_EQ(*listener->next(kNoWait), std::nullopt);
  EXPECT_EQ(*other->next(kNoWait), (RedisMessage{"d", "2"}));
  other->close();
  EXPECT_EQ(call({{"PUBLISH", "d", "4"}})[0].value.integer, 1);
}

TEST_F(FakeRedisTest, WakesAListenerOfAnotherThread) {
  const auto listener = redis_.subscription(true);
  ASSERT_TRUE(listener->subscribe(std::vector<std::string>{"c"}, kNoWait));
  std::thread publisher([&] { (void)redis_.execute({"PUBLISH", "c", "1"}); });
  EXPECT_EQ(*listener->next(std::chrono::seconds(10)), (RedisMessage{"c", "1"}));
  publisher.join();
}

TEST_F(FakeRedisTest, AnswersWhatItWasToldOfItself) {
  redis_.set_info("aof_enabled", "0");
  redis_.set_config("appendfsync", "always");
  redis_.set_replicas(2);
  EXPECT_NE(call({{"INFO", "persistence"}})[0].value.text.find("\r\naof_enabled:0\r\n"), std::string::npos);
  EXPECT_EQ(call({{"CONFIG", "GET", "append*"}})[0].value.items[1].text, "always");
  EXPECT_EQ(call({{"WAIT", "1", "100"}})[0].value.integer, 2);
}

}  // namespace
}  // namespace kron::testing
