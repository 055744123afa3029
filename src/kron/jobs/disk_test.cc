#include "kron/jobs/disk.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kron::jobs {
namespace {

using ::testing::HasSubstr;

class JobFilesOnDisk : public ::testing::Test {
 protected:
  JobFilesOnDisk() {
    std::string name = ::testing::TempDir() + "kron-disk-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    file_ = directory_ + "/a.kron";
    std::ofstream(file_) << "0 0 * * * name=a command=true\n";
    ::chmod(file_.c_str(), 0644);
  }
  ~JobFilesOnDisk() override { std::filesystem::remove_all(directory_); }

  LoadedJobs load(Trust trust) {
    const std::string paths[] = {directory_};
    return load_paths(paths, disk_files(trust), zones_);
  }
  std::string refusal() {
    const LoadedJobs jobs = load(Trust::own_only);
    EXPECT_TRUE(jobs.definitions.empty());
    return jobs.problems.empty() ? "" : jobs.problems.front().message;
  }

  ZoneDatabase zones_;
  std::string directory_, file_;
};

TEST_F(JobFilesOnDisk, AreReadWhenOnlyTheirOwnerCanWriteThem) {
  EXPECT_EQ(load(Trust::own_only).definitions.size(), 1U);
  EXPECT_EQ(load(Trust::anyone).definitions.size(), 1U);
}

TEST_F(JobFilesOnDisk, AreRefusedWhenOthersCanWriteThem) {
  for (const mode_t mode : {mode_t{0664}, mode_t{0646}}) {
    ::chmod(file_.c_str(), mode);
    EXPECT_THAT(refusal(), HasSubstr("chmod go-w"));
    EXPECT_EQ(load(Trust::anyone).definitions.size(), 1U);
  }
}

TEST_F(JobFilesOnDisk, ThatKrondWouldRefuseAreWarnedOfBeforehand) {
  for (const mode_t mode : {mode_t{0664}, mode_t{0646}}) {
    ::chmod(file_.c_str(), mode);
    const LoadedJobs jobs = load(Trust::anyone);
    ASSERT_EQ(jobs.problems.size(), 1U);
    EXPECT_EQ(jobs.problems.front().severity, Severity::warning);
    EXPECT_THAT(jobs.problems.front().cure, HasSubstr("krond refuses it"));
  }
}

TEST_F(JobFilesOnDisk, WhoOnlyLooksIsWarnedOfWhatADaemonRefuses) {
  const auto warning = [this] {
    const LoadedJobs jobs = load(Trust::anyone);
    EXPECT_EQ(jobs.definitions.size(), 1U);
    return jobs.problems.empty() ? "" : jobs.problems.front().message;
  };
  EXPECT_EQ(warning(), "");
  ::chmod(file_.c_str(), 0664);
  EXPECT_EQ(warning(), "krond does not read this file: " + refusal());
  ::chmod(file_.c_str(), 0644);
  ::chmod(directory_.c_str(), 0770);
  EXPECT_THAT(warning(), HasSubstr("others can write its directory"));
}

TEST_F(JobFilesOnDisk, AreRefusedWhenOthersCanWriteTheDirectory) {
  ::chmod(directory_.c_str(), 0770);
  EXPECT_THAT(refusal(), HasSubstr("chmod go-w"));
  EXPECT_THAT(contents_of(file_, Trust::own_only).error().message, HasSubstr("others can write its directory"));
  ::chmod(directory_.c_str(), 01777);
  EXPECT_TRUE(contents_of(file_, Trust::own_only));
}

TEST_F(JobFilesOnDisk, AreRefusedWhenALinkLeadsThroughADirectoryThatOthersCanWrite) {
  const std::string open = directory_ + "-open";
  std::filesystem::create_directory(open);
  std::filesystem::rename(file_, open + "/real.kron");
  std::filesystem::create_symlink(open + "/real.kron", file_);
  EXPECT_TRUE(contents_of(file_, Trust::own_only));
  ::chmod(open.c_str(), 0777);
  EXPECT_THAT(refusal(), HasSubstr("others can write its directory " + open));
  EXPECT_TRUE(contents_of(file_, Trust::anyone));
  // Also when only a link stands there, and the way to it is relative.
  std::filesystem::rename(open + "/real.kron", directory_ + "/real.txt");
  std::filesystem::create_symlink("../" + std::filesystem::path(directory_).filename().string() + "/real.txt",
                                  open + "/real.kron");
  EXPECT_THAT(refusal(), HasSubstr("others can write its directory " + open));
  ::chmod(open.c_str(), 0755);
  EXPECT_EQ(load(Trust::own_only).definitions.size(), 1U);
  std::filesystem::remove_all(open);
}

TEST_F(JobFilesOnDisk, AreRefusedWhenTheyBelongToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(file_.c_str(), 12345, 0), 0);
  EXPECT_THAT(refusal(), HasSubstr("belongs to user 12345"));
}

TEST_F(JobFilesOnDisk, DoNotHoldADaemonUpWhenOneIsAPipe) {
  ::unlink(file_.c_str());
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("no plain file"));
}

TEST_F(JobFilesOnDisk, ThatAreNotThereAreNamed) {
  const std::string paths[] = {directory_ + "/none.kron"};
  const LoadedJobs jobs = load_paths(paths, disk_files(Trust::own_only), zones_);
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(jobs.problems.front().file, paths[0]);
  EXPECT_THAT(jobs.problems.front().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace kron::jobs
