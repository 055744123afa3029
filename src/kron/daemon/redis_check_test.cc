#include "kron/daemon/redis_check.h"

#include <gtest/gtest.h>

namespace kron::daemon {
namespace {

std::string info(const std::string& version, const std::string& aof, const std::string& policy) {
  return "# Server\r\nredis_version:" + version + "\r\n# Memory\r\nmaxmemory_policy:" + policy +
         "\r\n# Persistence\r\naof_enabled:" + aof + "\r\n";
}

TEST(RedisCheck, ASafeRedisHasNoWarnings) {
  EXPECT_TRUE(warnings_about({.info = info("7.0.15", "1", "noeviction"), .appendfsync = "always"}).empty());
  EXPECT_EQ(why_unusable({.info = info("7.0.15", "1", "noeviction")}, "{cronken}"), "");
  EXPECT_TRUE(warnings_about({}).empty()) << "what is not told is not guessed";
}

TEST(RedisCheck, WhatMayLoseClaimsIsSaid) {
  const auto no_file = warnings_about({.info = info("7.0.15", "0", "noeviction")});
  ASSERT_EQ(no_file.size(), 1U);
  EXPECT_FALSE(no_file[0].is_error);
  EXPECT_NE(no_file[0].message.find("appendonly yes"), std::string::npos);
  const auto every_second = warnings_about({.info = info("7.0.15", "1", "noeviction"), .appendfsync = "everysec"});
  ASSERT_EQ(every_second.size(), 1U);
  EXPECT_NE(every_second[0].message.find("appendfsync everysec"), std::string::npos);
}

TEST(RedisCheck, EvictionOfAllKeysIsAnError) {
  const auto all = warnings_about({.info = info("7.0.15", "1", "allkeys-lru")});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].is_error);
  const auto some = warnings_about({.info = info("7.0.15", "1", "volatile-lru")});
  ASSERT_EQ(some.size(), 1U);
  EXPECT_FALSE(some[0].is_error);
}

TEST(RedisCheck, AnOldRedisCannotBeUsed) {
  EXPECT_NE(why_unusable({.info = info("5.0.14", "1", "noeviction")}, "{c}").find("5.0.14"), std::string::npos);
  EXPECT_EQ(why_unusable({.info = info("6.0.0", "1", "noeviction")}, "{c}"), "");
}

TEST(RedisCheck, ARedisClusterNeedsAHashTag) {
  const RedisFacts facts{.info = info("7.0.15", "1", "noeviction"), .is_cluster = true};
  EXPECT_EQ(why_unusable(facts, "{c}"), "");
  EXPECT_EQ(why_unusable(facts, "a{c}b"), "");
  for (const char* plain : {"c", "{}", "{c", "}c{"}) EXPECT_NE(why_unusable(facts, plain), "") << plain;
}

TEST(RedisCheck, ARightThatIsMissingIsNamedWithItsRules) {
  EXPECT_EQ(explained("ERR other", "{c}"), "ERR other");
  const std::string text = explained("NOPERM this user has no permissions", "{c}");
  EXPECT_NE(text.find("ACL SETUSER default ~{c}:* &{c}:* +@read +@write +@scripting"), std::string::npos) << text;
  EXPECT_EQ(explained(text, "{c}"), text) << "said once";
  EXPECT_NE(explained("NOPERM", "{c}", "kron").find("ACL SETUSER kron ~{c}"), std::string::npos);
}

}  // namespace
}  // namespace kron::daemon
