#include "kron/json/writer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/testing/property.h"

namespace kron {
namespace {

TEST(JsonWriter, WritesCompactJsonInOrder) {
  JsonWriter json;
  json.begin_map().member("b", "x{").key("a").begin_list().integer(-1).real(2.5).boolean(true).null();
  json.begin_map().end_map().begin_list().end_list().text("[").end_list().key("c").real(NAN).end_map();
  EXPECT_EQ(json.take(), R"({"b":"x{","a":[-1,2.5,true,null,{},[],"["],"c":null})");
}

TEST(JsonWriter, EscapesWhatJsonRequires) {
  EXPECT_EQ(JsonWriter().text(std::string_view("\"\\/\n\r\t\b\0é\x7f", 11)).take(),
            "\"\\\"\\\\/\\n\\r\\t\\u0008\\u0000é\x7f\"");
}

TEST(JsonWriter, ReplacesBytesThatAreNoCharacter) {
  EXPECT_EQ(JsonWriter().text("a\x80z\xE2\x82").take(), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWriter, NumbersAreTheShortestThatReadBack) {
  EXPECT_EQ(JsonWriter().real(2).take(), "2");
  EXPECT_EQ(JsonWriter().real(0.1).take(), "0.1");
  EXPECT_EQ(JsonWriter().integer(std::numeric_limits<std::int64_t>::min()).take(), "-9223372036854775808");
}

TEST(JsonWriter, TextsAndNumbersReadBack) {
  testing::for_all(500, [](const std::string& text, double number) {
    const Result<Node> read = parse_json(JsonWriter().begin_list().text(text).real(number).end_list().take());
    RC_ASSERT(read.has_value());
    const auto& list = *read->as<Node::List>();
    if (is_valid_utf8(text)) RC_ASSERT(*list[0].as<std::string>() == text);
    if (const auto* real = list[1].as<double>()) RC_ASSERT(*real == number);
  });
}

}  // namespace
}  // namespace kron
