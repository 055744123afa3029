#include "kron/base/token_text.h"

#include <gtest/gtest.h>

namespace kron {
namespace {

constexpr TokenIdBytes kId{1, 2, 3, 4, 5};
TokenSecretBytes secret_of(std::uint8_t byte) {
  TokenSecretBytes bytes{};
  bytes.fill(byte);
  return bytes;
}

// What is in the hands of people stays valid: these are spelled so for ever.
TEST(TokenText, IsSpelledAsItAlwaysWas) {
  EXPECT_EQ(token_text({}, secret_of(0)), "kron_aaaaaaaa_000000000000000000000000000000000000000000019zUMI");
  EXPECT_EQ(token_text({255, 255, 255, 255, 255}, secret_of(255)).size(), kTokenSize);
  EXPECT_TRUE(token_text({255, 255, 255, 255, 255}, secret_of(255)).starts_with("kron_77777777_"));
}

TEST(TokenText, HoldsItsId) {
  const std::string text = token_text(kId, secret_of(7));
  ASSERT_TRUE(token_id_in(text));
  EXPECT_EQ(*token_id_in(text), text.substr(5, 8));
  EXPECT_TRUE(is_token_id(*token_id_in(text)));
}

TEST(TokenText, AnySingleWrongCharacterMakesItNone) {
  const std::string right = token_text(kId, secret_of(0xAB));
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const char wrong : {'a', 'Z', '0', '_', ' ', '.', '\0', '\xff'}) {
      std::string text = right;
      if (text[i] == wrong) continue;
      text[i] = wrong;
      EXPECT_EQ(token_id_in(text), std::nullopt) << i << " " << text;
    }
  }
}

TEST(TokenText, OtherLengthsAreNone) {
  const std::string right = token_text(kId, secret_of(1));
  for (std::size_t size = 0; size < right.size(); ++size) EXPECT_EQ(token_id_in(right.substr(0, size)), std::nullopt);
  EXPECT_EQ(token_id_in(right + "0"), std::nullopt);
  EXPECT_EQ(token_id_in(" " + right), std::nullopt);
  EXPECT_FALSE(is_token_id("AAAAAAAA"));
  EXPECT_FALSE(is_token_id("aaaaaaa"));
  EXPECT_FALSE(is_token_id("aaaaaaa1"));
}

TEST(TokenText, DifferentSecretsAreDifferentTokens) {
  EXPECT_NE(token_text(kId, secret_of(1)), token_text(kId, secret_of(2)));
  TokenSecretBytes last = secret_of(1);
  last.back() = 0;
  EXPECT_NE(token_text(kId, secret_of(1)), token_text(kId, last));
}

}  // namespace
}  // namespace kron
