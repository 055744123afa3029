#include "kron/cluster/link_thread.h"

#include <functional>
#include <future>
#include <gtest/gtest.h>

#include "kron/cluster/calls.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_redis.h"

namespace kron::cluster {
namespace {

using namespace std::chrono_literals;
using kron::testing::FakeRedis;
using kron::testing::RedisFate;
using LinkHow = RedisReply::How;

constexpr auto kLimit = 60s;

// For what is seen by looking alone.
bool comes_true(const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + kLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class LinkThreadTest : public ::testing::Test {
 protected:
  LinkThreadTest() {
    link.listen({.on_up =
                     [this] {
                       const std::lock_guard lock(mutex);
                       ++ups;
                       changed.notify_all();
                     },
                 .on_down = [this](const Error&) { ++downs; },
                 .on_time = [this](const TimeSample& sample) { cluster_clock.note(sample); },
                 .on_lost_writes = [this](const FenceWatch::Lost&) { ++lost; }});
  }

  void start() {
    ASSERT_TRUE(link.start());
    wait_for_ups(1);
  }
  void wait_for_ups(int count) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kLimit, [&] { return ups >= count; }));
  }
  TimedReply post_and_wait(RedisCommand command, Link::Urgency urgency = Link::Urgency::urgent) {
    auto promise = std::make_shared<std::promise<TimedReply>>();
    auto future = promise->get_future();
    link.post(std::move(command), urgency, [promise](const TimedReply& reply) { promise->set_value(reply); });
    if (future.wait_for(kLimit) != std::future_status::ready) return {{.how = LinkHow::lost, .why = "the test waited"}};
    return future.get();
  }

  RealClock clock;
  FakeRedis redis{[this] { return clock.wall(); }};
  kron::testing::CapturingLog log;
  Keys keys{"{cronken}"};
  ClusterClock cluster_clock{clock};
  std::mutex mutex;
  std::condition_variable changed;
  int ups = 0;
  std::atomic<int> downs{0};
  std::atomic<int> lost{0};
  LinkThread link{redis.connection(), keys, clock, log, {.first_pause = 1ms, .longest_pause = 10ms, .quiet = 10ms}};
};

TEST_F(LinkThreadTest, ARightThatIsTakenAwayIsSaidOnceAndKnownUntilItIsBack) {
  start();
  EXPECT_EQ(link.why_forbidden(), "");
  redis.deny("GET");
  EXPECT_EQ(post_and_wait({"GET", "k"}).reply.how, LinkHow::error);
  EXPECT_EQ(post_and_wait({"GET", "k"}).reply.how, LinkHow::error);
  EXPECT_NE(link.why_forbidden().find("NOPERM"), std::string::npos);
  EXPECT_EQ(log.lines_of("redis_forbids").size(), 1U);
  EXPECT_TRUE(link.is_up());
  redis.allow("GET");
  EXPECT_TRUE(post_and_wait({"GET", "k"}).reply.is_reply());
  EXPECT_EQ(link.why_forbidden(), "");
  EXPECT_EQ(log.lines_of("redis_allows_again").size(), 1U);
}

TEST_F(LinkThreadTest, AnswersWhatIsAskedAndPosted) {
  start();
  const std::vector<TimedReply> replies = link.ask({{"SET", "k", "v"}, {"GET", "k"}}, kLimit);
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[1].reply.value.text, "v");
  EXPECT_LE(replies[1].sent, replies[1].received);
  EXPECT_EQ(post_and_wait({"GET", "k"}).reply.value.text, "v");
  EXPECT_EQ(post_and_wait({"GET", "k"}, Link::Urgency::bulk).reply.value.text, "v");
  EXPECT_TRUE(link.is_up());
}

TEST_F(LinkThreadTest, SetsTheClockWhileNothingIsAsked) {
  start();
  EXPECT_TRUE(comes_true([&] { return cluster_clock.is_set(); }));
}

TEST_F(LinkThreadTest, WhatWasPostedIsSentAgainUntilItIsAnsweredInItsOrder) {
  start();
  redis.decide([count = 0](const RedisCommand& command) mutable -> std::optional<RedisFate> {
    if (command[0] != "RPUSH" || ++count > 2) return std::nullopt;
    return RedisFate{.how = count == 1 ? RedisFate::How::request_lost : RedisFate::How::not_sent};
  });
  link.post({"RPUSH", "list", "1"}, Link::Urgency::urgent, {});
  link.post({"RPUSH", "list", "2"}, Link::Urgency::urgent, {});
  EXPECT_TRUE(post_and_wait({"RPUSH", "list", "3"}).reply.is_reply());
  const RedisValue list = redis.execute({"LRANGE", "list", "0", "-1"}).value;
  ASSERT_EQ(list.items.size(), 3U);
  EXPECT_EQ(list.items[0].text, "1");
  EXPECT_EQ(list.items[2].text, "3");
  EXPECT_GE(downs, 1);
}

TEST_F(LinkThreadTest, AQuestionIsNotSentAgain) {
  start();
  redis.decide([](const RedisCommand& command) -> std::optional<RedisFate> {
    if (command[0] != "INCR") return std::nullopt;
    return RedisFate{.how = RedisFate::How::reply_lost};
  });
  EXPECT_EQ(link.ask({{"INCR", "n"}}, kLimit)[0].reply.how, LinkHow::lost);
  wait_for_ups(2);
  EXPECT_EQ(redis.execute({"GET", "n"}).value.text, "1");
}

TEST_F(LinkThreadTest, IsDownWhileNobodyIsThereAndSaysSoAtOnce) {
  redis.refuse_connections(Error{Code::unreachable, "away"});
  ASSERT_TRUE(link.start());
  EXPECT_EQ(link.ask({{"PING"}}, kLimit)[0].reply.how, LinkHow::not_sent);
  EXPECT_FALSE(link.is_up());
  redis.refuse_connections(std::nullopt);
  wait_for_ups(1);
  EXPECT_TRUE(link.ask({{"PING"}}, kLimit)[0].reply.is_reply());
}

TEST_F(LinkThreadTest, AReplicaIsNotTakenForAMaster) {
  redis.set_read_only(true);
  ASSERT_TRUE(link.start());
  EXPECT_TRUE(comes_true([&] { return !link.why_down().empty(); }));
  EXPECT_FALSE(link.is_up());
  redis.set_read_only(false);
  wait_for_ups(1);
}

TEST_F(LinkThreadTest, AMasterThatBecomesAReplicaIsLeft) {
  start();
  redis.set_read_only(true);
  EXPECT_EQ(link.ask({{"SET", "k", "v"}}, kLimit)[0].reply.how, LinkHow::not_sent);
  redis.set_read_only(false);
  wait_for_ups(2);
}

TEST_F(LinkThreadTest, ScriptsThatWereFlushedAreLoadedAgain) {
  start();
  redis.flush_scripts();
  const DefineCall call{.job = "j", .read = "a", .wanted = "b"};
  const std::vector<TimedReply> replies = link.ask({call.command(keys), {"PING"}, call.command(keys)}, kLimit);
  EXPECT_EQ(DefineAnswer::parse(replies[0].reply.value)->word, DefineAnswer::Word::gone);
  EXPECT_EQ(DefineAnswer::parse(replies[2].reply.value)->word, DefineAnswer::Word::gone);
}

TEST_F(LinkThreadTest, NoticesThatWritesWereLostAndRaisesTheCounter) {
  start();
  (void)redis.execute({"SET", keys.fence(), "41"});
  EXPECT_TRUE(link.ask({RaiseCall{}.command(keys)}, kLimit)[0].reply.is_reply());
  (void)redis.execute({"SET", keys.fence(), "5"});
  EXPECT_TRUE(link.ask({RaiseCall{}.command(keys)}, kLimit)[0].reply.is_reply());
  EXPECT_TRUE(comes_true([&] {
    const std::string fence = redis.execute({"GET", keys.fence()}).value.text;
    return std::stoull(fence) >= 41 + RaiseCall::kJump;
  }));
  EXPECT_TRUE(comes_true([&] { return lost >= 1; }));
}

TEST_F(LinkThreadTest, WhatIsLeftWhenItEndsIsAnswered) {
  redis.refuse_connections(Error{Code::unreachable, "away"});
  ASSERT_TRUE(link.start());
  std::promise<LinkHow> how;
  link.post({"PING"}, Link::Urgency::urgent, [&](const TimedReply& reply) { how.set_value(reply.reply.how); });
  link.stop(20ms);
  EXPECT_EQ(how.get_future().get(), LinkHow::not_sent);
}

TEST(LinkTimers, AreCalledOnTheLinksThread) {
  RealClock clock;
  FakeRedis redis([&] { return clock.wall(); });
  kron::testing::CapturingLog log;
  LinkThread link(redis.connection(), Keys("{cronken}"), clock, log);
  std::promise<void> third;
  int calls = 0;
  link.every(1ms, [&] {
    if (++calls == 3) third.set_value();
  });
  ASSERT_TRUE(link.start());
  EXPECT_EQ(third.get_future().wait_for(kLimit), std::future_status::ready);
}

}  // namespace
}  // namespace kron::cluster
