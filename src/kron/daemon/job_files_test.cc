#include "kron/daemon/job_files.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kron::daemon {
namespace {

using How = api::FileChange::How;
using InForce = api::RefusedFile::InForce;

jobs::Problem error_in(std::string file, std::size_t line, std::string message) {
  return {.severity = jobs::Severity::error,
          .file = std::move(file),
          .at = {line, line == 0 ? 0U : 1U},
          .field = {},
          .message = std::move(message),
          .cure = "correct it",
          .source_line = {}};
}

jobs::JobDefinition job_in(const std::string& file) {
  jobs::JobDefinition definition;
  definition.file = std::make_shared<const std::string>(file);
  return definition;
}

TEST(RefusedFiles, SayWhyAndWhatRunsAllTheSame) {
  const std::vector problems{error_in("/c/a.kron", 0, "refused"), error_in("/c/b.kron", 3, "first"),
                             error_in("/c/b.kron", 9, "second"), error_in("/c/c.kron", 1, "bad")};
  JobsToRun jobs;
  jobs.definitions.push_back(job_in("/c/b.kron"));
  jobs.definitions.push_back(job_in("/c/c.kron"));
  jobs.kept = {"/c/c.kron"};
  const std::vector<api::RefusedFile> refused = refused_files(problems, jobs);
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused[0], (api::RefusedFile{"/c/a.kron", 0, 0, "refused; correct it", 1, InForce::none}));
  EXPECT_EQ(refused[1], (api::RefusedFile{"/c/b.kron", 3, 1, "first; correct it", 2, InForce::rest}));
  EXPECT_EQ(refused[2], (api::RefusedFile{"/c/c.kron", 1, 1, "bad; correct it", 1, InForce::earlier}));
}

TEST(RefusedFiles, AWarningRefusesNothing) {
  jobs::Problem warning = error_in("/c/a.kron", 1, "odd");
  warning.severity = jobs::Severity::warning;
  EXPECT_TRUE(refused_files(std::vector{warning}, {}).empty());
}

class JobFilesOnDisk : public ::testing::Test {
 protected:
  JobFilesOnDisk()
      : directory_(std::filesystem::path(::testing::TempDir()) / ("kron-job-files-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    write("a.kron", "a");
    write("b.yaml", "b");
  }
  ~JobFilesOnDisk() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::vector<api::FileChange> changes() const { return files_.status().changes(); }
  void read() { files_.about_to_read(instant_of(1000)); }

  std::filesystem::path directory_;
  JobFiles files_{{directory_.string()}, std::nullopt};
};

TEST_F(JobFilesOnDisk, NothingHasChangedAfterTheReading) {
  read();
  EXPECT_TRUE(changes().empty());
  EXPECT_EQ(files_.status().read_at, instant_of(1000));
}

TEST_F(JobFilesOnDisk, WhatIsEditedAddedOrRemovedIsToldUntilTheNextReading) {
  read();
  write("a.kron", "another text");
  write("c.kron", "c");
  std::filesystem::remove(path("b.yaml"));
  const std::vector<api::FileChange> expected{
      {path("a.kron"), How::changed}, {path("b.yaml"), How::removed}, {path("c.kron"), How::added}};
  EXPECT_EQ(changes(), expected);
  read();
  EXPECT_TRUE(changes().empty());
}

TEST_F(JobFilesOnDisk, AChangeOfTheModeCountsBecauseItDecidesWhetherAFileIsRead) {
  ASSERT_EQ(::chmod(path("a.kron").c_str(), 0664), 0);
  read();
  ASSERT_EQ(::chmod(path("a.kron").c_str(), 0644), 0);
  EXPECT_EQ(changes(), (std::vector<api::FileChange>{{path("a.kron"), How::changed}}));
}

TEST_F(JobFilesOnDisk, FilesThatAreNoJobFilesDoNotCount) {
  read();
  write("README", "text");
  write(".a.kron.swp", "text");
  std::filesystem::create_directory(directory_ / "old.kron");
  EXPECT_TRUE(changes().empty());
}

TEST_F(JobFilesOnDisk, AReloadThatFailedIsToldUntilOneSucceeds) {
  files_.reload_ended(fail(Code::io, "the disk failed"));
  EXPECT_EQ(files_.status().reload_failed->message, "the disk failed");
  files_.reload_ended({});
  EXPECT_FALSE(files_.status().reload_failed);
}

TEST_F(JobFilesOnDisk, CalendarsThatWereReadAreLookedAtToo) {
  std::filesystem::create_directories(directory_ / "elsewhere");
  write("elsewhere/fr.ics", "a");
  read();
  files_.calendars_are({path("elsewhere/fr.ics")});
  EXPECT_TRUE(changes().empty());
  write("elsewhere/fr.ics", "another");
  EXPECT_EQ(changes(), (std::vector<api::FileChange>{{path("elsewhere/fr.ics"), How::changed}}));
  // What changes while they are read again is a change since.
  read();
  write("elsewhere/fr.ics", "yet another");
  files_.calendars_are({path("elsewhere/fr.ics")});
  EXPECT_EQ(changes(), (std::vector<api::FileChange>{{path("elsewhere/fr.ics"), How::changed}}));
  read();
  files_.calendars_are({});
  std::filesystem::remove(directory_ / "elsewhere/fr.ics");
  EXPECT_TRUE(changes().empty()) << "nobody names it any more";
}

}  // namespace
}  // namespace kron::daemon
