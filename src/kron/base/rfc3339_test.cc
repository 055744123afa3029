#include "kron/base/rfc3339.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "kron/base/text.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kYear0 = -62167219200;
constexpr std::int64_t kYear9999End = 253402300799;

TEST(Rfc3339, WritesUtcToTheSecond) {
  EXPECT_EQ(rfc3339(instant_of(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(instant_of(-1)), "1969-12-31T23:59:59Z");
  EXPECT_EQ(rfc3339(instant_of(951'782'400)), "2000-02-29T00:00:00Z");
  EXPECT_EQ(rfc3339(kLastInstant), "2199-12-31T23:59:59Z");
  EXPECT_EQ(rfc3339(instant_of(kYear0)), "0000-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(instant_of(kYear9999End)), "9999-12-31T23:59:59Z");
}

TEST(Rfc3339, ReadsEverySpelling) {
  const struct {
    std::string_view text;
    std::string_view utc;
  } rows[] = {
      {"2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"},
      {"2026-03-01t00:00:00z", "2026-03-01T00:00:00Z"},
      {"2026-03-01 00:00:00Z", "2026-03-01T00:00:00Z"},
      {"2026-03-01T00:00:00+01:00", "2026-02-28T23:00:00Z"},
      {"2026-03-01T00:00:00-05:45", "2026-03-01T05:45:00Z"},
      {"2026-03-01T00:00:00-00:00", "2026-03-01T00:00:00Z"},
      {"2026-03-01T00:00:00.999999999999Z", "2026-03-01T00:00:00Z"},
      {"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"},
      {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"},
      {"2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"},
  };
  for (const auto& row : rows) {
    const Result<Instant> t = parse_rfc3339(row.text);
    ASSERT_TRUE(t.has_value()) << row.text << ": " << t.error().message;
    EXPECT_EQ(rfc3339(*t), row.utc) << row.text;
  }
}

TEST(Rfc3339, RefusesWithTheColumnOfTheFirstBadCharacter) {
  const struct {
    std::string text;
    std::size_t column;
    std::string_view expected;
  } rows[] = {
      {"", 1, "the year"},
      {"202", 4, "the year"},
      {"26-03-01T00:00:00Z", 3, "the year"},
      {"2026", 5, "-month"},
      {"2026-3-01T00:00:00Z", 7, "-month"},
      {"2026-13-01T00:00:00Z", 6, "-month"},
      {"2026-00-01T00:00:00Z", 6, "-month"},
      {"2026-02-29T00:00:00Z", 9, "exists in the month"},
      {"2026-04-31T00:00:00Z", 9, "exists in the month"},
      {"2026-03-00T00:00:00Z", 9, "-day"},
      {"2026-03-01", 11, "T and the hour"},
      {"2026-03-01X00:00:00Z", 11, "T and the hour"},
      {"2026-03-01T24:00:00Z", 12, "T and the hour"},
      {"2026-03-01T00:60:00Z", 15, ":minute"},
      {"2026-03-01T00:00:61Z", 18, ":second"},
      {"2026-03-01T00:00", 17, ":second"},
      {"2026-03-01T00:00:00", 20, "Z or an offset"},
      {"2026-03-01T00:00:00.Z", 21, "digits of a fraction"},
      {"2026-03-01T00:00:00+1", 22, "an offset"},
      {"2026-03-01T00:00:00+24:00", 21, "an offset"},
      {"2026-03-01T00:00:00+0100", 23, "an offset"},
      {"2026-03-01T00:00:00Zulu", 21, "the end"},
      {"0000-01-01T00:00:00+00:01", 1, "outside the years"},
      {"9999-12-31T23:59:59-00:01", 1, "outside the years"},
      {"9999-12-31T23:59:60Z", 1, "outside the years"},
      {std::string(100'000, '1'), 5, "-month"},
      {"2026-\xFF", 6, "'2026-\\xff'"},
  };
  for (const auto& row : rows) {
    const Result<Instant> t = parse_rfc3339(row.text);
    ASSERT_FALSE(t.has_value()) << row.text.substr(0, 40);
    EXPECT_EQ(t.error().code, Code::invalid);
    EXPECT_EQ(t.error().column, row.column) << row.text.substr(0, 40);
    EXPECT_THAT(t.error().message, HasSubstr(row.expected));
    EXPECT_LT(t.error().message.size(), 200U);
  }
}

TEST(Rfc3339, ParseOfPrintIsIdentity) {
  testing::for_all(5000, [] {
    const Instant t = instant_of(*rc::gen::inRange<std::int64_t>(kYear0, kYear9999End + 1));
    const Result<Instant> back = parse_rfc3339(rfc3339(t));
    RC_ASSERT(back.has_value());
    RC_ASSERT(*back == t);
  });
}

TEST(Rfc3339, OrderOfTextsIsOrderOfInstants) {
  testing::for_all(2000, [] {
    const Instant a = instant_of(*rc::gen::inRange<std::int64_t>(kYear0, kYear9999End + 1));
    const Instant b = a + Seconds(*rc::gen::inRange(-100'000, 100'000));
    RC_PRE(b >= instant_of(kYear0) && b <= instant_of(kYear9999End));
    RC_ASSERT((rfc3339(a) <=> rfc3339(b)) == (a <=> b));
  });
}

TEST(Rfc3339, OneWrongByteNeverCrashesAndNeverReadsWhatCannotBeWritten) {
  testing::for_all(5000, [] {
    std::string text = "2026-03-01T00:00:00+01:00";
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    const Result<Instant> t = parse_rfc3339(text);
    if (t) {
      RC_ASSERT(*parse_rfc3339(rfc3339(*t)) == *t);
    } else {
      RC_ASSERT(is_valid_utf8(t.error().message));
      RC_ASSERT(t.error().column >= 1 && t.error().column <= text.size() + 1);
    }
  });
}

}  // namespace
}  // namespace kron
