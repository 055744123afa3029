#include "cluster_server.h"

#include <gtest/gtest.h>

#include "cluster_session.h"

namespace kron::cli {
namespace {

TEST(ClusterServer, InfoIsReadLineByLine) {
  const RedisInfo info = parse_info("# Server\r\nredis_version:7.0.15\r\nrole:master\r\n\r\njunk\r\nodd:a:b");
  EXPECT_EQ(fact(info, "redis_version"), "7.0.15");
  EXPECT_EQ(fact(info, "odd"), "a:b");
  EXPECT_EQ(fact(info, "nothing"), "");
}

TEST(ClusterServer, WhatCanLoseClaimsIsWarnedOf) {
  const auto count = [](std::string_view info, std::string_view fsync) {
    return warnings_of(parse_info(info), fsync).size();
  };
  EXPECT_EQ(count("aof_enabled:1\nmaxmemory_policy:noeviction\nrole:master", "always"), 0U);
  EXPECT_EQ(count("aof_enabled:1\nmaxmemory_policy:noeviction", "everysec"), 1U);
  EXPECT_EQ(count("aof_enabled:0\nmaxmemory_policy:allkeys-lru", "everysec"), 2U);
  EXPECT_EQ(count("role:slave", ""), 1U);
  EXPECT_EQ(count("", ""), 0U) << "a server that may not be asked";
}

TEST(ClusterServer, RefusalsOfRedisHaveTheirExitStatus) {
  EXPECT_EQ(error_of_redis("NOPERM this user has no permissions").code, Code::refused);
  EXPECT_EQ(error_of_redis("WRONGTYPE Operation against a key").code, Code::conflict);
  EXPECT_EQ(error_of_redis("READONLY You can't write").code, Code::unreachable);
  EXPECT_EQ(error_of_redis("ERR unknown").code, Code::conflict);
  EXPECT_EQ(error_of_redis("NOPERMISSION").code, Code::conflict) << "a code is a whole word";
  EXPECT_NE(error_of_redis("ERR a\x1b[31m").message.find("\\x1b"), std::string::npos);
}

}  // namespace
}  // namespace kron::cli
