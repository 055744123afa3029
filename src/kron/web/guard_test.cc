#include "kron/web/guard.h"

#include <gtest/gtest.h>

namespace kron::web {
namespace {

http::Request with(http::Fields headers) { return {.method = "GET", .target = "/", .headers = std::move(headers)}; }

// 200: nothing against it.
int status_with(http::Fields headers, Asked asked = Asked::api) {
  const auto no = refusal_of_origin(with(std::move(headers)), asked);
  return no ? no->status : 200;
}

TEST(Guard, ServesUnderTheNamesOfThisMachineAlone) {
  for (const char* host : {"localhost", "localhost:8126", "LOCALHOST:1", "127.0.0.1:9", "127.0.0.1", "[::1]:8126"}) {
    EXPECT_EQ(status_with({{"host", host}}), 200) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:8126", "localhost.evil.example", "127.0.0.1.evil.example",
                           "127.0.0.2", "::1", "[::1]x", "localhost:", "localhost:8126x", "localhost:123456",
                           "xlocalhost", "0.0.0.0", "[::]:8126", "127.0.0.1@evil.example", "localhost:8126:8126"}) {
    EXPECT_EQ(status_with({{"host", host}}), 421) << host;
  }
  EXPECT_EQ(status_with({}), 421);
}

TEST(Guard, AnOriginMustBeItsOwn) {
  const auto from = [](const char* origin) { return status_with({{"host", "127.0.0.1:8126"}, {"origin", origin}}); };
  EXPECT_EQ(from("http://127.0.0.1:8126"), 200);
  for (const char* origin : {"http://127.0.0.1:8127", "http://127.0.0.1", "http://localhost:8126", "null", "",
                             "https://127.0.0.1:8126", "http://evil.example", "http://127.0.0.1:8126.evil.example"}) {
    EXPECT_EQ(from(origin), 403) << origin;
  }
}

TEST(Guard, AnotherSiteMayLeadToThePageAndNoFurther) {
  for (const char* site : {"cross-site", "same-site", "anything"}) {
    EXPECT_EQ(status_with({{"host", "localhost"}, {"sec-fetch-site", site}}), 403) << site;
    EXPECT_EQ(status_with({{"host", "localhost"}, {"sec-fetch-site", site}}, Asked::page), 200) << site;
  }
  for (const char* site : {"same-origin", "none"}) {
    EXPECT_EQ(status_with({{"host", "localhost"}, {"sec-fetch-site", site}}), 200) << site;
  }
  EXPECT_EQ(status_with({{"host", "evil.example"}, {"sec-fetch-site", "none"}}, Asked::page), 421);
}

TEST(Guard, WhatIsSaidTwiceIsNotUnderstood) {
  EXPECT_EQ(status_with({{"host", "localhost"}, {"authorization", "Bearer a"}, {"authorization", "Bearer b"}}), 400);
  EXPECT_EQ(status_with({{"host", "localhost"}, {"origin", "http://localhost"}, {"origin", "http://localhost"}}), 400);
}

TEST(Guard, ATokenIsPlainText) {
  for (const char* token : {"Bearer \xFF\xFE", "Bearer \xC3\xA4", "Bearer \x7F"}) {
    EXPECT_EQ(status_with({{"host", "localhost"}, {"authorization", token}}), 400);
  }
  EXPECT_EQ(status_with({{"host", "localhost"}, {"authorization", "Bearer az09~"}}), 200);
}

}  // namespace
}  // namespace kron::web
