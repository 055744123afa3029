#include "kron/api/session_text.h"

#include <gtest/gtest.h>

namespace kron::api {
namespace {

const Session kSession{.id = "00112233445566778899aabbccddeeff",
                       .token_id = "abcdefgh",
                       .issued = instant_of(1'000),
                       .expires = instant_of(2'000)};
constexpr std::string_view kKey = "key";

TEST(SessionText, ReadsBackWithItsKeyAlone) {
  const std::string text = session_text(kSession, kKey);
  EXPECT_EQ(text.substr(0, text.rfind('.')), "v1.00112233445566778899aabbccddeeff.abcdefgh.1000.2000");
  EXPECT_EQ(parse_session(text, kKey), kSession);
  EXPECT_EQ(parse_session(text, "another"), std::nullopt) << "another krond, or a key that was made anew";
}

TEST(SessionText, AnyChangeMakesItNone) {
  const std::string right = session_text(kSession, kKey);
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const char wrong : {'0', '9', 'a', 'f', '.', '\0', '\xff'}) {
      std::string text = right;
      if (text[i] == wrong) continue;
      text[i] = wrong;
      EXPECT_EQ(parse_session(text, kKey), std::nullopt) << i << " " << text;
    }
    EXPECT_EQ(parse_session(right.substr(0, i), kKey), std::nullopt) << i;
  }
  EXPECT_EQ(parse_session(right + "0", kKey), std::nullopt);
  EXPECT_EQ(parse_session(right + std::string(100'000, 'a'), kKey), std::nullopt);
}

TEST(SessionText, WhatProvesAPageIsOfItsSessionAndKey) {
  EXPECT_EQ(csrf_of(kSession.id, kKey).size(), 64U);
  EXPECT_NE(csrf_of(kSession.id, kKey), csrf_of(kSession.id, "another"));
  EXPECT_NE(csrf_of(kSession.id, kKey), csrf_of("00112233445566778899aabbccddee00", kKey));
  const std::string text = session_text(kSession, kKey);
  EXPECT_EQ(text.find(csrf_of(kSession.id, kKey)), std::string::npos) << "who has the one has not the other";
}

TEST(SessionText, TheCookieOfEachKrondHasANameOfItsOwn) {
  EXPECT_EQ(cookie_name(kKey).size(), std::string_view("__Host-kron-01234567").size());
  EXPECT_TRUE(cookie_name(kKey).starts_with("__Host-kron-"));
  EXPECT_NE(cookie_name(kKey), cookie_name("another"));
}

}  // namespace
}  // namespace kron::api
