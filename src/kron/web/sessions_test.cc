#include "kron/web/sessions.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace kron::web {
namespace {

// Codes and tokens that a test can tell apart.
std::string numbered(std::size_t bytes) {
  static std::atomic<int> last = 0;
  return std::to_string(bytes) + "-" + std::to_string(++last);
}

class SessionsTest : public ::testing::Test {
 protected:
  Sessions sessions_{numbered};
  Nanoseconds now_ = Seconds(1000);
};

TEST_F(SessionsTest, ACodeIsGoodForOneSession) {
  const std::string code = sessions_.new_code(now_);
  EXPECT_TRUE(code.starts_with("16-")) << "128 bits";
  const auto token = sessions_.redeem(code, now_);
  ASSERT_TRUE(token);
  EXPECT_TRUE(token->starts_with("32-")) << "256 bits";
  EXPECT_TRUE(sessions_.touch(*token, now_));
  EXPECT_FALSE(sessions_.redeem(code, now_));
  EXPECT_FALSE(sessions_.touch(code, now_)) << "a code is no token";
  EXPECT_FALSE(sessions_.redeem(*token, now_)) << "nor a token a code";
}

TEST_F(SessionsTest, ACodeLivesAMinute) {
  const std::string early = sessions_.new_code(now_);
  EXPECT_TRUE(sessions_.redeem(early, now_ + Seconds(60)));
  const std::string late = sessions_.new_code(now_);
  EXPECT_FALSE(sessions_.redeem(late, now_ + Seconds(61)));
}

TEST_F(SessionsTest, OfTwoAtOnceWithOneCodeOneGetsASession) {
  for (int round = 0; round < 50; ++round) {
    const std::string code = sessions_.new_code(now_);
    std::atomic<int> sessions = 0;
    const auto trade = [&] { sessions += sessions_.redeem(code, now_) ? 1 : 0; };
    std::thread other(trade);
    trade();
    other.join();
    EXPECT_EQ(sessions, 1);
  }
}

TEST_F(SessionsTest, ASessionEndsWhenItIsIdleForHalfADay) {
  const std::string token = sessions_.redeem(sessions_.new_code(now_), now_).value();
  EXPECT_TRUE(sessions_.touch(token, now_ + Sessions::kIdle));
  EXPECT_TRUE(sessions_.touch(token, now_ + 2 * Sessions::kIdle)) << "it was used meanwhile";
  EXPECT_FALSE(sessions_.touch(token, now_ + 3 * Sessions::kIdle + Seconds(1)));
}

TEST_F(SessionsTest, LoggingOutEndsThatSessionAlone) {
  const std::string mine = sessions_.redeem(sessions_.new_code(now_), now_).value();
  const std::string yours = sessions_.redeem(sessions_.new_code(now_), now_).value();
  sessions_.end(mine);
  EXPECT_FALSE(sessions_.touch(mine, now_));
  EXPECT_TRUE(sessions_.touch(yours, now_));
}

TEST_F(SessionsTest, TheOldestMakesPlace) {
  const std::string first = sessions_.redeem(sessions_.new_code(now_), now_).value();
  for (std::size_t i = 0; i < Sessions::kMostSessions; ++i) {
    now_ += Seconds(1);
    ASSERT_TRUE(sessions_.redeem(sessions_.new_code(now_), now_));
  }
  EXPECT_FALSE(sessions_.touch(first, now_));
  const std::string code = sessions_.new_code(now_);
  for (std::size_t i = 0; i < Sessions::kMostCodes; ++i) sessions_.new_code(now_ + Seconds(1));
  EXPECT_FALSE(sessions_.redeem(code, now_ + Seconds(1)));
}

TEST(RandomSecret, IsHexOfThatLengthAndNeverTheSame) {
  EXPECT_THAT(random_secret(16), ::testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(random_secret(16), random_secret(16));
}

TEST(LoginLimit, WrongCodesWaitLongerAndLonger) {
  LoginLimit limit;
  Nanoseconds now = Seconds(1000);
  for (int i = 0; i < LoginLimit::kFree + 1; ++i) EXPECT_EQ(limit.wrong(now), std::nullopt) << i;
  EXPECT_EQ(limit.wrong(now), Seconds(1));
  now += Seconds(1);
  EXPECT_EQ(limit.wrong(now), std::nullopt);
  EXPECT_EQ(limit.wrong(now), Seconds(2));
  for (int i = 0; i < 20; ++i) {
    now += Seconds(60);
    EXPECT_EQ(limit.wrong(now), std::nullopt);
  }
  EXPECT_EQ(limit.wrong(now), LoginLimit::kLongest);
  limit.right();
  EXPECT_EQ(limit.wrong(now), std::nullopt);
}

}  // namespace
}  // namespace kron::web
