#include "kron/env/safe_place.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kron {
namespace {

namespace fs = std::filesystem;

class SafePlace : public ::testing::Test {
 protected:
  SafePlace() {
    std::string pattern = (fs::temp_directory_path() / "kron-place-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(root_ / "parent" / "state");
  }
  ~SafePlace() override { fs::remove_all(root_); }

  Status check(const fs::path& path) const { return check_place((root_ / path).string()); }
  void set_mode(const fs::path& path, mode_t mode) const { ::chmod((root_ / path).c_str(), mode); }

  fs::path root_;
};

TEST_F(SafePlace, IsOneThatNobodyElseCanExchange) {
  EXPECT_TRUE(check("parent/state"));
  EXPECT_TRUE(check("parent/state/"));
  EXPECT_TRUE(check("parent/not/made/yet"));
}

TEST_F(SafePlace, IsNotBelowADirectoryThatEverybodyCanWrite) {
  set_mode("parent", 0777);
  for (const char* path : {"parent/state", "parent/state/deeper", "parent/not-made-yet"}) {
    const Status refused = check(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, Code::refused);
    EXPECT_NE(refused.error().message.find((root_ / "parent").string()), std::string::npos);
  }
  set_mode("parent", 01777);
  EXPECT_TRUE(check("parent/state")) << "the sticky bit keeps others from it";
}

TEST_F(SafePlace, IsNotReachedThroughALinkIntoSuchADirectory) {
  fs::create_directory_symlink(root_ / "parent" / "state", root_ / "link");
  EXPECT_TRUE(check("link"));
  set_mode("parent", 0777);
  EXPECT_FALSE(check("link"));
}

}  // namespace
}  // namespace kron
