#include "kron/api/access_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/base/sha256.h"
#include "kron/base/token_text.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/random_hex.h"

namespace kron::api::access_store_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TokenIdBytes bytes_of_id(std::string_view id) {
  std::uint64_t number = 0;
  for (const char c : id) {
    number = number << 5U | static_cast<std::uint64_t>(c >= 'a' ? c - 'a' : c - '2' + 26);
  }
  TokenIdBytes bytes{};
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8U) bytes[i] = static_cast<std::uint8_t>(number);
  return bytes;
}

class AccessStoreTest : public ::testing::Test {
 protected:
  AccessStoreTest() { open(); }
  void open() {
    store_ = std::make_unique<AccessStore>(AccessStore::Place{files_, "/state"}, clock_, log_, random_bytes);
    store_->close_by([this](const auto& is_meant) {
      std::erase_if(connected_, [&](const http::Principal& principal) { return is_meant(principal); });
    });
  }
  AccessStore::Created token(const std::string& name, Right role = Right::read, std::optional<Seconds> lives = {}) {
    const auto until = lives ? std::optional(now(clock_) + *lives) : std::nullopt;
    return store_->create({.name = name, .role = role, .expires_at = until, .by = "root"}).value();
  }
  std::string why_not(std::string_view shown) {
    AccessStore::Refused refused;
    EXPECT_EQ(store_->who_has(shown, &refused), std::nullopt);
    return std::string(refused.reason);
  }
  std::string file() { return directory_->read(kAccessName, 1 << 20).value().bytes; }

  testing::PowerCutFileSystem files_;
  std::unique_ptr<Directory> directory_ = open_or_make_directory(files_, "/state", 0700).value();
  testing::FakeClock clock_{testing::utc("2026-03-01T00:00:00Z")};
  testing::CapturingLog log_;
  std::vector<http::Principal> connected_;
  std::unique_ptr<AccessStore> store_;
};

TEST_F(AccessStoreTest, ATokenLetsInAsItsNameAndRoleAlsoAfterARestart) {
  const auto made = token("ci", Right::operate, std::chrono::hours(1));
  for (int i = 0; i < 2; ++i) {
    const auto who = store_->who_has(made.token);
    ASSERT_TRUE(who);
    EXPECT_EQ(who->name, "token ci");
    EXPECT_EQ(right_of(*who), Right::operate);
    EXPECT_FALSE(who->is_preferred);
    EXPECT_EQ(who->until, now(clock_) + std::chrono::hours(1));
    open();
  }
}

TEST_F(AccessStoreTest, TheFileHoldsNoTokenAndIsItsOwnersAlone) {
  const auto made = token("ci");
  EXPECT_THAT(file(), Not(HasSubstr(made.token)));
  EXPECT_THAT(file(), Not(HasSubstr(made.token.substr(14))));
  EXPECT_THAT(file(), HasSubstr(hex(sha256({made.token}))));
  EXPECT_EQ(directory_->info(kAccessName).value().mode, 0600U);
}

TEST_F(AccessStoreTest, WhateverElseIsShownLetsNobodyIn) {
  const auto made = token("ci", Right::read, Seconds(60));
  std::string other_secret = made.token;
  EXPECT_EQ(why_not(""), "no session");
  EXPECT_EQ(why_not("kron_"), "no token");
  other_secret.back() = other_secret.back() == '0' ? '1' : '0';
  EXPECT_EQ(why_not(other_secret), "no token") << "the checksum";
  EXPECT_EQ(why_not(token_text({9, 9, 9, 9, 9}, {})), "unknown or revoked");
  EXPECT_EQ(why_not(token_text(bytes_of_id(made.record.id), {})), "unknown or revoked") << "its id, another secret";
  clock_.advance(Seconds(59));
  EXPECT_TRUE(store_->who_has(made.token));
  clock_.advance(Seconds(1));
  EXPECT_EQ(why_not(made.token), "expired");
}

TEST_F(AccessStoreTest, ATokenThatIsRevokedLetsNobodyInAndEndsWhatItBegan) {
  const auto made = token("ci");
  const auto other = token("other");
  const auto session = store_->open_session(made.token).value();
  connected_ = {*store_->who_has(made.token), *store_->who_has(session.text), *store_->who_has(other.token)};
  ASSERT_TRUE(store_->revoke(made.record.id));
  EXPECT_EQ(why_not(made.token), "unknown or revoked");
  EXPECT_EQ(why_not(session.text), "a session of a token that is revoked");
  ASSERT_EQ(connected_.size(), 1U);
  EXPECT_EQ(connected_[0].name, "token other");
  EXPECT_EQ(store_->revoke(made.record.id).error().code, Code::not_found);
  open();
  EXPECT_EQ(why_not(made.token), "unknown or revoked");
  EXPECT_EQ(store_->list().size(), 1U);
}

TEST_F(AccessStoreTest, ATokenOfALaterKrondThatRestrictsItLetsNobodyIn) {
  const auto made = token("ci");
  AccessRecord record = parse_access(file()).value();
  record.tokens[0].jobs = "billing/";
  ASSERT_TRUE(directory_->remove(kAccessName));
  ASSERT_TRUE(write_all(*directory_->create(kAccessName, 0600).value(), access_text(record)));
  open();
  EXPECT_THAT(why_not(made.token), HasSubstr("restricted"));
}

TEST_F(AccessStoreTest, NamesAreTakenOnceAndThereAreLimits) {
  const auto made = token("ci");
  const auto again = store_->create({.name = "ci", .role = Right::read, .expires_at = {}, .by = "root"});
  EXPECT_EQ(again.error().code, Code::conflict);
  EXPECT_EQ(store_->create({.name = "", .role = Right::read, .expires_at = {}, .by = ""}).error().code, Code::invalid);
  ASSERT_TRUE(store_->revoke(made.record.id));
  token("ci");
}

TEST_F(AccessStoreTest, ThereAreAsManyAsTheLimitSays) {
  for (std::size_t i = 0; i < kMostTokens; ++i) token("t" + std::to_string(i));
  const auto more = store_->create({.name = "more", .role = Right::read, .expires_at = {}, .by = "root"});
  EXPECT_EQ(more.error().code, Code::conflict);
  EXPECT_THAT(more.error().message, HasSubstr("revoke some"));
}

TEST_F(AccessStoreTest, WhatWasUsedIsKnownSinceTheStart) {
  const auto made = token("ci");
  EXPECT_EQ(store_->list()[0].last_used, std::nullopt);
  clock_.advance(Seconds(5));
  ASSERT_TRUE(store_->who_has(made.token));
  EXPECT_EQ(store_->list()[0].last_used, now(clock_));
  open();
  EXPECT_EQ(store_->list()[0].last_used, std::nullopt) << "in memory alone";
}

TEST_F(AccessStoreTest, ASessionMayWhatItsTokenMayAndSurvivesARestart) {
  const auto made = token("ci", Right::admin);
  const auto opened = store_->open_session(made.token).value();
  open();
  const auto who = store_->who_has(opened.text);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->name, "token ci");
  EXPECT_EQ(right_of(*who), Right::admin);
  EXPECT_EQ(who->session, opened.session.id);
  EXPECT_EQ(store_->open_session("kron_nonsense"), std::nullopt);
}

TEST_F(AccessStoreTest, ASessionThatIsIdleForTwelveHoursEndsAndOneThatIsUsedAfterAWeek) {
  const auto made = token("ci");
  auto opened = store_->open_session(made.token).value();
  const Instant begun = now(clock_);
  clock_.advance(std::chrono::hours(11));
  opened = store_->renew(opened.text).value();
  EXPECT_EQ(opened.session.issued, begun);
  EXPECT_EQ(opened.session.expires, now(clock_) + AccessStore::kSessionIdle);
  while (now(clock_) + std::chrono::hours(6) < begun + AccessStore::kSessionLongest) {
    clock_.advance(std::chrono::hours(6));
    opened = store_->renew(opened.text).value();
  }
  EXPECT_EQ(opened.session.expires, begun + AccessStore::kSessionLongest);
  EXPECT_EQ(store_->renew(opened.text)->text, opened.text) << "tabs that tell each other of it come to an end";
  clock_.advance(std::chrono::hours(6));
  EXPECT_EQ(why_not(opened.text), "a session that has expired");
  EXPECT_EQ(store_->renew(opened.text), std::nullopt);
}

TEST_F(AccessStoreTest, ASessionDoesNotOutliveItsToken) {
  const auto made = token("ci", Right::read, Seconds(60));
  const auto opened = store_->open_session(made.token).value();
  EXPECT_EQ(opened.session.expires, now(clock_) + Seconds(60));
  connected_ = {*store_->who_has(opened.text), *store_->who_has(made.token)};
  store_->close_expired();
  EXPECT_EQ(connected_.size(), 2U);
  clock_.advance(Seconds(60));
  store_->close_expired();
  EXPECT_EQ(connected_.size(), 0U);
}

TEST_F(AccessStoreTest, OneWhoLoggedOutStaysOutAlsoWithAnOlderTextAndAfterARestart) {
  const auto made = token("ci");
  const auto opened = store_->open_session(made.token).value();
  clock_.advance(std::chrono::minutes(6));
  const auto renewed = store_->renew(opened.text).value();
  EXPECT_NE(renewed.text, opened.text);
  const auto other = store_->open_session(made.token).value();
  ASSERT_TRUE(store_->end_session(renewed.text));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(why_not(opened.text), "a session that was ended");
    EXPECT_EQ(why_not(renewed.text), "a session that was ended");
    EXPECT_TRUE(store_->who_has(other.text));
    open();
  }
  EXPECT_TRUE(store_->end_session(renewed.text)) << "twice is once";
  EXPECT_EQ(store_->end_session("nonsense").error().code, Code::not_found);
  clock_.advance(AccessStore::kSessionLongest);
  token("later");
  EXPECT_THAT(file(), HasSubstr(R"("endedSessions":[])")) << "kept until they would have expired";
}

TEST_F(AccessStoreTest, WhenTooManyHaveLoggedOutAllDo) {
  const auto made = token("ci");
  for (std::size_t i = 0; i < kMostEndedSessions; ++i) {
    ASSERT_TRUE(store_->end_session(store_->open_session(made.token).value().text));
  }
  const auto last = store_->open_session(made.token).value();
  const auto other = store_->open_session(made.token).value();
  ASSERT_TRUE(store_->end_session(last.text));
  EXPECT_EQ(why_not(last.text), "no session");
  EXPECT_EQ(why_not(other.text), "no session") << "rather that than one that comes back to life";
}

TEST_F(AccessStoreTest, AllSessionsCanBeEndedAndTokensStay) {
  const auto made = token("ci");
  const auto opened = store_->open_session(made.token).value();
  connected_ = {*store_->who_has(opened.text), *store_->who_has(made.token)};
  ASSERT_TRUE(store_->end_sessions());
  EXPECT_EQ(why_not(opened.text), "no session");
  EXPECT_TRUE(store_->who_has(made.token));
  ASSERT_EQ(connected_.size(), 1U);
  EXPECT_EQ(connected_[0].session, "");
}

TEST_F(AccessStoreTest, AFileThatCannotBeReadLetsNobodyInAndIsNotWrittenOver) {
  const auto made = token("ci");
  ASSERT_TRUE(directory_->remove(kAccessName));
  ASSERT_TRUE(write_all(*directory_->create(kAccessName, 0600).value(), "{\"Version\":\"9\"}"));
  open();
  EXPECT_EQ(log_.lines_of("access_unreadable").size(), 1U);
  EXPECT_EQ(why_not(made.token), "unknown or revoked");
  EXPECT_THAT(store_->create({.name = "x", .role = Right::read, .expires_at = {}, .by = ""}).error().message,
              HasSubstr("access.json"));
  EXPECT_EQ(file(), "{\"Version\":\"9\"}");
}

TEST_F(AccessStoreTest, RefusalsAreALineASecond) {
  for (int i = 0; i < 10; ++i) store_->refusals().not_let_in("no token", "");
  EXPECT_EQ(log_.lines_of("token_refused").size(), 1U);
  clock_.advance(Seconds(1));
  store_->refusals().not_let_in("expired", "abcdefgh");
  ASSERT_EQ(log_.lines_of("token_refused").size(), 2U);
  EXPECT_EQ(log_.lines_of("token_refused")[1].field("count"), "10");
  EXPECT_EQ(log_.lines_of("token_refused")[1].field("id"), "abcdefgh");
}

}  // namespace
}  // namespace kron::api::access_store_test
