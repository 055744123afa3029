#include "kron/env/redis_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "kron/testing/property.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Addresses = std::vector<RedisAddress>;

TEST(RedisUrl, ReadsEveryForm) {
  const struct {
    std::string_view text;
    RedisUrl url;
  } rows[] = {
      {"redis://localhost:6380", {.addresses = {{"localhost", 6380}}}},
      {"redis://localhost", {.addresses = {{"localhost", 6379}}}},
      {"redis://localhost/", {.addresses = {{"localhost", 6379}}}},
      {"redis://10.0.0.7:1/3", {.addresses = {{"10.0.0.7", 1}}, .db = 3}},
      {"redis://10.0.0.7:1?db=3", {.addresses = {{"10.0.0.7", 1}}, .db = 3}},
      {"redis://[::1]:65535/0", {.addresses = {{"::1", 65535}}}},
      {"redis://[fe80::7]", {.addresses = {{"fe80::7", 6379}}}},
      {"redis://a:1,b,[::1]:3", {.addresses = {{"a", 1}, {"b", 6379}, {"::1", 3}}}},
      {"redis://kron:s3cret@db:7", {.addresses = {{"db", 7}}, .user = "kron", .password = "s3cret"}},
      {"redis://:p%40ss%2F%00@db:7", {.addresses = {{"db", 7}}, .password = std::string("p@ss/\0", 6)}},
      {"redis://:a@b:c@db:7", {.addresses = {{"db", 7}}, .password = "a@b:c"}},
      {"rediss://db:7/1", {.addresses = {{"db", 7}}, .db = 1, .tls = RedisTls{}}},
      {"rediss://db?ca_file=/etc/ca%20s.pem&cert_file=c&key_file=k&server_name=redis.example",
       {.addresses = {{"db", 6379}}, .tls = RedisTls{"/etc/ca s.pem", "c", "k", "redis.example"}}},
      {"redis+sentinel://s1:1,s2/my%20master", {.addresses = {{"s1", 1}, {"s2", 26379}}, .master_name = "my master"}},
      {"redis+sentinel://u:p@s1:1/m/5",
       {.addresses = {{"s1", 1}}, .master_name = "m", .user = "u", .password = "p", .db = 5}},
      {"rediss+sentinel://s1:1/m", {.addresses = {{"s1", 1}}, .master_name = "m", .tls = RedisTls{}}},
      {"redis+unix:///run/redis/socket?db=2", {.addresses = {{"/run/redis/socket", 0}}, .db = 2}},
      {"redis+unix://u:p@/run/a%20b", {.addresses = {{"/run/a b", 0}}, .user = "u", .password = "p"}},
  };
  for (const auto& row : rows) {
    const Result<RedisUrl> url = parse_redis_url(row.text);
    ASSERT_TRUE(url.has_value()) << row.text << ": " << url.error().message;
    EXPECT_EQ(*url, row.url) << row.text;
  }
}

TEST(RedisUrl, RefusesWithTheProblemTheCureAndTheColumn) {
  const struct {
    std::string_view text;
    std::string_view message;
    std::size_t column;
  } rows[] = {
      {"", "begins with redis://", 1},
      {"localhost:6379", "begins with redis://", 1},
      {"http://localhost", "begins with redis://", 1},
      {"redis:/localhost", "begins with redis://", 1},
      {"redis://", "host is missing", 9},
      {"redis://:6379", "host is missing", 9},
      {"redis://a:1,", "host is missing", 13},
      {"redis://a b", "%20", 10},
      {"redis://a\nb", "control character", 10},
      {"redis://h\xC3\xB6st", "a host is a name or an address", 10},
      {"redis://a:0", "1 to 65535", 11},
      {"redis://a:65536", "1 to 65535", 11},
      {"redis://a:", "1 to 65535", 11},
      {"redis://a:-1", "1 to 65535", 11},
      {"redis://a:6379x", "1 to 65535", 11},
      {"redis://::1:6379", "host is missing", 9},
      {"redis://fe80::1", "[::1]:6379", 14},
      {"redis://[::1", "without ]", 9},
      {"redis://[1.2.3.4]", "no IPv6 address", 9},
      {"redis://[::1]6379", "after ]", 14},
      {"redis://secret@a", "user:password@", 9},
      {"redis://user:@a", "password is empty", 13},
      {"redis://:%4@a", "%40", 10},
      {"redis://:%zz@a", "%40", 10},
      {"redis://a/x", "0 to 999999", 11},
      {"redis://a/-1", "0 to 999999", 11},
      {"redis://a/1000000", "0 to 999999", 11},
      {"redis://a/1/2", "0 to 999999", 11},
      {"redis://a/1?db=2", "twice", 13},
      {"redis://a?db=1&db=2", "twice", 16},
      {"redis://a?password=x", "unknown option", 11},
      {"redis://a?", "unknown option", 11},
      {"redis://a?ca_file=x", "rediss://", 11},
      {"rediss://a?ca_file=", "ca_file is empty", 20},
      {"rediss://a?ca_file=%00", "NUL", 20},
      {"rediss://a?cert_file=x", "belong together", 1},
      {"redis://a#1", "%23", 10},
      {"redis+sentinel://a:1", "name of the master is empty", 21},
      {"redis+sentinel://a:1/", "redis+sentinel://host", 22},
      {"redis+sentinel:///m", "host is missing", 18},
      {"redis+unix://", "path of the socket is empty", 14},
      {"redis+unix://host/path", "no host", 14},
  };
  for (const auto& row : rows) {
    const Result<RedisUrl> url = parse_redis_url(row.text);
    ASSERT_FALSE(url.has_value()) << row.text;
    EXPECT_EQ(url.error().code, Code::invalid) << row.text;
    EXPECT_THAT(url.error().message, HasSubstr(row.message)) << row.text;
    EXPECT_EQ(url.error().column, row.column) << row.text;
  }
}

TEST(RedisUrl, NoMessageRepeatsAPasswordThatIsWrittenWrongly) {
  for (const std::string_view text :
       {"redis://u:hunter2/x@a:1", "redis://u:12?hunter2@a:1", "redis://u:hunter2#@a", "redis://u:hunter2,@a/x",
        "redis://hunter2@a", "redis://u:hunter2%@a", "redis:// u:hunter2@a", "redis://u@x:hunter2"}) {
    const Result<RedisUrl> url = parse_redis_url(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_THAT(url.error().message, Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(RedisUrl, IsPrintedWithoutThePasswordAndReadsBackAsTheSame) {
  const struct {
    std::string_view text;
    std::string_view printed;
  } rows[] = {
      {"redis://localhost", "redis://localhost:6379"},
      {"redis://:hunter2@localhost/2", "redis://:***@localhost:6379/2"},
      {"redis+sentinel://u%3A:hunter2@[::1]:1,b:2/m%2F/2", "redis+sentinel://u%3A:***@[::1]:1,b:2/m%2F/2"},
      {"redis+unix://:hunter2@/a%3Fb?db=2", "redis+unix://:***@/a%3Fb?db=2"},
      {"rediss://a:1?server_name=b&ca_file=/c%26d", "rediss://a:1?ca_file=/c%26d&server_name=b"},
  };
  for (const auto& row : rows) {
    RedisUrl url = parse_redis_url(row.text).value();
    EXPECT_EQ(printable(url), row.printed);
    if (!url.password.empty()) url.password = "***";
    EXPECT_EQ(parse_redis_url(row.printed).value(), url) << row.printed;
  }
}

TEST(RedisUrl, AnyBytesOfALoginSurviveTheirEscapes) {
  testing::for_all(100, [](const std::string& user, const std::string& password) {
    std::string text = "redis://";
    const auto add = [&](const std::string& bytes) {
      for (const char c : bytes) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        text += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
      }
    };
    add(user);
    text += ':';
    add(password + "x");
    const Result<RedisUrl> url = parse_redis_url(text + "@host");
    RC_PRE(text.size() + 5 <= kRedisUrlBytes);
    RC_ASSERT(url.has_value());
    RC_ASSERT(url->user == user && url->password == password + "x");
  });
}

TEST(RedisUrl, OneByteMoreThanTheLimitIsRefused) {
  const std::string most = "redis://:" + std::string(kRedisUrlBytes - 11, 'x') + "@a";
  EXPECT_TRUE(parse_redis_url(most).has_value());
  const Result<RedisUrl> more = parse_redis_url(most + "b");
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().column, kRedisUrlBytes + 1);
}

TEST(RedisUrl, APathThatNoSocketCanHaveIsRefused) {
  EXPECT_TRUE(parse_redis_url("redis+unix:///" + std::string(106, 'x')).has_value());
  EXPECT_FALSE(parse_redis_url("redis+unix:///" + std::string(107, 'x')).has_value());
}

TEST(RedisUrl, ReadsTheListOfNodesThatCronkenTakes) {
  EXPECT_EQ(parse_redis_nodes("localhost:6379").value().addresses, (Addresses{{"localhost", 6379}}));
  EXPECT_EQ(parse_redis_nodes("a:1,b:2,c:3").value().addresses, (Addresses{{"a", 1}, {"b", 2}, {"c", 3}}));
  for (const std::string_view text : {"", "a:1,", "a:1, b:2", "a:x", "redis://a:1"}) {
    EXPECT_FALSE(parse_redis_nodes(text).has_value()) << text;
  }
  EXPECT_EQ(parse_redis_nodes("a:1,b:2,c:x").error().column, 11);
}

}  // namespace
}  // namespace kron
