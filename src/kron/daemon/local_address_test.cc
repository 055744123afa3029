#include "kron/daemon/local_address.h"

#include <gtest/gtest.h>

#include "kron/env/redis_url.h"

namespace kron::daemon {
namespace {

TEST(LocalAddress, TowardsThisMachineIsItsLoopback) {
  EXPECT_EQ(local_address_towards(parse_redis_url("redis://127.0.0.1:6390").value()), "127.0.0.1");
  EXPECT_EQ(local_address_towards(parse_redis_url("redis://127.0.0.7:6390").value()), "127.0.0.1");
}

TEST(LocalAddress, OfASocketThatIsAFileOrOfNothingIsTheLoopback) {
  EXPECT_EQ(local_address_towards(RedisUrl{}), "127.0.0.1");
  RedisUrl path = parse_redis_url("redis://127.0.0.1:6390").value();
  path.addresses.front().host = "/run/redis.sock";
  EXPECT_EQ(local_address_towards(path), "127.0.0.1");
}

TEST(LocalAddress, OfANameThatIsNoneIsTheLoopback) {
  RedisUrl url = parse_redis_url("redis://127.0.0.1:6390").value();
  url.addresses.front().host = "300.300.300.300.";
  EXPECT_EQ(local_address_towards(url), "127.0.0.1");
}

}  // namespace
}  // namespace kron::daemon
