#include "kron/http/unix_socket.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/testing/temporary_directory.h"

namespace kron::http {
namespace {

Listener::Identified nobody(const Credentials&) { return Principal{}; }

class UnixSocketTest : public ::testing::Test {
 protected:
  std::string path() const { return directory_.file("socket"); }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 0777U;
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(UnixSocketTest, IsReachedThroughItsPathAndRemovedAtTheEnd) {
  {
    const auto listener = UnixListener::open(path(), 0620, ::getgid(), nobody);
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_EQ(mode_of(path()), 0620U);
    EXPECT_TRUE(connect_unix(path(), Seconds(1)));
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(UnixSocketTest, APathBeyondTheKernelsLimitWorks) {
  std::string deep = directory_.path();
  for (int i = 0; i < 5; ++i) deep += "/" + std::string(60, 'd');
  std::filesystem::create_directories(deep);
  const std::string path = deep + "/krond.sock";
  const auto listener = UnixListener::open(path, 0600, std::nullopt, nobody);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(connect_unix(path, Seconds(1)));
  EXPECT_EQ(UnixListener::open(deep + "/" + std::string(100, 's'), 0600, std::nullopt, nobody).error().code,
            Code::invalid);
}

TEST_F(UnixSocketTest, TheMissingDirectoryIsMade) {
  const auto listener = UnixListener::open(directory_.file("run") + "/socket", 0600, std::nullopt, nobody);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_EQ(mode_of(directory_.file("run")) & ~0755U, 0U);
  EXPECT_EQ(UnixListener::open(directory_.file("a") + "/b/socket", 0600, std::nullopt, nobody).error().code,
            Code::not_found);
}

TEST_F(UnixSocketTest, ASocketThatAnswersIsLeftAlone) {
  const auto first = UnixListener::open(path(), 0600, std::nullopt, nobody);
  const auto second = UnixListener::open(path(), 0600, std::nullopt, nobody);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_NE(second.error().message.find(path()), std::string::npos);
  EXPECT_TRUE(connect_unix(path(), Seconds(1)));
}

TEST_F(UnixSocketTest, ASocketThatNobodyAnswersOnIsReplaced) {
  auto dead = UnixListener::open(path(), 0600, std::nullopt, nobody);
  ASSERT_TRUE(dead);
  ::shutdown(dead->descriptor(), SHUT_RDWR);  // as a process leaves it that was killed
  ASSERT_FALSE(connect_unix(path(), Seconds(1)));
  {
    const auto listener = UnixListener::open(path(), 0600, std::nullopt, nobody);
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_TRUE(connect_unix(path(), Seconds(1)));
    { const UnixListener ended = *std::move(dead); }
    EXPECT_TRUE(connect_unix(path(), Seconds(1))) << "the old one removed a name that is no longer its own";
  }
}

TEST_F(UnixSocketTest, WhatIsNoSocketIsNeverRemoved) {
  std::ofstream(path()) << "precious";
  const auto listener = UnixListener::open(path(), 0600, std::nullopt, nobody);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Code::refused);
  EXPECT_EQ(std::filesystem::file_size(path()), 8U);
  std::filesystem::create_symlink(path(), directory_.file("link"));
  EXPECT_EQ(UnixListener::open(directory_.file("link"), 0600, std::nullopt, nobody).error().code, Code::refused);
}

TEST_F(UnixSocketTest, APathThatNamesNoFileIsInvalid) {
  for (const std::string& path : {std::string(), std::string("/"), directory_.path() + "/", directory_.path() + "/.",
                                  directory_.path() + "/..", directory_.path() + std::string("/a\0b", 4)}) {
    EXPECT_EQ(UnixListener::open(path, 0600, std::nullopt, nobody).error().code, Code::invalid) << path;
    EXPECT_EQ(connect_unix(path, Seconds(1)).error().code, Code::invalid) << path;
  }
}

TEST_F(UnixSocketTest, TheKernelSaysWhoConnected) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const Descriptor one(pair[0]);
  const Descriptor other(pair[1]);
  std::vector<gid_t> groups(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ASSERT_GE(::getgroups(static_cast<int>(groups.size()), groups.data()), 0);
  const auto peer = credentials_of(one.get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(*peer, (Credentials{::getuid(), ::getgid(), groups, ::getpid()}));
}

}  // namespace
}  // namespace kron::http
