#include "kron/cluster/cluster_zone.h"

#include <gtest/gtest.h>

#include "kron/cluster/redis_rig.h"

namespace kron::cluster {
namespace {

TEST(ClusterZone, IsSetByTheFirstHostAndAskedOfTheOthers) {
  testing::RedisRig rig;
  EXPECT_EQ(*cluster_zone(rig.link, rig.keys, std::nullopt, "Europe/Paris"), "Europe/Paris");
  EXPECT_EQ(rig.texts({"HMGET", rig.keys.cluster(), "timezone", "format"}),
            (std::vector<std::string>{"Europe/Paris", "1"}));
  EXPECT_EQ(*cluster_zone(rig.link, rig.keys, "Europe/Paris", "UTC"), "Europe/Paris");
  EXPECT_EQ(*cluster_zone(rig.link, rig.keys, std::nullopt, ""), "Europe/Paris");
  for (const auto& [given, local] : {std::pair<std::optional<std::string>, std::string>{"UTC", "Europe/Paris"},
                                     std::pair<std::optional<std::string>, std::string>{std::nullopt, "UTC"}}) {
    const Result<std::string> zone = cluster_zone(rig.link, rig.keys, given, local);
    ASSERT_FALSE(zone);
    EXPECT_EQ(zone.error().code, Code::conflict);
    EXPECT_NE(zone.error().message.find("--default-timezone Europe/Paris"), std::string::npos);
    EXPECT_NE(zone.error().message.find("kron cluster timezone UTC"), std::string::npos);
  }
}

TEST(ClusterZone, AnotherNameOfTheSameZoneIsTheSameZone) {
  testing::RedisRig rig;
  ASSERT_EQ(cluster_zone(rig.link, rig.keys, "UTC", "UTC").value(), "UTC");
  EXPECT_EQ(cluster_zone(rig.link, rig.keys, std::nullopt, "Etc/UTC").value(), "UTC");
  EXPECT_FALSE(cluster_zone(rig.link, rig.keys, "Etc/GMT+1", "UTC"));
  EXPECT_FALSE(cluster_zone(rig.link, rig.keys, "No/Such", "UTC"));
  testing::RedisRig other;
  ASSERT_TRUE(cluster_zone(other.link, other.keys, "Europe/Berlin", ""));
  EXPECT_TRUE(cluster_zone(other.link, other.keys, "Europe/Paris", "")) << "the same since 1980";
  EXPECT_FALSE(cluster_zone(other.link, other.keys, "Europe/London", ""));
}

TEST(ClusterZone, RefusesAFormatThatItDoesNotKnow) {
  testing::RedisRig rig;
  rig.ask({"HSET", rig.keys.cluster(), "format", "2"});
  EXPECT_EQ(cluster_zone(rig.link, rig.keys, "UTC", "UTC").error().code, Code::conflict);
}

TEST(ClusterZone, SaysThatRedisIsAway) {
  testing::RedisRig rig;
  EXPECT_EQ(cluster_zone(rig.link, rig.keys, std::nullopt, "").error().code, Code::conflict);
  rig.redis.refuse_connections(Error{Code::unreachable, "nobody there"});
  EXPECT_EQ(cluster_zone(rig.link, rig.keys, "UTC", "UTC").error().code, Code::unreachable);
}

}  // namespace
}  // namespace kron::cluster
