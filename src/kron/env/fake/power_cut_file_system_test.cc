// Faults and the power; what a cut leaves is in survivors_test.cc, that it is a file system in file_system_test.cc.
#include "kron/env/fake/power_cut_file_system.h"

#include <gtest/gtest.h>

namespace kron::testing {
namespace {

class PowerCutFileSystemTest : public ::testing::Test {
 protected:
  PowerCutFileSystemTest() {
    fs_.plant_directory("/s");
    directory_ = fs_.open_directory("/s").value();
  }

  PowerCutFileSystem fs_;
  std::unique_ptr<Directory> directory_;
};

TEST_F(PowerCutFileSystemTest, WhenThePowerIsGoneEveryCallFailsAndTheDiskStays) {
  auto file = directory_->create("a", 0600).value();
  fs_.cut_power_after(2);
  ASSERT_TRUE(file->write("A"));
  EXPECT_TRUE(fs_.is_powered_off());
  EXPECT_FALSE(file->write("B"));
  EXPECT_FALSE(directory_->read("a", 9));
  EXPECT_FALSE(directory_->remove("a"));
  EXPECT_FALSE(directory_->sync());
  EXPECT_FALSE(fs_.open_directory("/s"));
  EXPECT_EQ(fs_.disk().at(*fs_.disk().find_path("/s/a")).data, "A");
}

TEST_F(PowerCutFileSystemTest, TheObserverSeesTheDiskBeforeEachChangeAndBeforeNoRead) {
  std::vector<std::size_t> files;
  fs_.before_each_change([&] { files.push_back(fs_.disk().at(*fs_.disk().find_path("/s")).entries.size()); });
  ASSERT_TRUE(directory_->create("a", 0600));
  ASSERT_TRUE(directory_->read("a", 9));
  ASSERT_TRUE(directory_->create("b", 0600));
  ASSERT_TRUE(directory_->sync());
  EXPECT_EQ(files, (std::vector<std::size_t>{0, 1, 2}));
}

TEST_F(PowerCutFileSystemTest, FaultsAreTheErrorsTheKernelWouldGive) {
  const struct {
    Fault fault;
    Code code;
    std::string_view name;
  } table[] = {{Fault::no_space, Code::io, "ENOSPC"},
               {Fault::io_error, Code::io, "EIO"},
               {Fault::read_only, Code::io, "EROFS"},
               {Fault::no_permission, Code::refused, "EACCES"},
               {Fault::interrupted, Code::io, "EINTR"}};
  for (const auto& row : table) {
    fs_.fail_change(fs_.changes(), row.fault);
    const auto file = directory_->create("a", 0600);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, row.code);
    EXPECT_NE(file.error().message.find(row.name), std::string::npos) << file.error().message;
    EXPECT_FALSE(directory_->info("a")) << "nothing was changed";
  }
}

TEST_F(PowerCutFileSystemTest, WritesMayBeShortOrTakeNothing) {
  auto file = directory_->create("a", 0600).value();
  fs_.fail_change(1, Fault::short_write);
  EXPECT_EQ(file->write("12345").value(), 3U);
  fs_.fail_change(2, Fault::interrupted);
  EXPECT_EQ(file->write("45").value(), 0U);
  EXPECT_EQ(file->write("45").value(), 2U);
  EXPECT_EQ(directory_->read("a", 9)->bytes, "12345");
}

TEST_F(PowerCutFileSystemTest, ReadsCanFailToo) {
  fs_.plant_file("/s/a", "A");
  fs_.fail_when([](const CallRecord& r) { return r.call == Call::read ? Fault::io_error : Fault::none; });
  EXPECT_EQ(directory_->read("a", 9).error().code, Code::io);
  EXPECT_TRUE(directory_->info("a"));
}

TEST_F(PowerCutFileSystemTest, WhatIsPlantedIsSeenAsItIs) {
  fs_.plant("/s/link", "/etc/passwd", {FileType::symlink, 0, 0777, 0, {}});
  fs_.plant("/s/theirs", "x", {FileType::regular, 7, 0666, 0, instant_of(5)});
  EXPECT_EQ(directory_->read("link", 99).error().code, Code::refused);
  EXPECT_EQ(directory_->lock("link").error().code, Code::refused);
  EXPECT_EQ(directory_->read("theirs", 99)->info, (FileInfo{FileType::regular, 7, 0666, 1, instant_of(5)}));
}

TEST_F(PowerCutFileSystemTest, SabotagedSyncsSayOkAndDoNothing) {
  fs_.sabotage(Sabotage::no_directory_sync);
  ASSERT_TRUE(directory_->create("a", 0600));
  EXPECT_TRUE(directory_->sync());
  EXPECT_EQ(fs_.disk().pending().size(), 1U);
  fs_.sabotage(Sabotage::none);
  EXPECT_TRUE(directory_->sync());
  EXPECT_TRUE(fs_.disk().pending().empty());
}

TEST_F(PowerCutFileSystemTest, ACopiedDiskIsADiskOfItsOwn) {
  fs_.plant_file("/s/a", "A");
  PowerCutFileSystem other(fs_.disk());
  ASSERT_TRUE(other.open_directory("/s").value()->remove("a"));
  EXPECT_EQ(directory_->read("a", 9)->bytes, "A");
}

}  // namespace
}  // namespace kron::testing
