#include "kron/runner/accounts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kron/env/fake/fake_clock.h"

namespace kron::runner {
namespace {

class AccountsTest : public ::testing::Test {
 protected:
  kron::testing::FakeClock clock_{instant_of(1772323200)};
  Accounts accounts_{clock_};
};

TEST_F(AccountsTest, NobodyInParticularIsWhoWeAre) {
  const auto own = accounts_.find("", "");
  ASSERT_TRUE(own);
  EXPECT_EQ((*own)->uid, ::geteuid());
  EXPECT_EQ((*own)->gid, ::getegid());
  EXPECT_FALSE((*own)->changes_user);
  EXPECT_FALSE((*own)->changes_group);
  EXPECT_NE((*own)->home, "");
}

TEST_F(AccountsTest, WhoDoesNotExistIsNotFound) {
  EXPECT_EQ(accounts_.find("no-such-user", "").error().code, Code::not_found);
  EXPECT_EQ(accounts_.find("", "no-such-group").error().code, Code::not_found);
}

TEST_F(AccountsTest, AnotherUserIsForRootOnly) {
  const auto nobody = accounts_.find("nobody", "");
  if (::geteuid() != 0) {
    EXPECT_EQ(nobody.error().code, Code::refused);
    return;
  }
  ASSERT_TRUE(nobody);
  EXPECT_TRUE((*nobody)->changes_user);
  EXPECT_EQ((*nobody)->home, "/nonexistent");
  EXPECT_NE(std::find((*nobody)->groups.begin(), (*nobody)->groups.end(), (*nobody)->gid), (*nobody)->groups.end());
}

TEST_F(AccountsTest, AnswersAreRememberedForAWhile) {
  const auto first = accounts_.find("", "");
  EXPECT_EQ(*accounts_.find("", ""), *first);
  clock_.advance(Seconds(6));
  EXPECT_NE(*accounts_.find("", ""), *first);
}

}  // namespace
}  // namespace kron::runner
