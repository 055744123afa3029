// What only a real kernel can show; the rest is in file_system_test.cc.
#include "kron/env/real_file_system.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kron {
namespace {

class RealFileSystemTest : public ::testing::Test {
 protected:
  RealFileSystemTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kron-real-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    directory_ = file_system_.open_directory(root_.string()).value();
  }
  ~RealFileSystemTest() override { std::filesystem::remove_all(root_); }

  RealFileSystem file_system_;
  std::filesystem::path root_;
  std::unique_ptr<Directory> directory_;
};

TEST_F(RealFileSystemTest, PlantedLinksAreNeverFollowed) {
  std::filesystem::create_symlink("/etc/passwd", root_ / "link");
  std::filesystem::create_directory_symlink("/etc", root_ / "dir");
  std::filesystem::create_symlink(root_ / "nowhere", root_ / "dangling");
  EXPECT_EQ(directory_->read("link", 1 << 20).error().code, Code::refused);
  EXPECT_EQ(directory_->info("link")->type, FileType::symlink);
  EXPECT_FALSE(directory_->open_directory("dir"));
  EXPECT_EQ(directory_->create("dangling", 0600).error().code, Code::conflict);
  EXPECT_EQ(directory_->lock("dangling").error().code, Code::refused);
  EXPECT_FALSE(std::filesystem::exists(root_ / "nowhere"));
}

TEST_F(RealFileSystemTest, AFifoDoesNotHoldTheReaderUp) {
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(directory_->read("fifo", 10).error().code, Code::refused);
}

TEST_F(RealFileSystemTest, DescriptorsDoNotSurviveAnExec) {
  const auto file = directory_->create("a", 0600).value();
  const auto lock = directory_->lock("lock").value();
  int open_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry, error).string();
    if (!target.starts_with(root_.string())) continue;
    ++open_files;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC, 0) << target;
  }
  EXPECT_EQ(open_files, 3);
}

TEST_F(RealFileSystemTest, AnotherProcessIsKeptOutAndTheLockEndsWithItsHolder) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = directory_->lock("lock");
    const char answer = lock ? 'y' : 'n';
    if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const auto refused = directory_->lock("lock");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(std::to_string(child)), std::string::npos) << refused.error().message;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(directory_->lock("lock"));
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace kron
