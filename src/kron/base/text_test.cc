#include "kron/base/text.h"

#include <array>
#include <gtest/gtest.h>
#include <string>

#include "kron/testing/property.h"

namespace kron {
namespace {

TEST(Text, Utf8IsCheckedByTheStandard) {
  const struct {
    std::string_view text;
    bool valid;
  } rows[] = {
      {"", true},
      {"plain", true},
      {"\xC3\xA9t\xC3\xA9", true},
      {"\xE2\x82\xAC", true},
      {"\xF0\x9F\x95\x90", true},
      {"\xF4\x8F\xBF\xBF", true},
      {"\xED\x9F\xBF", true},
      {"\x80", false},              // a continuation alone
      {"\xC3", false},              // cut short
      {"\xE2\x82", false},          // cut short
      {"\xC0\xAF", false},          // overlong
      {"\xC1\xBF", false},          // overlong
      {"\xE0\x9F\xBF", false},      // overlong
      {"\xF0\x8F\xBF\xBF", false},  // overlong
      {"\xED\xA0\x80", false},      // surrogate
      {"\xF4\x90\x80\x80", false},  // beyond U+10FFFF
      {"\xF5\x80\x80\x80", false},
      {"\xFF", false},
      {"ok\xC3(", false},
  };
  for (const auto& row : rows) EXPECT_EQ(is_valid_utf8(row.text), row.valid) << quoted(row.text);
}

TEST(Text, TrimmedLosesBlanksAtBothEndsOnly) {
  EXPECT_EQ(trimmed(" \t a b \r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, CaseIsAsciiOnly) {
  EXPECT_EQ(lower("MoN-\xC3\x89"), "mon-\xC3\x89");
  EXPECT_TRUE(equals_ignoring_case("Jan", "jAN"));
  EXPECT_FALSE(equals_ignoring_case("jan", "jan "));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
}

TEST(Text, QuotedEscapesWhatATerminalWouldObey) {
  EXPECT_EQ(quoted("plain"), "'plain'");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(quoted("a\nb\x1b[0m\x7f"), "'a\\x0ab\\x1b[0m\\x7f'");
  EXPECT_EQ(quoted("\xC2\x9B"), "'\\xc2\\x9b'");
  EXPECT_EQ(quoted("a\xE2\x80\xAE\x62"), "'a\\xe2\\x80\\xaeb'") << "U+202E turns what follows around";
  EXPECT_EQ(quoted("\xE2\x81\xA6"), "'\\xe2\\x81\\xa6'");
  EXPECT_EQ(quoted("\xE2\x82\xAC"), "'\xE2\x82\xAC'");
  EXPECT_EQ(quoted(std::string_view("a\0b", 3)), "'a\\x00b'");
  EXPECT_EQ(quoted("\xC3\xA9\xFF"), "'\xC3\xA9\\xff'");
}

TEST(Text, QuotedIsCutBetweenCharacters) {
  EXPECT_EQ(quoted("1234567890", 10), "'1234567890'");
  EXPECT_EQ(quoted("12345678901", 10), "'1234567890\xE2\x80\xA6'");
  EXPECT_EQ(quoted("123456789\xC3\xA9", 10), "'123456789\xE2\x80\xA6'");
}

TEST(Text, QuotedIsAlwaysValidUtf8AndShort) {
  testing::for_all(2000, [](const std::string& text) {
    const std::string shown = quoted(text, 12);
    RC_ASSERT(is_valid_utf8(shown));
    RC_ASSERT(shown.size() <= 12U + 5U);
  });
}

TEST(Text, NearestWordIsTheOneMeant) {
  constexpr std::array<std::string_view, 5> kKnown{"hours", "months", "between", "dow", "calendar"};
  EXPECT_EQ(nearest_word("hour", kKnown), "hours");
  EXPECT_EQ(nearest_word("HOURS", kKnown), "hours");
  EXPECT_EQ(nearest_word("horus", kKnown), "hours");
  EXPECT_EQ(nearest_word("moths", kKnown), "months");
  EXPECT_EQ(nearest_word("betwen", kKnown), "between");
  EXPECT_EQ(nearest_word("dom", kKnown), "dow");
  EXPECT_EQ(nearest_word("x", kKnown), "");
  EXPECT_EQ(nearest_word("xyz", kKnown), "");
  EXPECT_EQ(nearest_word("minutes", kKnown), "");
  EXPECT_EQ(nearest_word("", kKnown), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'h'), kKnown), "");
  EXPECT_EQ(nearest_word("hours", {}), "");
}

}  // namespace
}  // namespace kron
