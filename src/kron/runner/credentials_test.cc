#include "kron/runner/credentials.h"

#include <fstream>
#include <sys/file.h>

#include "kron/runner/fake/runner_fixture.h"

namespace kron::runner {
namespace {

class LeftCredentialsTest : public ::testing::Test {
 protected:
  void make(const std::string& run_id) {
    std::filesystem::create_directories(place_ + "/" + run_id);
    { std::ofstream(place_ + "/" + run_id + "/db") << "hunter2"; }
    std::filesystem::permissions(place_ + "/" + run_id, std::filesystem::perms(0500));
  }
  bool is_there(const std::string& name) const { return std::filesystem::exists(place_ + "/" + name); }

  TemporaryDirectory directory_;
  const std::string place_ = directory_.file("credentials");
};

TEST_F(LeftCredentialsTest, WhatNobodyHoldsIsRemoved) {
  make("r1");
  make("r2");
  EXPECT_EQ(remove_left_credentials(place_), 2U);
  EXPECT_FALSE(std::filesystem::exists(place_));
  EXPECT_EQ(remove_left_credentials(place_), 0U);
  EXPECT_EQ(remove_left_credentials(""), 0U);
}

TEST_F(LeftCredentialsTest, WhatSomebodyHoldsStays) {
  make("r1");
  make("r2");
  const Descriptor held(::open((place_ + "/r2").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(remove_left_credentials(place_), 1U);
  EXPECT_FALSE(is_there("r1"));
  EXPECT_TRUE(is_there("r2/db"));
  EXPECT_FALSE(remove_left_credentials(place_, "r2"));
  EXPECT_TRUE(is_there("r2/db"));
}

TEST_F(LeftCredentialsTest, OneRunsAloneAndNoOtherName) {
  make("r1");
  make("r2");
  EXPECT_TRUE(remove_left_credentials(place_, "r1"));
  EXPECT_FALSE(remove_left_credentials(place_, "r1"));
  EXPECT_FALSE(remove_left_credentials(place_, "../credentials/r2"));
  EXPECT_TRUE(is_there("r2/db"));
}

TEST_F(LeftCredentialsTest, ALinkIsNotFollowed) {
  std::filesystem::create_directories(place_);
  const std::string elsewhere = directory_.file("elsewhere");
  std::filesystem::create_directories(elsewhere);
  { std::ofstream(elsewhere + "/kept") << "x"; }
  std::filesystem::create_directory_symlink(elsewhere, place_ + "/r1");
  remove_left_credentials(place_);
  EXPECT_TRUE(std::filesystem::exists(elsewhere + "/kept"));
}

}  // namespace
}  // namespace kron::runner
