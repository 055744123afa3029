#include "kron/http/target.h"

#include <gtest/gtest.h>

#include "kron/base/text.h"
#include "kron/testing/property.h"

namespace kron::http {
namespace {

using Segments = std::vector<std::string>;

TEST(Target, ThePathIsSplitBeforeItIsDecoded) {
  const struct {
    const char* target;
    Segments segments;
  } table[] = {
      {"/", {}},
      {"/api/v1/jobs", {"api", "v1", "jobs"}},
      {"/jobs/a%2Fb", {"jobs", "a/b"}},
      {"/jobs/a%2f..%2fb", {"jobs", "a/../b"}},
      {"/jobs/", {"jobs", ""}},
      {"//jobs", {"", "jobs"}},
      {"/a+b", {"a+b"}},
      {"/%C3%A9%20%25", {"\xC3\xA9 %"}},
      {"/...", {"..."}},
      {"/.a/b.", {".a", "b."}},
      {"/%3F?x", {"?"}},
      {"/a;b=c,d@e:f!$&'()*", {"a;b=c,d@e:f!$&'()*"}},
  };
  for (const auto& row : table) {
    const auto target = parse_target(row.target);
    ASSERT_TRUE(target) << row.target << ": " << target.error().message;
    EXPECT_EQ(target->segments, row.segments) << row.target;
  }
}

TEST(Target, TheQueryIsDecodedAfterItIsSplit) {
  const struct {
    const char* target;
    Fields query;
  } table[] = {
      {"/?", {}},
      {"/?a", {{"a", ""}}},
      {"/?a=1&b=2", {{"a", "1"}, {"b", "2"}}},
      {"/?a=1&a=2&&", {{"a", "1"}, {"a", "2"}}},
      {"/?a=b=c", {{"a", "b=c"}}},
      {"/?a%3Db=c%26d", {{"a=b", "c&d"}}},
      {"/?a=b+c%2B", {{"a", "b c+"}}},
      {"/?a=/../?x", {{"a", "/../?x"}}},
      {"/?=x", {{"", "x"}}},
  };
  for (const auto& row : table) {
    const auto target = parse_target(row.target);
    ASSERT_TRUE(target) << row.target << ": " << target.error().message;
    EXPECT_EQ(target->query, row.query) << row.target;
  }
}

TEST(Target, WhatTwoReadersCouldReadDifferentlyIsRefused) {
  for (const char* target :
       {"",        "*",    "a",         "http://a/", "a:80", "/a b",    "/a\tb",      "/a#b",     "/\xC3\xA9", "/%00",
        "/%",      "/%4",  "/%4g",      "/%g4",      "/%FF", "/%C0%AF", "/%ED%A0%80", "/.",       "/..",       "/a/./b",
        "/a/../b", "/%2e", "/%2E%2e/a", "/.%2e",     "/a?%", "/a?b=%0", "/a?b=%00",   "/a?b=%FF", "/\x7f"}) {
    const auto parsed = parse_target(target);
    ASSERT_FALSE(parsed) << target;
    EXPECT_EQ(parsed.error().code, Code::invalid);
    EXPECT_FALSE(parsed.error().message.empty());
  }
}

TEST(Target, AnyTextComesBackFromASegmentAndAQuery) {
  testing::for_all(500, [](const std::string& bytes) {
    std::string text;
    for (const char c : bytes)
      text += c == '\0' || static_cast<unsigned char>(c) > 0x7F ? "\xE2\x82\xAC" : std::string(1, c);
    if (text == "." || text == ".." || text.empty()) text = "x";
    const auto target =
        parse_target("/jobs/" + percent_encoded(text) + "?" + percent_encoded(text) + "=" + percent_encoded(text));
    RC_ASSERT(target.has_value());
    RC_ASSERT(target->segments == Segments({"jobs", text}));
    RC_ASSERT(target->query == Fields({{text, text}}));
  });
}

TEST(Target, AnyBytesAreEitherRefusedOrValidUtf8WithoutNul) {
  testing::for_all(1000, [](const std::string& bytes) {
    const auto target = parse_target("/" + bytes);
    if (!target) return;
    for (const std::string& segment : target->segments) {
      RC_ASSERT(is_valid_utf8(segment));
      RC_ASSERT(segment.find('\0') == std::string::npos);
      RC_ASSERT(segment != ".." && segment != ".");
    }
  });
}

}  // namespace
}  // namespace kron::http
