#include "kron/api/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "kron/testing/property.h"

// The parameters of a query, and bodies that may be left out.
namespace kron::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

http::Request with(std::string name, std::string value) { return {.query = {{std::move(name), std::move(value)}}}; }

TEST(Call, AParameterThatIsAbsentIsItsDefault) {
  const http::Request none;
  EXPECT_FALSE(time_parameter(none, "from").value());
  EXPECT_FALSE(duration_parameter(none, "for").value());
  EXPECT_EQ(number_parameter(none, "n", 7, 1, 9).value(), 7);
  EXPECT_EQ(number_parameter(none, "n", 0, 1, 9).value(), 0) << "the default need not be in the range";
  EXPECT_EQ(limit_parameter(none).value(), 100U);
  EXPECT_EQ(wait_parameter(none, "wait", Seconds(60)).value(), Nanoseconds(0));
  EXPECT_EQ(text_parameter(none, "x"), "");
  EXPECT_FALSE(word_parameter(none, "state", {"a", "b"}).value());
}

TEST(Call, NumbersAreWholeAndWithinTheirRange) {
  for (const char* good : {"1", "9", "5", "007"}) EXPECT_TRUE(number_parameter(with("n", good), "n", 0, 1, 9)) << good;
  for (const char* bad : {"", "0", "10", "-1", "+1", "1.0", " 1", "1 ", "0x1", "1e1", "one", "99999999999999999999"}) {
    const auto number = number_parameter(with("n", bad), "n", 0, 1, 9);
    ASSERT_FALSE(number) << bad;
    EXPECT_EQ(number.error().code, Code::invalid);
    EXPECT_EQ(number.error().field, "n");
    EXPECT_THAT(number.error().message, HasSubstr("from 1 to 9"));
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(number_parameter(with("n", std::to_string(kMost)), "n", 0, 0, kMost).value(), kMost);
}

TEST(Call, AnyNumberOfTheRangeIsReadBackAndNoOther) {
  testing::for_all(200, [](std::int64_t number) {
    const auto read = number_parameter(with("n", std::to_string(number)), "n", 0, -1000, 1000);
    RC_ASSERT(read.has_value() == (number >= -1000 && number <= 1000));
    if (read) RC_ASSERT(*read == number);
  });
}

TEST(Call, ALimitIsFromOneToAThousand) {
  EXPECT_EQ(limit_parameter(with("limit", "1")).value(), 1U);
  EXPECT_EQ(limit_parameter(with("limit", "1000")).value(), 1000U);
  EXPECT_FALSE(limit_parameter(with("limit", "0")));
  EXPECT_FALSE(limit_parameter(with("limit", "1001")));
}

TEST(Call, TimesAndDurationsNameTheirParameter) {
  EXPECT_TRUE(time_parameter(with("from", "2026-03-01T01:00:00+01:00"), "from").value());
  EXPECT_EQ(duration_parameter(with("for", "1h30m"), "for").value(), Seconds(5400));
  for (const auto& error :
       {time_parameter(with("from", "noon"), "from").error(), duration_parameter(with("from", "1.5s"), "from").error(),
        duration_parameter(with("from", ""), "from").error()}) {
    EXPECT_EQ(error.field, "from");
    EXPECT_THAT(error.message, StartsWith("the parameter from: "));
  }
}

TEST(Call, AWaitHasALimitWhichItMayReach) {
  EXPECT_EQ(wait_parameter(with("wait", "60s"), "wait", Seconds(60)).value(), Seconds(60));
  EXPECT_EQ(wait_parameter(with("wait", "20ms"), "wait", Seconds(60)).value(), std::chrono::milliseconds(20));
  const auto longer = wait_parameter(with("wait", "60001ms"), "wait", Seconds(60));
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("at most 1m; ask again"));
  EXPECT_FALSE(wait_parameter(with("wait", "-1s"), "wait", Seconds(60)));
}

TEST(Call, AWordIsOneOfAFew) {
  EXPECT_EQ(word_parameter(with("state", "b"), "state", {"a", "b"}).value(), "b");
  for (const char* bad : {"", "c", "A", "a ", "a,b"}) {
    const auto word = word_parameter(with("state", bad), "state", {"a", "b"});
    ASSERT_FALSE(word) << bad;
    EXPECT_THAT(word.error().message, HasSubstr("is none of a, b"));
  }
  EXPECT_THAT(word_parameter(with("state", "\x1b[2J"), "state", {"a"}).error().message, HasSubstr(R"('\x1b[2J')"));
}

TEST(Call, ABodyThatMayBeLeftOutIsAnObject) {
  for (const char* body : {"", " ", "\r\n\t ", "{}", " {} "}) {
    EXPECT_TRUE(object_in(body).value().as<Node::Map>()->empty()) << body;
  }
  EXPECT_THAT(object_in("[1]").error().message, HasSubstr("is a JSON object, not"));
  EXPECT_FALSE(object_in("{"));
  EXPECT_THAT(object_in("\xEF\xBB\xBF{}").error().message, HasSubstr("byte order mark"));
}

}  // namespace
}  // namespace kron::api
