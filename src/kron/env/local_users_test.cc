#include "kron/env/local_users.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kron {
namespace {

class LocalUsersTest : public ::testing::Test {
 protected:
  ~LocalUsersTest() override { std::filesystem::remove(path_); }

  std::optional<std::string> name_of(uid_t user, const std::string& text) const {
    std::ofstream(path_) << text;
    return local_user_name(user, path_);
  }

  std::string path_ =
      (std::filesystem::path(::testing::TempDir()) / ("kron-passwd-" + std::to_string(::getpid()))).string();
};

constexpr const char* kUsers = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n";

TEST_F(LocalUsersTest, AUserIsFoundByItsNumber) {
  EXPECT_EQ(name_of(0, kUsers), "root");
  EXPECT_EQ(name_of(1000, kUsers), "ada");
  EXPECT_EQ(name_of(100, kUsers), std::nullopt);
  EXPECT_EQ(name_of(7, "bob:x:7:"), "bob") << "without a newline at the end";
}

TEST_F(LocalUsersTest, LinesThatAreNoneArePassedOver) {
  EXPECT_EQ(name_of(7, "# a comment\n\nbob\nbob:x\n:x:7:\nbob:x:7\nbob:x:7x:\nbob:x::\n+::::::\neve:x:7:\n"), "eve");
  EXPECT_EQ(name_of(0, "bob:x::\nbob:x:-1:\nbob:x:99999999999:\n"), std::nullopt);
}

TEST_F(LocalUsersTest, AFileThatIsMissingHasNobodyNorHasOneThatIsTooLarge) {
  EXPECT_EQ(local_user_name(0, path_), std::nullopt);
  EXPECT_EQ(local_user_name(0, "/dev"), std::nullopt);
  const std::string line = "ada:x:1:1::/:/bin/sh\n";
  const std::size_t most = std::size_t{1} << 20;
  EXPECT_EQ(name_of(1, line + std::string(most - line.size() - 1, '\n')), "ada");
  EXPECT_EQ(name_of(1, line + std::string(most - line.size(), '\n')), std::nullopt);
}

}  // namespace
}  // namespace kron
