// What only a real kernel can show; the rest is in file_system_test.cc.
#include "kron/env/real_file_system.h"

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "kron/env/durable.h"
#include "kron/env/file_locks.h"

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

TEST_F(RealFileSystemTest, TellsHowMuchRoomItsDiskHas) {
  const auto space = directory_->space();
  ASSERT_TRUE(space);
  EXPECT_GT(space->total, 0U);
  EXPECT_LE(space->free, space->total);
}

// One who replaces a file again and again, with spares, and one who reads it.
TEST_F(RealFileSystemTest, AReaderNeverSeesAFileThatIsBeingWrittenAnew) {
  SpareFiles spares;
  const auto replace = [&](const std::string& bytes) {
    const Replacement one[] = {{.name = "record", .bytes = bytes}};
    return durable_batch(file_system_, *directory_, one, &spares).entries[0].has_value();
  };
  ASSERT_TRUE(replace("a"));
  std::atomic<bool> is_over = false;
  std::jthread writer([&] {
    for (int i = 0; i < 400; ++i) {
      if (!replace(std::string(static_cast<std::size_t>(1000 + i % 3), static_cast<char>('a' + i % 26)))) break;
    }
    is_over = true;
  });
  int reads = 0;
  for (; !is_over || reads == 0; ++reads) {
    const auto read = directory_->read("record", 5000);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->bytes, std::string(read->bytes.size(), read->bytes[0]));
  }
  EXPECT_GT(reads, 0);
}

TEST_F(RealFileSystemTest, AnotherFileSystemIsAnotherDevice) {
  EXPECT_NE(directory_->info(".").value().device,
            file_system_.open_directory("/proc").value()->info(".").value().device);
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

// A process of its own that opens the directory, takes the lock and keeps it until it is told to end.
class LockHolder {
 public:
  explicit LockHolder(const std::string& directory) {
    if (::pipe(ready_) != 0 || ::pipe(over_) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(over_[1]);
      RealFileSystem files;
      const auto own = files.open_directory(directory).value();
      const auto lock = own->lock("lock");
      const char answer = lock ? 'y' : 'n';
      char byte = 0;
      (void)!::write(ready_[1], &answer, 1);
      (void)!::read(over_[0], &byte, 1);
      ::_exit(0);
    }
    if (::read(ready_[0], &answer_, 1) != 1) answer_ = 0;
  }
  ~LockHolder() {
    ::close(over_[1]);
    ::waitpid(pid_, nullptr, 0);
    for (const int fd : {ready_[0], ready_[1], over_[0]}) ::close(fd);
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;

  bool has_it() const { return answer_ == 'y'; }
  pid_t pid() const { return pid_; }

 private:
  int ready_[2];
  int over_[2];
  pid_t pid_ = -1;
  char answer_ = 0;
};

TEST_F(RealFileSystemTest, ARemovedLockFileLetsNobodyElseIn) {
  {
    const LockHolder first(root_.string());
    ASSERT_TRUE(first.has_it());
    std::filesystem::remove(root_ / "lock");
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto refused = directory_->lock("lock");
      ASSERT_FALSE(refused) << "attempt " << attempt;
      EXPECT_EQ(refused.error().code, Code::conflict);
      EXPECT_NE(refused.error().message.find("process " + std::to_string(first.pid()) + " has it"), std::string::npos)
          << refused.error().message;
    }
  }
  EXPECT_TRUE(directory_->lock("lock")) << "its end frees the directory";
}

TEST_F(RealFileSystemTest, ALockThatIsGivenBackFreesTheDirectory) {
  auto lock = directory_->lock("lock");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(LockHolder(root_.string()).has_it());
  lock->reset();
  EXPECT_TRUE(LockHolder(root_.string()).has_it());
}

TEST_F(RealFileSystemTest, TheHolderOfALockIsFoundWithoutTakingIt) {
  struct stat info {};
  ASSERT_EQ(::stat(root_.c_str(), &info), 0);
  EXPECT_EQ(flock_holder(info.st_ino), "");
  const auto lock = directory_->lock("lock").value();
  EXPECT_EQ(flock_holder(info.st_ino), std::to_string(::getpid()));
}

}  // namespace
}  // namespace kron
