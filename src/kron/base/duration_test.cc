#include "kron/base/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "kron/base/text.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Duration, ReadsEverySpelling) {
  const struct {
    std::string_view text;
    std::int64_t nanoseconds;
  } rows[] = {
      {"0", 0},
      {"0s", 0},
      {"90s", 90 * kSecond},
      {"1h30m", 5400 * kSecond},
      {"1.5h", 5400 * kSecond},
      {".5s", kSecond / 2},
      {"1.s", kSecond},
      {"500ms", kSecond / 2},
      {"2d", 172'800 * kSecond},
      {"1w", 604'800 * kSecond},
      {"1m", 60 * kSecond},
      {"1ms", 1'000'000},
      {"3us", 3'000},
      {"3\xC2\xB5s", 3'000},
      {"7ns", 7},
      {"30m1h", 5400 * kSecond},
      {"0.000000001s", 1},
      {"9223372036854775807ns", std::numeric_limits<std::int64_t>::max()},
  };
  for (const auto& row : rows) {
    const Result<Nanoseconds> duration = parse_duration(row.text);
    ASSERT_TRUE(duration.has_value()) << row.text << ": " << duration.error().message;
    EXPECT_EQ(duration->count(), row.nanoseconds) << row.text;
  }
}

TEST(Duration, RefusesWithTheProblemAndItsColumn) {
  const struct {
    std::string text;
    std::size_t column;
    std::string_view problem;
  } rows[] = {
      {"", 1, "empty"},
      {"-5s", 1, "negative"},
      {"+5s", 1, "a number was expected"},
      {"5", 2, "the unit is missing"},
      {"1h30", 5, "the unit is missing"},
      {"5x", 2, "unknown unit 'x'"},
      {"5 s", 2, "unknown unit ' s'"},
      {"1h m", 3, "a number was expected"},
      {"s", 1, "a number was expected"},
      {".s", 1, "a number was expected"},
      {"1.2.3s", 4, "unknown unit"},
      {"5S", 2, "unknown unit 'S'"},
      {"nan", 1, "a number was expected"},
      {"1e3s", 2, "unknown unit"},
      {"0.5ns", 1, "finer than a nanosecond"},
      {"300000d", 1, "longer than 292 years"},
      {"9223372036854775807ns1ns", 22, "longer than 292 years"},
      {"9223372036854775808ns", 1, "too large"},
      {"99999999999999999999999999999999999999999s", 1, "too large"},
      {std::string(100'000, '9') + "s", 1, "too large"},
      {"0." + std::string(100'000, '0') + "s", 1, "too long"},
      {"5\xFF\n", 2, "unknown unit '\\xff\\x0a'"},
  };
  for (const auto& row : rows) {
    const Result<Nanoseconds> duration = parse_duration(row.text);
    ASSERT_FALSE(duration.has_value()) << row.text.substr(0, 40);
    EXPECT_EQ(duration.error().code, Code::invalid);
    EXPECT_EQ(duration.error().column, row.column) << row.text.substr(0, 40);
    EXPECT_THAT(duration.error().message, HasSubstr(row.problem));
    EXPECT_THAT(duration.error().message, HasSubstr("expected a duration such as"));
  }
}

TEST(Duration, ManyPartsAddUpWithoutOverflow) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "1w";
  EXPECT_FALSE(parse_duration(text).has_value());
}

TEST(Duration, WholeSecondsRefuseAFraction) {
  EXPECT_EQ(*parse_whole_seconds("1.5m"), Seconds(90));
  EXPECT_EQ(*parse_whole_seconds("1000ms"), Seconds(1));
  const Result<Seconds> refused = parse_whole_seconds("1500ms");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("'1500ms' is not a whole number of seconds"));
  EXPECT_FALSE(parse_whole_seconds("soon").has_value());
}

TEST(Duration, PrintsFromWeeksToNanoseconds) {
  EXPECT_EQ(duration_text(Nanoseconds(0)), "0s");
  EXPECT_EQ(duration_text(Seconds(90)), "1m30s");
  EXPECT_EQ(duration_text(Seconds(604'800 + 86'400 + 3'600)), "1w1d1h");
  EXPECT_EQ(duration_text(Nanoseconds(1'001'001)), "1ms1us1ns");
}

TEST(Duration, ParseOfPrintIsIdentity) {
  testing::for_all(2000, [] {
    const auto count = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, std::numeric_limits<std::int64_t>::max()),
                                       rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000));
    const Result<Nanoseconds> back = parse_duration(duration_text(Nanoseconds(count)));
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->count() == count);
  });
}

TEST(Duration, AnyTextGetsAnAnswerThatCanBePrinted) {
  testing::for_all(5000, [] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "1", "90", ".", "s", "m", "ms", "h", "w", "\xC2\xB5s", "\xC2", "-", " ", "9999999"));
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    const Result<Nanoseconds> duration = parse_duration(text);
    if (duration) {
      RC_ASSERT(duration->count() >= 0);
      RC_ASSERT(*parse_duration(duration_text(*duration)) == *duration);
    } else {
      RC_ASSERT(is_valid_utf8(duration.error().message));
      RC_ASSERT(duration.error().column >= 1);
      RC_ASSERT(duration.error().column <= text.size() + 1);
    }
  });
}

}  // namespace
}  // namespace kron
