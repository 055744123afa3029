#include "kron/env/real_redis_subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/env/fake/scripted_peer.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using Talk = ScriptedPeer::Talk;

constexpr Nanoseconds kSubscriptionLong = Seconds(60);                     // never reached
constexpr Nanoseconds kSubscriptionShort = std::chrono::milliseconds(50);  // always waited for
const std::vector<std::string> kChannel{"events"};
const std::string kConfirmed = "*3\r\n$9\r\nsubscribe\r\n$6\r\nevents\r\n:1\r\n";
const std::string kPong = "*2\r\n$4\r\npong\r\n$0\r\n\r\n";

std::string message_bytes(const std::string& payload) {
  return "*3\r\n$7\r\nmessage\r\n$6\r\nevents\r\n$" + std::to_string(payload.size()) + "\r\n" + payload + "\r\n";
}

Status subscribed(RealRedisSubscription& subscription) { return subscription.subscribe(kChannel, kSubscriptionLong); }

TEST(RealRedisSubscription, MessagesComeInOrderAndNothingElseIsOne) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    EXPECT_EQ(talk.command(), (RedisCommand{"SUBSCRIBE", "events"}));
    talk.say(kConfirmed + message_bytes("one") + kPong + ":7\r\n*0\r\n*-1\r\n" + message_bytes(""));
    talk.wait_until_closed();
  });
  RealRedisSubscription subscription(peer.url());
  ASSERT_TRUE(subscribed(subscription).has_value());
  EXPECT_EQ(subscription.next(kSubscriptionLong).value(), (RedisMessage{"events", "one"}));
  EXPECT_EQ(subscription.next(kSubscriptionLong).value(), (RedisMessage{"events", ""}));
  EXPECT_EQ(subscription.next(kSubscriptionShort).value(), std::nullopt);
  subscription.close();
  EXPECT_FALSE(subscription.next(kSubscriptionLong).has_value());
}

TEST(RealRedisSubscription, AMessageOfTheFirstChannelBeforeTheLastIsConfirmedIsKept) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(1);
    talk.say(kConfirmed + message_bytes("early") + kConfirmed + message_bytes("late"));
    talk.wait_until_closed();
  });
  RealRedisSubscription subscription(peer.url());
  ASSERT_TRUE(subscription.subscribe(std::vector<std::string>{"events", "more"}, kSubscriptionLong).has_value());
  EXPECT_EQ(subscription.next(kSubscriptionLong).value()->payload, "early");
  EXPECT_EQ(subscription.next(kSubscriptionLong).value()->payload, "late");
}

TEST(RealRedisSubscription, AChannelThatMayNotBeReadIsRefused) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.answer("-NOPERM this user has no permissions to access one of the channels used as arguments\r\n");
    talk.wait_until_closed();
  });
  RealRedisSubscription subscription(peer.url());
  const Status status = subscribed(subscription);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::refused);
  EXPECT_THAT(status.error().message, HasSubstr("NOPERM"));
}

TEST(RealRedisSubscription, ASubscriptionThatIsNotConfirmedEndsInTime) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.wait_until_closed();
  });
  RealRedisSubscription subscription(peer.url());
  const Status status = subscription.subscribe(kChannel, kSubscriptionShort);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Code::unreachable);
}

TEST(RealRedisSubscription, AServerThatClosesOrTalksNonsenseIsAnErrorAndASecondSubscriptionWorks) {
  for (const std::string end : {"", "*3\r\n$7\r\nmess", "HTTP/1.1 200 OK\r\n", "-ERR something\r\n"}) {
    ScriptedPeer peer({[&](Talk& talk) {
                         talk.let_in();
                         talk.answer(kConfirmed + message_bytes("last") + end);
                       },
                       [](Talk& talk) {
                         talk.let_in();
                         talk.answer(kConfirmed + message_bytes("again"));
                         talk.wait_until_closed();
                       }});
    RealRedisSubscription subscription(peer.url());
    ASSERT_TRUE(subscribed(subscription).has_value());
    EXPECT_EQ(subscription.next(kSubscriptionLong).value()->payload, "last");
    const Result<std::optional<RedisMessage>> next = subscription.next(kSubscriptionLong);
    ASSERT_FALSE(next.has_value()) << end;
    EXPECT_EQ(next.error().code, Code::unreachable);
    EXPECT_THAT(next.error().message, HasSubstr("messages may be lost"));
    ASSERT_TRUE(subscribed(subscription).has_value());
    EXPECT_EQ(subscription.next(kSubscriptionLong).value()->payload, "again");
  }
}

TEST(RealRedisSubscription, ASilentServerThatAnswersPingsIsAlive) {
  int pings = 0;
  ScriptedPeer peer([&](Talk& talk) {
    talk.let_in();
    talk.answer(kConfirmed);
    for (; pings < 5; ++pings) {
      EXPECT_EQ(talk.command(), (RedisCommand{"PING"}));
      talk.say(kPong);
    }
    talk.say(message_bytes("after five pings"));
    talk.wait_until_closed();
  });
  RealRedisSubscription subscription(peer.url(), std::chrono::milliseconds(10));
  ASSERT_TRUE(subscribed(subscription).has_value());
  EXPECT_EQ(subscription.next(kSubscriptionLong).value()->payload, "after five pings");
}

TEST(RealRedisSubscription, TwoPingsWithoutAnAnswerAreTheEnd) {
  std::vector<RedisCommand> asked;
  ScriptedPeer peer([&](Talk& talk) {
    talk.let_in();
    talk.answer(kConfirmed);
    while (std::optional<RedisCommand> command = talk.command()) asked.push_back(*command);
  });
  RealRedisSubscription subscription(peer.url(), std::chrono::milliseconds(10));
  ASSERT_TRUE(subscribed(subscription).has_value());
  const Result<std::optional<RedisMessage>> next = subscription.next(kSubscriptionLong);
  ASSERT_FALSE(next.has_value());
  EXPECT_THAT(next.error().message, HasSubstr("no sign of life"));
  peer.finish();
  EXPECT_EQ(asked, (std::vector<RedisCommand>{{"PING"}, {"PING"}}));
}

TEST(RealRedisSubscription, WhoHasNotListenedForLongFirstReadsWhatHasCome) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.answer(kConfirmed + message_bytes("waiting"));
    talk.wait_until_closed();
  });
  // Every moment is one too late for the next sign of life.
  RealRedisSubscription subscription(peer.url(), Nanoseconds(0));
  ASSERT_TRUE(subscribed(subscription).has_value());
  EXPECT_EQ(subscription.next(kSubscriptionLong).value()->payload, "waiting");
}

}  // namespace
}  // namespace kron
