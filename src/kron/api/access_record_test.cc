#include "kron/api/access_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron::api {
namespace {

using ::testing::HasSubstr;

const std::string kHash(64, 'a');

TokenRecord sample_token(const std::string& id, const std::string& name) {
  return {.id = id,
          .name = name,
          .role = Right::operate,
          .sha256 = kHash,
          .created_at = testing::utc("2026-01-01T00:00:00Z"),
          .created_by = "root",
          .expires_at = testing::utc("2027-01-01T00:00:00Z")};
}

AccessRecord sample_access() {
  AccessRecord record{.session_key = std::string(64, 'b'), .tokens = {sample_token("abcdefgh", "one")}};
  record.tokens.push_back(sample_token("abcdefgi", "two"));
  record.tokens.back().expires_at.reset();
  record.tokens.back().role = Right::admin;
  record.ended = {{"00112233445566778899aabbccddeeff", testing::utc("2026-02-01T00:00:00Z")}};
  return record;
}

TEST(AccessRecord, HasFourRoles) {
  for (const Right role : {Right::ics, Right::read, Right::operate, Right::admin}) {
    AccessRecord record = sample_access();
    record.tokens[0].role = role;
    EXPECT_EQ(parse_access(access_text(record)).value(), record);
    EXPECT_EQ(role_named(name_of(role)), role);
  }
  EXPECT_EQ(role_named("none"), std::nullopt);
  EXPECT_EQ(role_named("own"), std::nullopt);
}

TEST(AccessRecord, ReadsBackWhatWasWritten) {
  EXPECT_EQ(parse_access(access_text(sample_access())).value(), sample_access());
  AccessRecord restricted = sample_access();
  restricted.tokens[0].jobs = "billing/";
  EXPECT_EQ(parse_access(access_text(restricted)).value(), restricted);
}

// docs/formats.md shows it.
TEST(AccessRecord, IsSpelledAsTheFormatSays) {
  AccessRecord record = sample_access();
  record.tokens.pop_back();
  EXPECT_EQ(
      access_text(record),
      R"({"Version":"1","sessionKey":")" + std::string(64, 'b') +
          R"(","tokens":[{"id":"abcdefgh","name":"one","role":"operate","sha256":")" + kHash +
          R"(","createdAt":"2026-01-01T00:00:00Z","createdBy":"root","expiresAt":"2027-01-01T00:00:00Z","jobs":null}],)"
          R"("endedSessions":[{"id":"00112233445566778899aabbccddeeff","until":"2026-02-01T00:00:00Z"}]})"
          "\n");
}

TEST(AccessRecord, HalfARecordIsNone) {
  const std::string right = access_text(sample_access());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = right;
    text.replace(text.find(from), from.size(), to);
    return parse_access(text);
  };
  EXPECT_FALSE(parse_access(""));
  EXPECT_FALSE(parse_access("[]"));
  EXPECT_FALSE(parse_access("{}"));
  EXPECT_FALSE(with(R"("Version":"1")", R"("Version":"2")"));
  EXPECT_FALSE(with(std::string(64, 'b'), "short"));
  EXPECT_FALSE(with("abcdefgh", "ABCDEFGH"));
  EXPECT_FALSE(with("operate", "own")) << "no token makes tokens";
  EXPECT_FALSE(with("operate", "none"));
  EXPECT_FALSE(with(kHash, "aa"));
  EXPECT_FALSE(with("2027-01-01T00:00:00Z", "soon"));
  EXPECT_FALSE(with("\"one\"", "\"\""));
  EXPECT_FALSE(with("\"one\"", "3"));
  EXPECT_FALSE(with("abcdefgi", "abcdefgh")) << "which of the two?";
  EXPECT_FALSE(with("\"two\"", "\"one\""));
  for (std::size_t size = 0; size + 1 < right.size(); ++size) EXPECT_FALSE(parse_access(right.substr(0, size)));
}

TEST(AccessRecord, HoldsAsManyAsTheLimitsSayAndNotOneMore) {
  AccessRecord record{.session_key = std::string(64, 'b')};
  const auto id_of = [](std::size_t number) {
    std::string id = "aaaaaaaa";
    for (std::size_t i = 0; i < 3; ++i, number /= 26) id[i] = static_cast<char>('a' + number % 26);
    return id;
  };
  for (std::size_t i = 0; i < kMostTokens; ++i) {
    record.tokens.push_back(sample_token(id_of(i), std::string(kMostTokenName - 4, 'n') + std::to_string(1000 + i)));
  }
  EXPECT_EQ(parse_access(access_text(record)).value().tokens.size(), kMostTokens);
  record.tokens.push_back(sample_token(id_of(kMostTokens), "one more"));
  EXPECT_THAT(parse_access(access_text(record)).error().message, HasSubstr("1000"));
}

TEST(AccessRecord, ANameIsOneShortLineOfText) {
  EXPECT_EQ(wrong_token_name("prometheus"), std::nullopt);
  EXPECT_EQ(wrong_token_name(std::string(kMostTokenName, 'n')), std::nullopt);
  for (const std::string& name : {std::string(), std::string(kMostTokenName + 1, 'n'), std::string("a\nb"),
                                  std::string("a\x1b[2J"), std::string("a\xE2\x80\xAE"), std::string("\xff")}) {
    EXPECT_NE(wrong_token_name(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace kron::api
