#include "kron/env/real_redis_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/env/fake/scripted_peer.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using How = RedisReply::How;
using Talk = ScriptedPeer::Talk;

constexpr Nanoseconds kLong = Seconds(60);                      // never reached
constexpr Nanoseconds kShort = std::chrono::milliseconds(100);  // always waited for
const std::vector<RedisCommand> kOne{{"GET", "a"}};
const std::vector<RedisCommand> kTwo{{"GET", "a"}, {"GET", "b"}};
const std::vector<RedisCommand> kThree{{"GET", "a"}, {"GET", "b"}, {"GET", "c"}};

std::vector<How> hows(const std::vector<RedisReply>& replies) {
  std::vector<How> all;
  for (const RedisReply& reply : replies) all.push_back(reply.how);
  return all;
}

std::vector<std::string> texts(const std::vector<RedisReply>& replies) {
  std::vector<std::string> all;
  for (const RedisReply& reply : replies) all.push_back(reply.is_reply() ? reply.value.text : reply.why);
  return all;
}

// Connects, and gives what became of the commands.
std::vector<RedisReply> call_once(RealRedisConnection& connection, const std::vector<RedisCommand>& commands,
                                  Nanoseconds timeout = kLong) {
  const Status connected = connection.connect(kLong);
  EXPECT_TRUE(connected.has_value()) << connected.error().message;
  return connection.call(commands, timeout);
}

TEST(RealRedisConnection, AnswersComeInOrderAndErrorsAreTheirOwn) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(3);
    talk.say("+one\r\n-WRONGTYPE two\r\n$5\r\nthree\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(peer.url());
  const std::vector<RedisReply> replies = call_once(connection, kThree);
  EXPECT_EQ(hows(replies), (std::vector{How::reply, How::error, How::reply}));
  EXPECT_EQ(texts(replies), (std::vector<std::string>{"one", "WRONGTYPE two", "three"}));
  EXPECT_TRUE(connection.is_connected());
  EXPECT_EQ(connection.peer(), text_of(peer.address()));
  EXPECT_TRUE(connection.call({}, kLong).empty());
}

TEST(RealRedisConnection, WithoutAConnectionNothingIsSent) {
  RealRedisConnection connection(RedisUrl{.addresses = {{"127.0.0.1", 1}}});
  EXPECT_FALSE(connection.is_connected());
  EXPECT_EQ(hows(connection.call(kTwo, kLong)), (std::vector{How::not_sent, How::not_sent}));
  const Status connected = connection.connect(kLong);
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Code::unreachable);
  EXPECT_THAT(connected.error().message, HasSubstr("Redis at 127.0.0.1:1: Connection refused"));
}

TEST(RealRedisConnection, WhatWasNotAnsweredWhenTheServerClosesIsLost) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(3);
    talk.say("+one\r\n$5\r\ntw");
  });
  RealRedisConnection connection(peer.url());
  const std::vector<RedisReply> replies = call_once(connection, kThree);
  EXPECT_EQ(hows(replies), (std::vector{How::reply, How::lost, How::lost}));
  EXPECT_THAT(replies[1].why, HasSubstr("closed the connection"));
  EXPECT_FALSE(connection.is_connected());
}

TEST(RealRedisConnection, AResetIsALossToo) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(1);
    talk.reset();
  });
  RealRedisConnection connection(peer.url());
  EXPECT_EQ(hows(call_once(connection, kTwo)), (std::vector{How::lost, How::lost}));
  EXPECT_FALSE(connection.is_connected());
}

TEST(RealRedisConnection, SilenceIsALossAndALateAnswerNeverBelongsToAnotherQuestion) {
  ScriptedPeer peer({[](Talk& talk) {
                       talk.let_in();
                       talk.take(1);
                       talk.wait_until_closed();
                       talk.say("+late\r\n");
                     },
                     [](Talk& talk) {
                       talk.let_in();
                       talk.answer("+second\r\n");
                     }});
  RealRedisConnection connection(peer.url());
  const std::vector<RedisReply> replies = call_once(connection, kOne, kShort);
  EXPECT_EQ(hows(replies), (std::vector{How::lost}));
  EXPECT_THAT(replies[0].why, HasSubstr("no answer in time"));
  EXPECT_FALSE(connection.is_connected());
  EXPECT_EQ(texts(call_once(connection, kOne)), (std::vector<std::string>{"second"}));
}

TEST(RealRedisConnection, WithoutTimeNothingIsSentAndTheConnectionStays) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.answer("+one\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(peer.url());
  EXPECT_EQ(hows(call_once(connection, kTwo, Nanoseconds(0))), (std::vector{How::not_sent, How::not_sent}));
  EXPECT_EQ(texts(call_once(connection, kOne)), (std::vector<std::string>{"one"}));
}

TEST(RealRedisConnection, AnAnswerThatDripsForEverEndsInTime) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(1);
    talk.say("$100000000\r\n");
    // Ends when the client has closed.
    for (int i = 0; i < 20'000; ++i) talk.say(std::string(1000, 'x'));
  });
  RealRedisConnection connection(peer.url());
  EXPECT_EQ(hows(call_once(connection, kOne, std::chrono::milliseconds(5))), (std::vector{How::lost}));
}

TEST(RealRedisConnection, OnAConnectionThatWasClosedMeanwhileNothingIsSent) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.answer("+one\r\n");
  });
  RealRedisConnection connection(peer.url());
  EXPECT_EQ(hows(call_once(connection, kOne)), (std::vector{How::reply}));
  peer.finish();
  EXPECT_EQ(hows(connection.call(kTwo, kLong)), (std::vector{How::not_sent, How::not_sent}));
  EXPECT_FALSE(connection.is_connected());
}

TEST(RealRedisConnection, BytesThatNobodyAskedForEndTheConnection) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(1);
    talk.say("+one\r\n+more\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(peer.url());
  EXPECT_EQ(texts(call_once(connection, kOne)), (std::vector<std::string>{"one"}));
  // Both answers may have come together, or the second after the call.
  if (connection.is_connected()) {
    for (std::vector<How> last{How::lost}; connection.is_connected();) {
      last = hows(connection.call(kOne, kLong));
      EXPECT_NE(last, (std::vector{How::reply}));
    }
  }
}

TEST(RealRedisConnection, AServerThatNeverReadsIsGivenUpAndTheLastCommandsAreKnownToBeUnsent) {
  std::vector<RedisCommand> large(40, RedisCommand{"SET", "a", std::string(1 << 20, 'x')});
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  ScriptedPeer never([&](Talk& talk) {
    talk.let_in();
    char byte = 0;
    (void)!::read(gate[0], &byte, 1);
    talk.close();
  });
  RealRedisConnection connection(never.url());
  const std::vector<RedisReply> replies = call_once(connection, large, kShort);
  ::close(gate[1]);
  EXPECT_EQ(replies.front().how, How::lost);
  EXPECT_EQ(replies.back().how, How::not_sent);
  const auto first_unsent =
      std::find_if(replies.begin(), replies.end(), [](const RedisReply& reply) { return reply.how == How::not_sent; });
  EXPECT_TRUE(
      std::all_of(first_unsent, replies.end(), [](const RedisReply& reply) { return reply.how == How::not_sent; }));
  EXPECT_FALSE(connection.is_connected());
  never.finish();
  ::close(gate[0]);
}

TEST(RealRedisConnection, GarbageIsALossThatSaysSo) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.take(2);
    talk.say("+one\r\nHTTP/1.1 400 Bad Request\r\n\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(peer.url());
  const std::vector<RedisReply> replies = call_once(connection, kTwo);
  EXPECT_EQ(hows(replies), (std::vector{How::reply, How::lost}));
  EXPECT_THAT(replies[1].why, HasSubstr("is that a Redis server?"));
  EXPECT_FALSE(connection.is_connected());
}

TEST(RealRedisConnection, AnErrorOfTheWrongServerIsReportedAndClosesTheConnection) {
  for (const std::string error :
       {"READONLY You can't write against a read only replica.", "LOADING Redis is loading the dataset in memory",
        "MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down",
        "ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write"}) {
    ScriptedPeer peer([&](Talk& talk) {
      talk.let_in();
      talk.take(2);
      talk.say("-" + error + "\r\n+two\r\n");
      talk.wait_until_closed();
    });
    RealRedisConnection connection(peer.url());
    const std::vector<RedisReply> replies = call_once(connection, kTwo);
    EXPECT_EQ(texts(replies), (std::vector<std::string>{error, "two"}));
    EXPECT_EQ(hows(replies), (std::vector{How::error, How::reply}));
    EXPECT_FALSE(connection.is_connected()) << error;
  }
}

TEST(RealRedisConnection, OtherErrorsDoNotCloseIt) {
  ScriptedPeer peer([](Talk& talk) {
    talk.let_in();
    talk.answer("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(peer.url());
  EXPECT_EQ(hows(call_once(connection, kOne)), (std::vector{How::error}));
  EXPECT_TRUE(connection.is_connected());
}

TEST(RealRedisConnection, LogsInWithUserPasswordDatabaseAndName) {
  std::vector<RedisCommand> seen;
  ScriptedPeer peer([&](Talk& talk) {
    for (int i = 0; i < 4; ++i) seen.push_back(talk.command().value());
    talk.say("+OK\r\n+OK\r\n+OK\r\n:0\r\n");
    talk.wait_until_closed();
  });
  RedisUrl url = peer.url();
  url.user = "kron";
  url.password = "secret";
  url.db = 3;
  RealRedisConnection connection(url, "{kron}:key");
  ASSERT_TRUE(connection.connect(kLong).has_value());
  connection.close();
  peer.finish();
  EXPECT_EQ(seen,
            (std::vector<RedisCommand>{
                {"AUTH", "kron", "secret"}, {"SELECT", "3"}, {"CLIENT", "SETNAME", "kron"}, {"EXISTS", "{kron}:key"}}));
}

TEST(RealRedisConnection, ALoginThatFailsSaysWhetherToWaitOrToCure) {
  const struct {
    std::string answers;
    Code code;
    std::string_view message;
  } rows[] = {
      {"-WRONGPASS invalid username-password pair\r\n-NOAUTH a\r\n-NOAUTH b\r\n", Code::refused, "user and password"},
      {"-ERR AUTH <password> called without any password configured\r\n+OK\r\n+PONG\r\n", Code::refused,
       "user and password"},
      {"+OK\r\n+OK\r\n-LOADING Redis is loading\r\n", Code::unreachable, "not ready"},
      {"+OK\r\n+OK\r\n-NOAUTH Authentication required.\r\n", Code::refused, "wants a password"},
      {"-DENIED Redis is running in protected mode\r\n", Code::refused, "protected mode"},
      {"-ERR max number of clients reached\r\n", Code::unreachable, "max number of clients"},
      {"", Code::unreachable, "closed the connection"},
      {"+OK\r\n", Code::unreachable, "closed the connection"},
      {"SSH-2.0-OpenSSH\r\n", Code::unreachable, "is that a Redis server?"},
  };
  for (const auto& row : rows) {
    ScriptedPeer peer([&](Talk& talk) {
      talk.take(3);
      talk.say(row.answers);
    });
    RedisUrl url = peer.url();
    url.password = "hunter2";
    RealRedisConnection connection(url);
    const Status connected = connection.connect(kLong);
    ASSERT_FALSE(connected.has_value()) << row.answers;
    EXPECT_EQ(connected.error().code, row.code) << row.answers;
    EXPECT_THAT(connected.error().message, HasSubstr(row.message)) << row.answers;
    EXPECT_THAT(connected.error().message, ::testing::Not(HasSubstr("hunter2")));
    EXPECT_FALSE(connection.is_connected());
  }
}

TEST(RealRedisConnection, ANameThatMayNotBeSetAndAPingThatIsForbiddenAreNoObstacle) {
  ScriptedPeer peer([](Talk& talk) {
    talk.take(2);
    talk.say("-NOPERM this user has no permissions\r\n-NOPERM this user has no permissions\r\n");
    talk.wait_until_closed();
  });
  RealRedisConnection connection(peer.url());
  EXPECT_TRUE(connection.connect(kLong).has_value());
}

TEST(RealRedisConnection, ASilentServerDoesNotHoldUpALogin) {
  ScriptedPeer peer({[](Talk& talk) { talk.wait_until_closed(); }, [](Talk& talk) { talk.wait_until_closed(); }});
  RealRedisConnection plain(peer.url());
  const Status connected = plain.connect(kShort);
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Code::unreachable);
  RedisUrl url = peer.url();
  url.tls.emplace();
  RealRedisConnection encrypted(url);
  const Status shaken = encrypted.connect(kShort);
  ASSERT_FALSE(shaken.has_value());
  EXPECT_EQ(shaken.error().code, Code::unreachable);
  EXPECT_THAT(shaken.error().message, HasSubstr("does the server speak TLS?"));
}

TEST(RealRedisConnection, AFileForTlsThatIsNotThereIsNamed) {
  ScriptedPeer peer([](Talk& talk) { talk.wait_until_closed(); });
  RedisUrl url = peer.url();
  url.tls = RedisTls{.ca_file = "/no/such/file.pem"};
  const Status connected = RealRedisConnection(url).connect(kLong);
  ASSERT_FALSE(connected.has_value());
  EXPECT_EQ(connected.error().code, Code::refused);
  EXPECT_THAT(connected.error().message, HasSubstr("ca_file '/no/such/file.pem'"));
}

}  // namespace
}  // namespace kron
