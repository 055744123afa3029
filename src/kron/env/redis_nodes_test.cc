#include "kron/env/redis_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/env/fake/scripted_peer.h"
#include "kron/env/real_redis_connection.h"
#include "kron/env/real_redis_subscription.h"
#include "kron/env/redis_protocol.h"

namespace kron {
namespace {

using ::testing::ElementsAre;
using NodeTalk = ScriptedPeer::Talk;

constexpr Nanoseconds kNodesLong = Seconds(60);  // never reached
const RedisAddress kNobodyThere{"127.0.0.1", 1};
const std::vector<std::string> kNodeChannel{"events"};
const std::string kNodeConfirmed = "*3\r\n$9\r\nsubscribe\r\n$6\r\nevents\r\n:1\r\n";

RedisValue node_text(std::string text) { return {.kind = RedisValue::Kind::text, .text = std::move(text)}; }
RedisValue node_number(std::int64_t number) { return {.kind = RedisValue::Kind::integer, .integer = number}; }
RedisValue node_list(std::vector<RedisValue> items) {
  return {.kind = RedisValue::Kind::array, .items = std::move(items)};
}

// CLUSTER SLOTS of a cluster of one node.
std::string slots_of(const RedisAddress& address) {
  const std::string port = std::to_string(address.port);
  return "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$" + std::to_string(address.host.size()) + "\r\n" + address.host +
         "\r\n:" + port + "\r\n$2\r\nid\r\n";
}

TEST(RedisNodes, AreReadFromTheSlotsOfACluster) {
  const RedisValue slots =
      node_list({node_list({node_number(0), node_number(100), node_list({node_text("10.0.0.1"), node_number(7000)}),
                            node_list({node_text(""), node_number(7001), node_text("id")})}),
                 node_list({node_number(101), node_number(200), node_list({node_text("10.0.0.1"), node_number(7000)}),
                            node_list({node_text("10.0.0.3"), node_number(0)})})});
  EXPECT_THAT(nodes_in_slots(slots, {"10.0.0.9", 1}),
              ElementsAre(RedisAddress{"10.0.0.1", 7000}, RedisAddress{"10.0.0.9", 7001}));
  EXPECT_TRUE(nodes_in_slots(node_text("junk"), {}).empty());
}

TEST(RedisNodes, SentinelsAreReadFromWhatASentinelSays) {
  const RedisValue answer = node_list({node_list({node_text("name"), node_text("x"), node_text("ip"),
                                                  node_text("10.0.0.2"), node_text("port"), node_text("26379")}),
                                       node_list({node_text("port"), node_text("1")})});
  EXPECT_THAT(sentinels_in(answer), ElementsAre(RedisAddress{"10.0.0.2", 26379}));
}

TEST(RedisNodes, ThoseOfTheUrlComeFirstAndThenTheLatest) {
  RedisNodes nodes;
  nodes.note({"a", 1});
  nodes.note({"b", 1});
  nodes.note({"c", 1});
  nodes.note({"a", 1});
  EXPECT_THAT(nodes.with_those_of({.addresses = {{"c", 1}}}),
              ElementsAre(RedisAddress{"c", 1}, RedisAddress{"a", 1}, RedisAddress{"b", 1}));
}

TEST(RedisNodes, ASubscriptionGoesToANodeThatAConnectionHasHeardOf) {
  ScriptedPeer other([](NodeTalk& talk) {
    talk.let_in();
    EXPECT_EQ(talk.command(), (RedisCommand{"CLUSTER", "SLOTS"}));
    talk.say("-NOPERM\r\n");
    EXPECT_EQ(talk.command(), (RedisCommand{"SUBSCRIBE", "events"}));
    talk.say(kNodeConfirmed);
    talk.wait_until_closed();
  });
  ScriptedPeer first([&](NodeTalk& talk) {
    talk.let_in();
    EXPECT_EQ(talk.command(), (RedisCommand{"CLUSTER", "SLOTS"}));
    talk.say(slots_of(other.address()));
    talk.wait_until_closed();
  });
  const auto nodes = std::make_shared<RedisNodes>();
  {
    RealRedisConnection connection(first.url(), "", nodes);
    ASSERT_TRUE(connection.connect(kNodesLong).has_value());
  }
  EXPECT_TRUE(nodes->is_cluster());
  RealRedisSubscription subscription(RedisUrl{.addresses = {kNobodyThere}}, Seconds(10), nodes);
  EXPECT_TRUE(subscription.subscribe(kNodeChannel, kNodesLong).has_value());
}

TEST(RedisNodes, ASubscriptionOfAServerThatIsNoLongerTheMasterIsLost) {
  ScriptedPeer old_master([](NodeTalk& talk) {
    talk.let_in();
    talk.take(1);
    talk.say("-ERR This instance has cluster support disabled\r\n");
    talk.take(1);
    talk.say(kNodeConfirmed);
    talk.wait_until_closed();
  });
  const auto nodes = std::make_shared<RedisNodes>();
  nodes->set_server(old_master.address());
  RealRedisSubscription subscription(old_master.url(), Seconds(10), nodes);
  ASSERT_TRUE(subscription.subscribe(kNodeChannel, kNodesLong).has_value());
  EXPECT_TRUE(subscription.next(Nanoseconds(0)).has_value());
  nodes->set_server(kNobodyThere);
  EXPECT_FALSE(subscription.next(Nanoseconds(0)).has_value());
}

}  // namespace
}  // namespace kron
