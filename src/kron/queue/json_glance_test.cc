#include "kron/queue/json_glance.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>

#include "kron/json/document.h"
#include "kron/queue/opaque_json.h"
#include "kron/queue/task.h"
#include "kron/testing/draws.h"
#include "kron/testing/property.h"

namespace kron::json_glance_test {
namespace {

using testing::for_all;
using testing::maybe;
using testing::one_of;

constexpr std::size_t kDepth = 4;

// What a payload becomes by way of a tree.
std::optional<std::string> by_a_tree(const std::string& text, std::size_t depth) {
  if (!parse_json(text, {kMostPayloadBytes, depth})) return std::nullopt;
  return without_blanks(text);
}

// A glance says nothing that the tree does not say.
bool agrees(const std::string& text, std::size_t depth) {
  const auto slow = by_a_tree(text, depth);
  switch (glance_at_json(text, depth)) {
    case JsonGlance::unsure:
      return true;
    case JsonGlance::compact:
      return slow == text;
    case JsonGlance::has_blanks:
      return slow && slow->size() < text.size();
  }
  return false;
}

std::string blanks() { return one_of("", "", "", " ", "\n", "\t\r "); }

std::string drawn_text() {
  std::string text = "\"";
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    text += one_of("a", "b", "[", "}", " ", "\x7f", "\u00fc", "\U0001f600", "\xff", "\xc3", "\x1f", "\\n", "\\\"",
                   "\\\\", "\\/", "\\u0041", "\\u0000", "\\uD7ff", "\\ue000", "\\ud83d\\ude00", "\\ud83d", "\\udE00",
                   "\\u12g4", "\\u12", "\\x", "\\");
  }
  return text + "\"";
}

std::string drawn_number() {
  return one_of("0", "-0", "00", "01", "-", "7", "123", "-45", "123456789012345678", "9223372036854775807",
                "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1.", "1.50", ".5", "-0.0",
                "1e5", "1E+99", "1e-99", "1e308", "1e309", "1e", "1e+", "2e1.5", "+1") +
         (*rc::gen::inRange(0, 20) == 0 ? std::string(static_cast<std::size_t>(*rc::gen::inRange(1, 400)), '3') : "");
}

std::string drawn_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 5 ? 5 : 9)) {
    case 0:
      return one_of("true", "false", "null", "tru", "nul", "NaN", "'a'", "", "//");
    case 1:
    case 2:
      return drawn_number();
    case 3:
    case 4:
      return drawn_text();
    case 5:
    case 6: {
      std::string list = "[" + blanks();
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
        list += drawn_value(depth + 1) + blanks() + (i > 1 ? "," : "") + blanks();
      return list + "]";
    }
    default: {
      std::string map = "{" + blanks();
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        map += (maybe() ? drawn_text() : one_of("\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"\\u0061\"")) + blanks() + ":" +
               blanks();
        map += drawn_value(depth + 1) + blanks() + (i > 1 ? "," : "") + blanks();
      }
      return map + "}";
    }
  }
}

// As it was drawn, or with one character put in, left out or turned into another.
std::string spoilt(std::string text) {
  const auto at = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(text.size()) + 1));
  const std::string other = one_of("\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", " ", "x",
                                   "\xef\xbb\xbf", std::string(1, '\0'));
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return text.insert(at, other);
    case 1:
      return text.erase(at, 1);
    case 2:
      return text.replace(at, 1, other);
    default:
      return text;
  }
}

TEST(JsonGlance, SaysNothingThatAParserDoesNotSay) {
  for_all(3000, [] {
    const std::string text = spoilt(blanks() + drawn_value(0) + blanks());
    RC_ASSERT(agrees(text, kDepth));
    RC_ASSERT(agrees(text, kMostPayloadDepth));
  });
}

TEST(JsonGlance, APayloadIsWhatAParserMakesOfItWithTheSameWords) {
  for_all(1000, [] {
    const std::string text = spoilt(blanks() + drawn_value(0) + blanks());
    const auto task = checked(NewTask{.id = "a", .type = "T", .data = text});
    const auto parsed = parse_json(text, {kMostPayloadBytes, kMostPayloadDepth});
    RC_ASSERT(task.has_value() == parsed.has_value());
    if (task) {
      RC_ASSERT(task->data == without_blanks(text));
    } else {
      RC_ASSERT(task.error().message == parsed.error().message);
      RC_ASSERT(task.error().column == parsed.error().column);
      RC_ASSERT(task.error().field == "payload");
    }
  });
}

TEST(JsonGlance, IsSureOfWhatIsCommon) {
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  for (const std::string& text : std::initializer_list<std::string>{
           R"({"customer":4711,"month":"2026-01","format":"pdf","to":"someone@example.com"})", "null", "true", "false",
           "0", "-12.5e-3", R"("")", R"("ü \" \\ \u00fc \n")", "[]", "{}",
           R"([[],{"a":{"a":[1,2.0,null]},"b":{"a":1}}])", std::string(64, '[') + std::string(64, ']'), many + "}"}) {
    EXPECT_EQ(glance_at_json(text, 64), JsonGlance::compact) << text;
    EXPECT_EQ(glance_at_json(" " + text, 64), JsonGlance::has_blanks) << text;
    EXPECT_EQ(glance_at_json(text + "\n", 64), JsonGlance::has_blanks) << text;
    EXPECT_EQ(glance_at_json(text + "x", 64), JsonGlance::unsure) << text;
  }
  EXPECT_EQ(glance_at_json(R"({ "a b" : [ 1 , 2 ] })", 64), JsonGlance::has_blanks);
}

TEST(JsonGlance, IsNotSureOfWhatAParserRefuses) {
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"" + std::to_string(i) + "\":0,";
  for (const std::string& text : std::initializer_list<std::string>{"",
                                                                    " ",
                                                                    "[1 2]",
                                                                    "[1,]",
                                                                    "{\"a\":1,}",
                                                                    R"({"a":1,"b":2,"a":3})",
                                                                    R"([{"a":1},{"b":{"c":1,"c":1}}])",
                                                                    many + "\"57\":0}",
                                                                    R"({"a" 1})",
                                                                    R"({1:1})",
                                                                    "01",
                                                                    "1.",
                                                                    "-",
                                                                    "1e999",
                                                                    std::string(400, '9'),
                                                                    "18446744073709551616",
                                                                    "\"\x80\"",
                                                                    "\"a\nb\"",
                                                                    R"("\ud800")",
                                                                    R"("\q")",
                                                                    "\"open",
                                                                    "\"open\\",
                                                                    "tru",
                                                                    std::string("1\0", 2),
                                                                    std::string(65, '[') + std::string(65, ']')}) {
    EXPECT_EQ(glance_at_json(text, 64), JsonGlance::unsure) << text.substr(0, 50);
    EXPECT_FALSE(by_a_tree(text, 64)) << text.substr(0, 50);
  }
}

}  // namespace
}  // namespace kron::json_glance_test
