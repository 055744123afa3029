#include "kron/env/redis_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/env/fake/scripted_peer.h"
#include "kron/env/real_redis_connection.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using How = RedisReply::How;
using Talk = ScriptedPeer::Talk;

constexpr Nanoseconds kLoginLong = Seconds(60);  // never reached
const RedisAddress kNobody{"127.0.0.1", 1};
const std::vector<RedisCommand> kGet{{"GET", "a"}};

std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

// A Sentinel that names this address.
ScriptedPeer::Script naming(const RedisAddress& address) {
  return [address](Talk& talk) {
    EXPECT_EQ(talk.command(), (RedisCommand{"SENTINEL", "get-master-addr-by-name", "mymaster"}));
    talk.say("*2\r\n" + bulk(address.host) + bulk(std::to_string(address.port)));
    talk.wait_until_closed();
  };
}

ScriptedPeer::Script with_role(const std::string& role) {
  return [role](Talk& talk) {
    talk.let_in();
    EXPECT_EQ(talk.command(), (RedisCommand{"ROLE"}));
    talk.say(role);
    talk.answer("+" + std::string("served\r\n"));
    talk.wait_until_closed();
  };
}
const std::string kMaster = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
const std::string kReplica = "*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:1\r\n$9\r\nconnected\r\n:0\r\n";

RedisUrl sentinels(std::vector<RedisAddress> addresses) {
  return {.addresses = std::move(addresses), .master_name = "mymaster"};
}

std::string moved(const std::string& code, const RedisAddress& to) {
  return "-" + code + " 42 " + text_of(to) + "\r\n";
}

TEST(RedisRedirect, IsReadFromTheErrorsOfACluster) {
  const RedisAddress from{"10.0.0.1", 7000};
  const struct {
    std::string_view error;
    std::optional<RedisRedirect> redirect;
  } rows[] = {
      {"MOVED 3999 10.0.0.7:6381", RedisRedirect{RedisRedirect::Kind::moved, {"10.0.0.7", 6381}}},
      {"ASK 3999 10.0.0.7:6381", RedisRedirect{RedisRedirect::Kind::ask, {"10.0.0.7", 6381}}},
      {"MOVED 3999 fe80::7:6381", RedisRedirect{RedisRedirect::Kind::moved, {"fe80::7", 6381}}},
      {"MOVED 3999 node.example:6381", RedisRedirect{RedisRedirect::Kind::moved, {"node.example", 6381}}},
      {"MOVED 3999 :6381", RedisRedirect{RedisRedirect::Kind::moved, {"10.0.0.1", 6381}}},
      {"MOVED 3999 ?:6381", RedisRedirect{RedisRedirect::Kind::moved, {"10.0.0.1", 6381}}},
      {"TRYAGAIN Multiple keys request during rehashing of slot", RedisRedirect{RedisRedirect::Kind::try_again}},
      {"MOVED", {}},
      {"MOVED ", {}},
      {"MOVED 3999", {}},
      {"MOVED 10.0.0.7:6381", {}},
      {"MOVED 3999 10.0.0.7", {}},
      {"MOVED 3999 10.0.0.7:", {}},
      {"MOVED 3999 10.0.0.7:0", {}},
      {"MOVED 3999 10.0.0.7:65536", {}},
      {"MOVED 3999 10.0.0.7:6381x", {}},
      {"MOVED a:1 b", {}},
      {"ERR MOVED 3999 10.0.0.7:6381", {}},
      {"", {}},
  };
  for (const auto& row : rows) EXPECT_EQ(redirect_of(row.error, from), row.redirect) << row.error;
}

TEST(RedisMaster, IsTheFirstThatASentinelNamesAndThatSaysSoItself) {
  ScriptedPeer old_master(with_role(kReplica));
  ScriptedPeer new_master(with_role(kMaster));
  ScriptedPeer first(naming(old_master.address()));
  ScriptedPeer second(naming(old_master.address()));
  ScriptedPeer third(naming(new_master.address()));
  RealRedisConnection connection(sentinels({kNobody, first.address(), second.address(), third.address()}));
  const Status connected = connection.connect(kLoginLong);
  ASSERT_TRUE(connected.has_value()) << connected.error().message;
  EXPECT_EQ(connection.peer(), text_of(new_master.address()));
  EXPECT_EQ(connection.call(kGet, kLoginLong).front().value.text, "served");
}

TEST(RedisMaster, WhoMayNotAskForTheRoleBelievesTheSentinel) {
  ScriptedPeer master(with_role("-NOPERM this user has no permissions to run the 'role' command\r\n"));
  ScriptedPeer sentinel(naming(master.address()));
  EXPECT_TRUE(RealRedisConnection(sentinels({sentinel.address()})).connect(kLoginLong).has_value());
}

TEST(RedisMaster, DuringAFailoverThereIsNone) {
  ScriptedPeer replica(with_role(kReplica));
  ScriptedPeer sentinel(naming(replica.address()));
  const Status connected = RealRedisConnection(sentinels({sentinel.address()})).connect(kLoginLong);
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Code::unreachable);
  EXPECT_THAT(connected.error().message, HasSubstr("failover"));
}

TEST(RedisMaster, ANameThatNoSentinelKnowsIsRefusedEvenWhenOthersAreUnreachable) {
  ScriptedPeer sentinel([](Talk& talk) {
    talk.answer("*-1\r\n");
    talk.wait_until_closed();
  });
  const Status connected = RealRedisConnection(sentinels({kNobody, sentinel.address(), kNobody})).connect(kLoginLong);
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Code::refused);
  EXPECT_THAT(connected.error().message, HasSubstr("knows no master 'mymaster'"));
}

TEST(RedisMaster, ASentinelWithAPasswordGetsThatOfTheServers) {
  ScriptedPeer master([](Talk& talk) {
    talk.answer("+OK\r\n");
    talk.let_in();
    talk.answer(kMaster);
    talk.wait_until_closed();
  });
  ScriptedPeer sentinel([&](Talk& talk) {
    talk.answer("-NOAUTH Authentication required.\r\n");
    EXPECT_EQ(talk.command(), (RedisCommand{"AUTH", "secret"}));
    talk.say("+OK\r\n");
    naming(master.address())(talk);
  });
  RedisUrl url = sentinels({sentinel.address()});
  url.password = "secret";
  EXPECT_TRUE(RealRedisConnection(url).connect(kLoginLong).has_value());
}

TEST(RedisMaster, ASilentSentinelLeavesTimeForTheNext) {
  ScriptedPeer master(with_role(kMaster));
  ScriptedPeer silent([](Talk& talk) { talk.wait_until_closed(); });
  ScriptedPeer sentinel(naming(master.address()));
  const RedisUrl url = sentinels({silent.address(), sentinel.address()});
  EXPECT_TRUE(RealRedisConnection(url).connect(Seconds(4)).has_value());
}

TEST(RedisMaster, IsTheNodeOfAClusterThatHasTheSlot) {
  ScriptedPeer owner([](Talk& talk) {
    talk.let_in();
    talk.answer("+served\r\n");
    talk.wait_until_closed();
  });
  ScriptedPeer any([&](Talk& talk) {
    talk.answer("+OK\r\n");
    EXPECT_EQ(talk.command(), (RedisCommand{"EXISTS", "{kron}:key"}));
    talk.say(moved("MOVED", owner.address()));
    talk.wait_until_closed();
  });
  RealRedisConnection connection(RedisUrl{.addresses = {kNobody, any.address()}}, "{kron}:key");
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  EXPECT_EQ(connection.peer(), text_of(owner.address()));
}

TEST(RedisMaster, AClusterThatSendsUsRoundAndRoundIsGivenUp) {
  std::optional<ScriptedPeer> peer;
  const ScriptedPeer::Script script = [&](Talk& talk) {
    talk.answer("+OK\r\n");
    talk.answer(moved("MOVED", peer->address()));
    talk.wait_until_closed();
  };
  peer.emplace(std::vector<ScriptedPeer::Script>(20, script));
  const Status connected = RealRedisConnection(peer->url(), "{kron}:key").connect(kLoginLong);
  ASSERT_FALSE(connected.has_value());
  EXPECT_THAT(connected.error().message, HasSubstr("from node to node"));
}

TEST(RedisRedirects, AMovedSlotIsFollowedAndTheConnectionStaysThere) {
  ScriptedPeer target([](Talk& talk) {
    talk.let_in();
    EXPECT_EQ(talk.command(), (RedisCommand{"GET", "b"}));
    talk.say("+moved\r\n");
    talk.answer("+stayed\r\n");
    talk.wait_until_closed();
  });
  ScriptedPeer source([&](Talk& talk) {
    talk.let_in();
    talk.take(3);
    talk.say("+first\r\n" + moved("MOVED", target.address()) + "-ERR third\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(source.url());
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  const std::vector<RedisCommand> commands{{"PING"}, {"GET", "b"}, {"GET", "c"}};
  const std::vector<RedisReply> replies = connection.call(commands, kLoginLong);
  EXPECT_EQ(replies[0].value.text, "first");
  EXPECT_EQ(replies[1].value.text, "moved");
  EXPECT_EQ(replies[2].why, "ERR third");
  EXPECT_EQ(connection.peer(), text_of(target.address()));
  EXPECT_EQ(connection.call(kGet, kLoginLong).front().value.text, "stayed");
}

TEST(RedisRedirects, AKeyThatIsOnItsWayIsAskedForAndTheConnectionStaysWhereItIs) {
  ScriptedPeer target([](Talk& talk) {
    talk.let_in();
    EXPECT_EQ(talk.command(), (RedisCommand{"ASKING"}));
    EXPECT_EQ(talk.command(), (RedisCommand{"GET", "a"}));
    talk.say("+OK\r\n+asked\r\n");
    talk.wait_until_closed();
  });
  ScriptedPeer source([&](Talk& talk) {
    talk.let_in();
    talk.answer(moved("ASK", target.address()));
    talk.answer("+here\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(source.url());
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  EXPECT_EQ(connection.call(kGet, kLoginLong).front().value.text, "asked");
  EXPECT_EQ(connection.call(kGet, kLoginLong).front().value.text, "here");
}

TEST(RedisRedirects, WhatHasToBeTriedAgainIsUntilTheTimeIsUp) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    for (int i = 0; i < 3; ++i) talk.answer("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
    talk.answer("+at last\r\n");
    while (talk.command()) talk.say("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  });
  RealRedisConnection connection(peer.url());
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  EXPECT_EQ(connection.call(kGet, kLoginLong).front().value.text, "at last");
  const RedisReply never = connection.call(kGet, std::chrono::milliseconds(100)).front();
  EXPECT_EQ(never.how, How::error);
  EXPECT_THAT(never.why, HasSubstr("TRYAGAIN"));
  EXPECT_TRUE(connection.is_connected());
}

TEST(RedisRedirects, WhatIsMovedToNobodyWasNotSent) {
  ScriptedPeer source([](Talk& talk) {
    talk.let_in();
    talk.answer(moved("MOVED", kNobody));
    talk.wait_until_closed();
  });
  RealRedisConnection connection(source.url());
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  const RedisReply reply = connection.call(kGet, kLoginLong).front();
  EXPECT_EQ(reply.how, How::not_sent);
  EXPECT_THAT(reply.why, HasSubstr("Connection refused"));
  EXPECT_FALSE(connection.is_connected());
}

TEST(RedisRedirects, WhatWasMovedBeforeTheConnectionBrokeWasNotSent) {
  ScriptedPeer source([](Talk& talk) {
    talk.let_in();
    talk.take(2);
    talk.say(moved("MOVED", kNobody));
  });
  RealRedisConnection connection(source.url());
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  const std::vector<RedisCommand> commands{{"GET", "a"}, {"GET", "b"}};
  const std::vector<RedisReply> replies = connection.call(commands, kLoginLong);
  EXPECT_EQ(replies[0].how, How::not_sent);
  EXPECT_EQ(replies[1].how, How::lost);
  EXPECT_FALSE(connection.is_connected());
}

TEST(RedisRedirects, AnAnswerThatIsLostWhereItWasMovedToIsLost) {
  ScriptedPeer target([](Talk& talk) {
    talk.let_in();
    talk.take(1);
  });
  ScriptedPeer source([&](Talk& talk) {
    talk.let_in();
    talk.answer(moved("MOVED", target.address()));
    talk.wait_until_closed();
  });
  RealRedisConnection connection(source.url());
  ASSERT_TRUE(connection.connect(kLoginLong).has_value());
  EXPECT_EQ(connection.call(kGet, kLoginLong).front().how, How::lost);
  EXPECT_FALSE(connection.is_connected());
}

}  // namespace
}  // namespace kron
