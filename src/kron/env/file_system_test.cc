// One suite for both file systems: what the fake promises is what the real one does.
#include "kron/env/file_system.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdlib.h>

#include "kron/env/durable.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/real_file_system.h"

namespace kron {
namespace {

enum class Kind { real, fake };

class FileSystemTest : public ::testing::TestWithParam<Kind> {
 protected:
  FileSystemTest() {
    if (GetParam() == Kind::fake) {
      auto fake = std::make_unique<testing::PowerCutFileSystem>();
      fake->plant_directory("/root");
      root_ = "/root";
      file_system_ = std::move(fake);
    } else {
      std::string pattern = (std::filesystem::temp_directory_path() / "kron-fs-XXXXXX").string();
      root_ = ::mkdtemp(pattern.data());
      file_system_ = std::make_unique<RealFileSystem>();
    }
    directory_ = file_system_->open_directory(root_).value();
  }
  ~FileSystemTest() override {
    if (GetParam() == Kind::real) std::filesystem::remove_all(root_);
  }

  void write(Directory& directory, std::string_view name, std::string_view bytes) {
    auto file = directory.create(name, 0600);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ((*file)->write(bytes).value(), bytes.size());
  }
  void write(std::string_view name, std::string_view bytes) { write(*directory_, name, bytes); }

  std::string contents(std::string_view name) {
    auto read = directory_->read(name, 1000);
    return read ? read->bytes : "error: " + std::string(name_of(read.error().code));
  }

  std::map<std::string, FileType> listing() {
    std::map<std::string, FileType> names;
    EXPECT_TRUE(directory_->list([&](std::string_view name, FileType type) { names.emplace(name, type); }));
    return names;
  }

  template <class T>
  static Code code_of(const Result<T>& result) {
    return result ? Code::internal : result.error().code;
  }

  std::unique_ptr<FileSystem> file_system_;
  std::string root_;
  std::unique_ptr<Directory> directory_;
};

TEST_P(FileSystemTest, AWrittenFileReadsBackWithItsInfo) {
  write("a", "hello");
  const auto read = directory_->read("a", 5);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->bytes, "hello");
  EXPECT_EQ(read->info.type, FileType::regular);
  EXPECT_EQ(read->info.mode, 0600U);
  EXPECT_EQ(read->info.size, 5U);
  EXPECT_EQ(read->info.owner, file_system_->user());
  EXPECT_EQ(directory_->info("a").value(), read->info);
}

TEST_P(FileSystemTest, AppendingGoesOnWhereItStopped) {
  auto file = directory_->create("a", 0600).value();
  EXPECT_EQ(file->write("one ").value(), 4U);
  EXPECT_EQ(file->write("").value(), 0U);
  EXPECT_EQ(file->write("two").value(), 3U);
  EXPECT_EQ(contents("a"), "one two");
}

TEST_P(FileSystemTest, AFileIsMadeAppendedToAndReadInParts) {
  for (const std::string_view bytes : {"one ", "two"}) {
    const auto file = directory_->append("a", 0600);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_EQ((*file)->write(bytes).value(), bytes.size());
  }
  EXPECT_EQ(contents("a"), "one two");
  EXPECT_EQ(directory_->info("a")->mode, 0600U);
  EXPECT_EQ(directory_->read_part("a", 4, 2).value(), "tw");
  EXPECT_EQ(directory_->read_part("a", 4, 100).value(), "two");
  EXPECT_EQ(directory_->read_part("a", 7, 1).value(), "");
  EXPECT_EQ(directory_->read_part("a", 1000, 1).value(), "");
  EXPECT_EQ(code_of(directory_->read_part("b", 0, 1)), Code::not_found);
  ASSERT_TRUE(directory_->make_directory("d", 0700));
  EXPECT_FALSE(directory_->append("d", 0600));
}

TEST_P(FileSystemTest, AFileThatIsWrittenAnewHoldsWhatWasWrittenAndNoMore) {
  write("a", "a long text");
  for (const std::string_view bytes : {"short", "longer than before, by far", ""}) {
    const auto file = directory_->overwrite("a");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(write_all(**file, bytes));
    File* const files[] = {file->get()};
    ASSERT_TRUE(file_system_->sync_together(files).front());
    EXPECT_EQ(contents("a"), bytes);
  }
  EXPECT_EQ(code_of(directory_->overwrite("b")), Code::not_found);
}

TEST_P(FileSystemTest, TwoNamesChangePlaces) {
  write("a", "1");
  write("b", "2");
  EXPECT_TRUE(directory_->exchange("a", "b").value());
  EXPECT_EQ(contents("a") + contents("b"), "21");
  EXPECT_FALSE(directory_->exchange("a", "c").value());
  EXPECT_FALSE(directory_->exchange("c", "a").value());
  EXPECT_EQ(contents("a") + contents("b"), "21");
}

TEST_P(FileSystemTest, CreateRefusesANameThatIsTaken) {
  write("a", "first");
  EXPECT_EQ(code_of(directory_->create("a", 0600)), Code::conflict);
  EXPECT_EQ(contents("a"), "first");
}

TEST_P(FileSystemTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(code_of(directory_->read("a", 10)), Code::not_found);
  EXPECT_EQ(code_of(directory_->info("a")), Code::not_found);
  EXPECT_EQ(code_of(directory_->remove("a")), Code::not_found);
  EXPECT_EQ(code_of(directory_->remove_directory("a")), Code::not_found);
  EXPECT_EQ(code_of(directory_->open_directory("a")), Code::not_found);
  EXPECT_EQ(code_of(directory_->rename("a", *directory_, "b", IfTaken::replace)), Code::not_found);
  EXPECT_EQ(code_of(file_system_->open_directory(root_ + "/x/y")), Code::not_found);
}

TEST_P(FileSystemTest, ReadIsBounded) {
  write("a", "123456");
  EXPECT_EQ(code_of(directory_->read("a", 5)), Code::invalid);
  EXPECT_EQ(directory_->read("a", 6)->bytes, "123456");
}

TEST_P(FileSystemTest, DirectoriesAreNotReadAsFilesNorRemovedAsFiles) {
  ASSERT_TRUE(directory_->make_directory("d", 0700));
  EXPECT_EQ(code_of(directory_->read("d", 5)), Code::refused);
  EXPECT_FALSE(directory_->remove("d"));
  write("f", "x");
  EXPECT_FALSE(directory_->remove_directory("f"));
  EXPECT_FALSE(directory_->open_directory("f"));
}

TEST_P(FileSystemTest, RenameReplacesOrRefuses) {
  write("a", "A");
  write("b", "B");
  EXPECT_EQ(code_of(directory_->rename("a", *directory_, "b", IfTaken::refuse)), Code::conflict);
  EXPECT_EQ(contents("a") + contents("b"), "AB");
  ASSERT_TRUE(directory_->rename("a", *directory_, "b", IfTaken::replace));
  EXPECT_EQ(contents("b"), "A");
  EXPECT_EQ(contents("a"), "error: not_found");
  ASSERT_TRUE(directory_->rename("b", *directory_, "c", IfTaken::refuse));
  EXPECT_EQ(contents("c"), "A");
}

TEST_P(FileSystemTest, RenameMovesFilesAndWholeDirectoriesBetweenDirectories) {
  ASSERT_TRUE(directory_->make_directory("d", 0700));
  auto sub = directory_->open_directory("d").value();
  EXPECT_EQ(sub->path(), root_ + "/d");
  write("a", "A");
  ASSERT_TRUE(directory_->rename("a", *sub, "b", IfTaken::refuse));
  EXPECT_EQ(sub->read("b", 9)->bytes, "A");
  ASSERT_TRUE(directory_->rename("d", *directory_, "e", IfTaken::refuse));
  EXPECT_EQ(file_system_->open_directory(root_ + "/e").value()->read("b", 9)->bytes, "A");
}

TEST_P(FileSystemTest, ListNamesEverythingOnceWithItsType) {
  write("a", "A");
  write(".tmp-x", "");
  ASSERT_TRUE(directory_->make_directory("d", 0700));
  const std::map<std::string, FileType> expected = {
      {".tmp-x", FileType::regular}, {"a", FileType::regular}, {"d", FileType::directory}};
  EXPECT_EQ(listing(), expected);
  EXPECT_EQ(listing(), expected) << "a second listing starts at the beginning";
}

TEST_P(FileSystemTest, NamesAreReadAPartAtATime) {
  std::set<std::string> expected;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "file" + std::to_string(i);
    ASSERT_TRUE(directory_->create(name, 0600));
    expected.insert(name);
  }
  const auto reader = directory_->read_names();
  ASSERT_TRUE(reader) << reader.error().message;
  std::set<std::string> seen;
  bool has_more = true;
  for (int parts = 0; has_more && parts < 10; ++parts) {
    std::size_t here = 0;
    const auto next = (*reader)->next(3, [&](std::string_view name) {
      ++here;
      EXPECT_TRUE(seen.emplace(name).second) << name << " comes twice";
    });
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_LE(here, 3U);
    has_more = *next;
  }
  EXPECT_FALSE(has_more);
  EXPECT_EQ(seen, expected);
}

TEST_P(FileSystemTest, ADirectoryIsOnTheFileSystemOfWhatIsInIt) {
  ASSERT_TRUE(directory_->make_directory("below", 0700));
  EXPECT_EQ(directory_->info(".").value().device, directory_->info("below").value().device);
}

TEST_P(FileSystemTest, DirectoriesHaveTheirModeAndMustBeEmptyToGo) {
  ASSERT_TRUE(directory_->make_directory("d", 0700));
  EXPECT_EQ(directory_->info("d")->mode, 0700U);
  EXPECT_EQ(directory_->info("d")->type, FileType::directory);
  EXPECT_EQ(code_of(directory_->make_directory("d", 0700)), Code::conflict);
  auto sub = directory_->open_directory("d").value();
  EXPECT_EQ(sub->info(".")->mode, 0700U);
  write(*sub, "a", "");
  EXPECT_EQ(code_of(directory_->remove_directory("d")), Code::conflict);
  ASSERT_TRUE(sub->remove("a"));
  EXPECT_TRUE(directory_->remove_directory("d"));
}

TEST_P(FileSystemTest, NamesThatLeaveTheDirectoryAreRefused) {
  for (const std::string_view name : {std::string_view(""), std::string_view(".."), std::string_view("a/b"),
                                      std::string_view("../x"), std::string_view("a\0b", 3)}) {
    EXPECT_EQ(code_of(directory_->create(name, 0600)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->read(name, 1)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->remove(name)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->open_directory(name)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->make_directory(name, 0700)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->rename("a", *directory_, name, IfTaken::replace)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->rename(name, *directory_, "a", IfTaken::replace)), Code::invalid) << name;
    EXPECT_EQ(code_of(directory_->lock(name)), Code::invalid) << name;
  }
}

TEST_P(FileSystemTest, ErrorsNameThePathAndSayWhatToDo) {
  const auto read = directory_->read("a", 10);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "cannot read " + root_ + "/a: No such file or directory (ENOENT); create it, or correct the path");
}

TEST_P(FileSystemTest, TheSecondToLockIsToldWhoHasIt) {
  auto lock = directory_->lock("lock");
  ASSERT_TRUE(lock) << lock.error().message;
  const auto second = directory_->lock("lock");
  ASSERT_EQ(code_of(second), Code::conflict);
  const pid_t holder = GetParam() == Kind::real ? ::getpid() : 4242;
  EXPECT_NE(second.error().message.find("process " + std::to_string(holder) + " has it"), std::string::npos)
      << second.error().message;
  lock->reset();
  EXPECT_TRUE(directory_->lock("lock"));
}

TEST_P(FileSystemTest, OpenOrMakeDirectoryMakesWhatIsMissing) {
  const std::string path = root_ + "/x/y/z";
  auto made = open_or_make_directory(*file_system_, path + "/", 0700);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->info(".")->mode, 0700U);
  write(**made, "a", "A");
  auto again = open_or_make_directory(*file_system_, path, 0700);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->read("a", 9)->bytes, "A");
  EXPECT_EQ(code_of(open_or_make_directory(*file_system_, "x/y", 0700)), Code::invalid);
  EXPECT_EQ(code_of(open_or_make_directory(*file_system_, "", 0700)), Code::invalid);
  write("f", "");
  EXPECT_FALSE(open_or_make_directory(*file_system_, root_ + "/f/g", 0700));
}

TEST_P(FileSystemTest, SyncTogetherAnswersForEachFile) {
  for (const std::size_t count : {0U, 1U, 3U, 20U}) {
    std::vector<std::unique_ptr<File>> files;
    std::vector<File*> pointers;
    for (std::size_t i = 0; i < count; ++i) {
      files.push_back(directory_->create("f" + std::to_string(count) + "-" + std::to_string(i), 0600).value());
      ASSERT_TRUE(files.back()->write("x"));
      pointers.push_back(files.back().get());
    }
    const std::vector<Status> results = file_system_->sync_together(pointers);
    EXPECT_EQ(results.size(), count);
    for (const Status& result : results) EXPECT_TRUE(result);
  }
  EXPECT_TRUE(directory_->sync());
}

TEST_P(FileSystemTest, DurableBatchesLargerThanTheLimitOfOpenFilesWork) {
  std::vector<std::string> names;
  for (int i = 0; i < 600; ++i) names.push_back("n" + std::to_string(i));
  std::vector<Replacement> replacements;
  for (const std::string& name : names) replacements.push_back({.name = name, .bytes = name});
  const BatchResult result = durable_batch(*file_system_, *directory_, replacements);
  EXPECT_FALSE(result.fatal);
  for (const Status& entry : result.entries) EXPECT_TRUE(entry);
  EXPECT_EQ(listing().size(), 600U);
  EXPECT_EQ(contents("n599"), "n599");
}

INSTANTIATE_TEST_SUITE_P(Both, FileSystemTest, ::testing::Values(Kind::real, Kind::fake),
                         [](const auto& kind) { return kind.param == Kind::real ? "Real" : "Fake"; });

}  // namespace
}  // namespace kron
