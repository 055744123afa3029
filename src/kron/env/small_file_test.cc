#include "kron/env/small_file.h"

#include <array>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/env/descriptor.h"
#include "kron/testing/temporary_directory.h"

namespace kron {
namespace {

std::string written(const testing::TemporaryDirectory& directory, const std::string& text) {
  const std::string path = directory.file("small");
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return path;
}

TEST(SmallFile, IsReadWholeWithItsMode) {
  const testing::TemporaryDirectory directory;
  const std::string path = written(directory, "0123456789");
  ::chmod(path.c_str(), 0640);
  const auto read = read_small_file(path, 10);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->text, "0123456789");
  EXPECT_EQ(read->mode & 0777U, 0640U);
}

TEST(SmallFile, OneThatIsTooLargeIsRefused) {
  const testing::TemporaryDirectory directory;
  const std::string path = written(directory, "0123456789");
  const auto read = read_small_file(path, 9);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::invalid);
  EXPECT_NE(read.error().message.find(path), std::string::npos);
  EXPECT_EQ(read_small_file("/dev/zero", 9).error().code, Code::invalid);
}

TEST(SmallFile, WhatIsNotThereOrNoFileIsNamed) {
  const testing::TemporaryDirectory directory;
  EXPECT_EQ(read_small_file(directory.file("none"), 9).error().code, Code::not_found);
  EXPECT_EQ(read_small_file(directory.path(), 9).error().code, Code::invalid);
}

TEST(SmallFile, APipeIsReadToItsEnd) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  ASSERT_EQ(::write(writer.get(), "secret", 6), 6);
  writer = Descriptor();
  const auto read = read_small_file("/proc/self/fd/" + std::to_string(reader.get()), 100);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->text, "secret");
}

}  // namespace
}  // namespace kron
