#include "kron/env/redis_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "kron/testing/property.h"

namespace kron {
namespace {

using ::testing::HasSubstr;
using ValueKind = RedisValue::Kind;

RedisValue text_value(std::string text) { return {.kind = ValueKind::text, .text = std::move(text)}; }

// What a reader makes of bytes that come in pieces of that size; the error's message ends them.
std::vector<RedisValue> values_of(std::string_view bytes, std::size_t piece, std::string& error,
                                  RedisReplyLimits limits = {}) {
  RedisReplyReader reader(limits);
  std::vector<RedisValue> values;
  while (!bytes.empty()) {
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      Result<std::optional<RedisValue>> value = reader.next();
      if (!value) {
        error = value.error().message;
        return values;
      }
      if (!*value) break;
      values.push_back(std::move(**value));
    }
  }
  return values;
}

std::vector<RedisValue> values_of(std::string_view bytes) {
  std::string error;
  std::vector<RedisValue> values = values_of(bytes, bytes.size(), error);
  EXPECT_EQ(error, "") << bytes;
  return values;
}

std::string error_of(std::string_view bytes, RedisReplyLimits limits = {}) {
  std::string error;
  (void)values_of(bytes, 7, error, limits);
  return error;
}

TEST(RedisProtocol, ReadsEveryKindOfValue) {
  constexpr char kBytes[] =
      "+OK\r\n-WRONGTYPE "
      "no\r\n:-12\r\n$6\r\na\r\nb\0c\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*1\r\n$1\r\nx\r\n+y\r\n";
  const std::vector<RedisValue> values = values_of(std::string_view(kBytes, sizeof kBytes - 1));
  ASSERT_EQ(values.size(), 9);
  EXPECT_EQ(values[0], (RedisValue{.kind = ValueKind::status, .text = "OK"}));
  EXPECT_EQ(values[1], (RedisValue{.kind = ValueKind::error, .text = "WRONGTYPE no"}));
  EXPECT_EQ(values[2], (RedisValue{.kind = ValueKind::integer, .integer = -12}));
  EXPECT_EQ(values[3], text_value(std::string("a\r\nb\0c", 6)));
  EXPECT_EQ(values[4], text_value(""));
  EXPECT_EQ(values[5], RedisValue{});
  EXPECT_EQ(values[6], RedisValue{});
  EXPECT_EQ(values[7], (RedisValue{.kind = ValueKind::array}));
  EXPECT_EQ(values[8], (RedisValue{.kind = ValueKind::array,
                                   .items = {{.kind = ValueKind::integer, .integer = 1},
                                             {.kind = ValueKind::array, .items = {text_value("x")}},
                                             {.kind = ValueKind::status, .text = "y"}}}));
}

TEST(RedisProtocol, APieceOfAnyLengthMakesNoDifference) {
  testing::for_all(50, [](const std::vector<std::string>& texts) {
    std::string bytes;
    for (const std::string& text : texts) {
      bytes += "*2\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n:7\r\n";
    }
    std::string error;
    const std::vector<RedisValue> whole = values_of(bytes, bytes.size() + 1, error);
    RC_ASSERT(whole.size() == texts.size());
    RC_ASSERT(values_of(bytes, 1, error) == whole);
    RC_ASSERT(values_of(bytes, 5, error) == whole);
    RC_ASSERT(error.empty());
  });
}

TEST(RedisProtocol, RefusesWhatIsNotRedis) {
  for (const std::string_view bytes : {"HTTP/1.1 400 Bad Request\r\n", "\r\n", ":12x\r\n", "$abc\r\n", "$-2\r\n",
                                       "*-2\r\n", "*x\r\n", "%1\r\n+a\r\n+b\r\n", "\x15\x03\x01\r\n"}) {
    EXPECT_THAT(error_of(bytes), HasSubstr("is that a Redis server?")) << bytes;
  }
}

TEST(RedisProtocol, AnAnnouncementReservesNothing) {
  RedisReplyReader reader;
  reader.feed("*2147483647\r\n$3\r\nabc\r\n");
  const Result<std::optional<RedisValue>> value = reader.next();
  ASSERT_TRUE(value.has_value());
  EXPECT_FALSE(value->has_value());
  EXPECT_TRUE(reader.has_bytes());
}

TEST(RedisProtocol, OneByteBeyondTheLimitIsRefused) {
  const RedisReplyLimits limits{.bytes = 20};
  EXPECT_EQ(error_of("$13\r\n1234567890123\r\n", limits), "");
  EXPECT_THAT(error_of("$14\r\n12345678901234\r\n", limits), HasSubstr("longer than 20 bytes"));
  // Also when it never ends.
  EXPECT_THAT(error_of("$9999\r\n1234567890123456789", limits), HasSubstr("longer than 20 bytes"));
  // Each reply for itself.
  EXPECT_EQ(error_of("$13\r\n1234567890123\r\n$13\r\n1234567890123\r\n", limits), "");
}

TEST(RedisProtocol, OneValueBeyondTheLimitIsRefused) {
  const RedisReplyLimits limits{.items = 4};
  EXPECT_EQ(error_of("*3\r\n:1\r\n:2\r\n:3\r\n:4\r\n", limits), "");
  EXPECT_THAT(error_of("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n", limits), HasSubstr("more than 4 values"));
}

TEST(RedisProtocol, OneArrayWithinTooManyIsRefused) {
  std::string nested;
  for (int i = 0; i < RedisReplyLimits().nesting; ++i) nested += "*1\r\n";
  EXPECT_EQ(error_of(nested + ":1\r\n"), "");
  EXPECT_THAT(error_of(nested + "*1\r\n:1\r\n"), HasSubstr("more than 7 arrays within each other"));
  EXPECT_THAT(error_of(nested + "*1\r\n*1\r\n*1\r\n:1\r\n", {.nesting = 100}), HasSubstr("is that a Redis server?"));
}

TEST(RedisProtocol, ALineWithoutAnEndIsRefused) {
  const RedisReplyLimits limits{.line_bytes = 100};
  EXPECT_EQ(error_of("-ERR " + std::string(90, 'x') + "\r\n", limits), "");
  EXPECT_THAT(error_of("-ERR " + std::string(102, 'x'), limits), HasSubstr("more than 100 bytes"));
  EXPECT_THAT(error_of("$" + std::string(102, '1'), limits), HasSubstr("more than 100 bytes"));
  EXPECT_EQ(error_of("$150\r\n" + std::string(149, '\r'), limits), "");
}

TEST(RedisProtocol, WritesAnyBytes) {
  std::string out = "before";
  append_redis_command(out, {"SET", std::string("k\0\r\n", 4), ""});
  EXPECT_EQ(out, std::string("before*3\r\n$3\r\nSET\r\n$4\r\nk\0\r\n\r\n$0\r\n\r\n", 35));
}

}  // namespace
}  // namespace kron
