#include "kron/forecast/ics_text.h"

#include <gtest/gtest.h>

#include "kron/base/text.h"
#include "kron/core/sample_jobs.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

std::string line(std::string_view name, std::string_view value) { return IcsWriter().line(name, value).take(); }
std::string text(std::string_view name, std::string_view value) { return IcsWriter().text(name, value).take(); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\r\n", at);
    lines.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return lines;
}

TEST(IcsText, EscapesWhatATextMayNotHave) {
  EXPECT_EQ(text("SUMMARY", "a\\b;c,d\ne:f\"g"), "SUMMARY:a\\\\b\\;c\\,d\\ne:f\"g\r\n");
  EXPECT_EQ(text("SUMMARY", std::string_view("a\0b\rc\x7F\x1B[1m\td", 12)), "SUMMARY:abc[1m\td\r\n");
}

TEST(IcsText, ALineOf75OctetsIsNotFoldedAndOneMoreIs) {
  const std::string fits(IcsWriter::kMostOctets - 2, 'x');
  EXPECT_EQ(line("A", fits), "A:" + fits + "\r\n");
  EXPECT_EQ(line("A", fits + "y"), "A:" + fits + "\r\n y\r\n");
}

TEST(IcsText, NoCharacterIsCutByAFold) {
  const std::string almost(IcsWriter::kMostOctets - 3, 'x');
  EXPECT_EQ(line("A", almost + "é"), "A:" + almost + "\r\n é\r\n");
  EXPECT_EQ(line("A", almost + "\xFF\xFF"), "A:" + almost + "\xFF\r\n \xFF\r\n") << "what is no character may be cut";
}

TEST(IcsText, UnfoldedItIsWhatItWas) {
  testing::for_all(300, [] {
    const auto parts = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("a", "é", "€", "😀", ",", ";", "\\", "\n", " ", "long-word-without-end"));
    std::string value;
    for (const std::string& part : parts) value += part;
    std::string whole;
    for (const std::string& one : lines_of(text("DESCRIPTION", value))) {
      RC_ASSERT(one.size() <= IcsWriter::kMostOctets);
      RC_ASSERT(is_valid_utf8(one));
      whole += whole.empty() ? one : one.substr(1);
    }
    std::string read;
    for (std::size_t i = std::string_view("DESCRIPTION:").size(); i < whole.size(); ++i) {
      read += whole[i] != '\\' ? whole[i] : whole[++i] == 'n' ? '\n' : whole[i];
    }
    RC_ASSERT(read == value);
  });
}

TEST(IcsText, TimesAreUtc) {
  EXPECT_EQ(ics_time(testing::utc("2026-03-01T02:32:20Z")), "20260301T023220Z");
  EXPECT_EQ(ics_date(testing::utc("2026-03-01T23:59:59Z")), "20260301");
}

}  // namespace
}  // namespace kron
