#include "kron/http/credentials.h"

#include <gtest/gtest.h>

namespace kron::http {
namespace {

Request with(Fields headers) { return {.method = "GET", .headers = std::move(headers)}; }

TEST(Credentials, ABearerIsWhatStandsBehindTheWord) {
  EXPECT_EQ(bearer_of(with({{"authorization", "Bearer abc"}})), "abc");
  EXPECT_EQ(bearer_of(with({{"authorization", "BEARER abc"}})), "abc");
  EXPECT_EQ(bearer_of(with({{"authorization", "Basic abc"}})), std::nullopt);
  EXPECT_EQ(bearer_of(with({{"authorization", "Bearer"}})), std::nullopt);
  EXPECT_EQ(bearer_of(with({})), std::nullopt);
}

TEST(Credentials, ACookieIsFoundByItsWholeName) {
  const Request head = with({{"cookie", "a=1; b=2;c=3 ; d"}, {"cookie", "e=x=y"}});
  EXPECT_EQ(cookie_of(head, "a"), "1");
  EXPECT_EQ(cookie_of(head, "b"), "2");
  EXPECT_EQ(cookie_of(head, "c"), "3");
  EXPECT_EQ(cookie_of(head, "d"), std::nullopt);
  EXPECT_EQ(cookie_of(head, "e"), "x=y");
  EXPECT_EQ(cookie_of(head, ""), std::nullopt);
  EXPECT_EQ(cookie_of(with({{"cookie", "a=1; a=2"}}), "a"), std::nullopt) << "which of them?";
  EXPECT_EQ(cookie_of(with({{"cookie", ";;; =;a"}}), "a"), std::nullopt);
}

TEST(Credentials, TwoTokensAndBytesThatNoTokenHasAreRefused) {
  EXPECT_EQ(refusal_of_credentials(with({{"authorization", "Bearer a"}})), std::nullopt);
  EXPECT_EQ(refusal_of_credentials(with({{"authorization", "Bearer a"}, {"authorization", "Bearer a"}}))->status, 400);
  for (const char* name : {"authorization", "cookie", "x-kron-csrf"}) {
    EXPECT_EQ(refusal_of_credentials(with({{name, "a\xff"}}))->status, 400) << name;
    EXPECT_EQ(refusal_of_credentials(with({{name, "a\x7f"}}))->status, 400) << name;
  }
  EXPECT_EQ(refusal_of_credentials(with({{"user-agent", "\xff"}})), std::nullopt);
}

TEST(Credentials, WhoIsNotLetInIsToldHow) {
  EXPECT_EQ(unauthorized().status, 401);
  EXPECT_EQ(unauthorized().header("WWW-Authenticate"), "Bearer");
}

}  // namespace
}  // namespace kron::http
