#include "kron/runner/accounts.h"

#include <algorithm>
#include <condition_variable>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <set>
#include <thread>
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

// Databases that answer when they are told to, or at once.
class Databases : public std::enable_shared_from_this<Databases> {
 public:
  Accounts::LookUp look_up() {
    return [self = shared_from_this()](const std::string& user, const std::string&) { return self->found(user); };
  }
  Result<Account> found(const std::string& user) {
    std::unique_lock lock(mutex_);
    ++asked_[user];
    changed_.notify_all();
    if (!changed_.wait_for(lock, kLongest, [&] { return !hanging_.contains(user); })) ADD_FAILURE() << "still hangs";
    ++answered_[user];
    changed_.notify_all();
    if (missing_.contains(user)) return fail(Code::not_found, "there is no " + user);
    return Account{user, "/", static_cast<uid_t>(answered_[user]), 0, {}};
  }
  void hang(const std::string& user) {
    change([&] { hanging_.insert(user); });
  }
  void answer(const std::string& user) {
    change([&] { hanging_.erase(user); });
  }
  void forget(const std::string& user) {
    change([&] { missing_.insert(user); });
  }
  int asked(const std::string& user) {
    const std::scoped_lock lock(mutex_);
    return asked_[user];
  }
  void wait_until_asked(const std::string& user, int times) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kLongest, [&] { return asked_[user] >= times; }));
  }

 private:
  static constexpr std::chrono::seconds kLongest{60};

  template <class Change>
  void change(Change change) {
    const std::scoped_lock lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> hanging_, missing_;
  std::map<std::string, int> asked_, answered_;
};

class SlowAccountsTest : public ::testing::Test {
 protected:
  // Ends the lookups that hang; until then they keep the databases.
  ~SlowAccountsTest() override { databases_->answer("slow"); }

  Result<std::shared_ptr<const Account>> find(const std::string& user) { return accounts_.find(user, ""); }

  kron::testing::FakeClock clock_{instant_of(1772323200)};
  std::shared_ptr<Databases> databases_ = std::make_shared<Databases>();
  Accounts accounts_{clock_, {databases_->look_up(), std::chrono::milliseconds(100)}};
};

TEST_F(SlowAccountsTest, ALookupThatHangsHoldsUpNoOtherUser) {
  ASSERT_TRUE(find("known"));
  databases_->hang("slow");
  const auto slow = find("slow");
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, Code::unreachable);
  EXPECT_NE(slow.error().message.find("'slow'"), std::string::npos) << slow.error().message;
  EXPECT_TRUE(find("known"));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(find("slow"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50)) << "it waited each time";
  EXPECT_EQ(databases_->asked("slow"), 1);
}

TEST_F(SlowAccountsTest, WhatWasKnownIsUsedWhileTheDatabasesHang) {
  ASSERT_EQ((*find("slow"))->uid, 1U);
  databases_->hang("slow");
  clock_.advance(Seconds(6));
  EXPECT_EQ((*find("slow"))->uid, 1U);
  databases_->wait_until_asked("slow", 2);
}

TEST_F(SlowAccountsTest, FailuresAreRememberedForAWhileToo) {
  databases_->forget("gone");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(find("gone").error().code, Code::not_found);
  EXPECT_EQ(databases_->asked("gone"), 1);
  clock_.advance(Seconds(6));
  EXPECT_EQ(find("gone").error().code, Code::not_found);
  EXPECT_EQ(databases_->asked("gone"), 2);
}

TEST_F(SlowAccountsTest, WhoeverIsPreparedIsAskedForAheadOfTime) {
  accounts_.prepare("early", "");
  databases_->wait_until_asked("early", 1);
  EXPECT_TRUE(find("early"));
  EXPECT_EQ(databases_->asked("early"), 1);
}

TEST_F(SlowAccountsTest, OneThatWasRemovedIsNotFoundAnyMore) {
  ASSERT_TRUE(find("leaver"));
  databases_->forget("leaver");
  clock_.advance(Seconds(6));
  EXPECT_EQ(find("leaver").error().code, Code::not_found);
}

}  // namespace
}  // namespace kron::runner
