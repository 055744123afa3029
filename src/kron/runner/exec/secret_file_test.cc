#include "kron/runner/exec/secret_file.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/base/secret_files.h"
#include "kron/runner/fake/runner_fixture.h"

namespace kron::exec {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kSomebody = 4242;
constexpr uid_t kAnother = 4243;

class SecretFileTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = directory_.file(name);
    { std::ofstream(path) << content; }
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  // Empty: it was read.
  std::string problem(const std::string& path, uid_t user) {
    SecretText text;
    const char* const said = text.read(path.c_str(), user);
    read_ = said == nullptr ? std::string(text.bytes(), text.size()) : "";
    return said == nullptr ? "" : said;
  }

  runner::TemporaryDirectory directory_;
  std::string read_;
  const uid_t self_ = ::geteuid();
};

TEST_F(SecretFileTest, OurOwnFileIsRead) {
  EXPECT_EQ(problem(file("a", "hunter2"), self_), "");
  EXPECT_EQ(read_, "hunter2");
  EXPECT_EQ(problem(file("empty", ""), self_), "");
  EXPECT_EQ(read_, "");
  std::filesystem::create_symlink(directory_.file("a"), directory_.file("link"));
  EXPECT_EQ(problem(directory_.file("link"), self_), "");
}

TEST_F(SecretFileTest, WhatOthersCanReadOrWriteIsRefused) {
  for (const mode_t mode : {0604, 0602, 0601, 0620, 0644, 0666}) {
    EXPECT_THAT(problem(file("a", "x", mode), self_), HasSubstr("others can read or write it")) << mode;
  }
  for (const mode_t mode : {0600, 0640, 0400, 0440, 0700}) EXPECT_EQ(problem(file("a", "x", mode), self_), "") << mode;
}

TEST_F(SecretFileTest, AFileHasALimitAndIsAFile) {
  EXPECT_EQ(problem(file("a", std::string(kMostSecretFile, 'x')), self_), "");
  EXPECT_THAT(problem(file("a", std::string(kMostSecretFile + 1, 'x')), self_), HasSubstr("longer than 64 KiB"));
  EXPECT_THAT(problem(directory_.path(), self_), HasSubstr("no regular file"));
  EXPECT_THAT(problem(directory_.file("none"), self_), HasSubstr("No such file"));
  ASSERT_EQ(::mkfifo(directory_.file("fifo").c_str(), 0600), 0);
  EXPECT_THAT(problem(directory_.file("fifo"), self_), HasSubstr("no regular file"));
  EXPECT_THAT(problem("/dev/zero", self_), HasSubstr("no regular file"));
}

// We read it with rights that the user does not have.
class SecretFileOfRootTest : public SecretFileTest {
 protected:
  void SetUp() override {
    if (self_ != 0) GTEST_SKIP() << "only root reads for others";
    // The temporary directory's own are sticky and everybody's.
    ASSERT_EQ(::mkdir(trusted_.c_str(), 0755), 0);
  }
  void TearDown() override { std::filesystem::remove_all(trusted_); }

  std::string trusted(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = trusted_ + "/" + name;
    { std::ofstream(path) << content; }
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  const std::string trusted_ = "/run/kron-secret-file-test-" + std::to_string(::getpid());
};

TEST_F(SecretFileOfRootTest, TheUsersOwnAndRootsInRootsPlacesAreRead) {
  const std::string own = file("own", "his");
  ASSERT_EQ(::chown(own.c_str(), kSomebody, kSomebody), 0);
  EXPECT_EQ(problem(own, kSomebody), "");
  EXPECT_EQ(read_, "his");
  EXPECT_EQ(problem(trusted("a", "roots"), kSomebody), "");
  EXPECT_EQ(read_, "roots");
}

TEST_F(SecretFileOfRootTest, AFileOfAnotherUserIsRefused) {
  const std::string others = file("others", "x");
  ASSERT_EQ(::chown(others.c_str(), kAnother, kAnother), 0);
  EXPECT_THAT(problem(others, kSomebody), HasSubstr("neither to root nor to the user"));
  EXPECT_THAT(problem(others, 0), HasSubstr("neither to root nor to the user"));
}

// Otherwise he would have root's files read for him.
TEST_F(SecretFileOfRootTest, ALinkThatTheUserMadeLeadsNowhere) {
  const std::string secret = trusted("a", "roots");
  const std::string home = directory_.file("home");
  ASSERT_EQ(::mkdir(home.c_str(), 0755), 0);
  ASSERT_EQ(::chown(home.c_str(), kSomebody, kSomebody), 0);
  std::filesystem::create_symlink(secret, home + "/link");
  EXPECT_THAT(problem(home + "/link", kSomebody), HasSubstr("symbolic link"));
  std::filesystem::create_directory_symlink(trusted_, home + "/etc");
  EXPECT_THAT(problem(home + "/etc/a", kSomebody), HasSubstr("symbolic link"));
  // Nor does a second name.
  std::error_code error;
  std::filesystem::create_hard_link(secret, home + "/hard", error);
  if (!error) {
    EXPECT_THAT(problem(home + "/hard", kSomebody), HasSubstr("can change a directory above it"));
  }
  EXPECT_THAT(problem(home + "/../" + std::filesystem::path(home).filename().string() + "/none", kSomebody),
              HasSubstr("No such file"));
}

TEST_F(SecretFileOfRootTest, RootsFileBelowADirectoryOfOthersIsRefused) {
  const std::string path = trusted("a", "x");
  for (const mode_t mode : {0775, 0757, 01777}) {
    ASSERT_EQ(::chmod(trusted_.c_str(), mode), 0);
    EXPECT_THAT(problem(path, kSomebody), HasSubstr("can change a directory above it")) << mode;
  }
  ASSERT_EQ(::chmod(trusted_.c_str(), 0755), 0);
  ASSERT_EQ(::chown(trusted_.c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(problem(path, kSomebody), HasSubstr("can change a directory above it"));
}

}  // namespace
}  // namespace kron::exec
