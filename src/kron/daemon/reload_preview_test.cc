#include "kron/daemon/reload_preview.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/base/rfc3339.h"
#include "kron/daemon/reload.h"
#include "kron/jobs/disk.h"
#include "kron/testing/temporary_directory.h"

// What a reload would do, and what it has done.
namespace kron::daemon::reload_preview_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReloadPreviewTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.file(name)) << text;
    ::chmod(directory_.file(name).c_str(), 0600);
  }
  static std::string job(const std::string& name, const std::string& schedule = "*/5 * * * *") {
    return schedule + " name=" + name + " command=x\n";
  }
  std::vector<jobs::JobDefinition> read() const {
    ZoneDatabase zones;
    const std::vector<std::string> paths{directory_.path()};
    return jobs::load_paths(paths, jobs::disk_files(jobs::Trust::own_only), zones, {}).definitions;
  }
  api::ReloadReport preview(const std::vector<jobs::JobDefinition>& in_force) const {
    return preview_reload({{directory_.path()}, {}}, in_force, *parse_rfc3339("2026-03-01T00:00:00Z"));
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(ReloadPreviewTest, NamesWhatIsAddedChangedAndRemoved) {
  write("a.kron", job("same") + job("changed") + job("gone"));
  const auto before = read();
  write("a.kron", job("same") + job("changed", "*/7 * * * *") + job("z-new") + job("new"));
  const api::ReloadReport report = preview(before);
  EXPECT_EQ(report.jobs, 4U);
  EXPECT_THAT(report.changes.added.names, ElementsAre("new", "z-new"));
  EXPECT_THAT(report.changes.changed.names, ElementsAre("changed"));
  EXPECT_THAT(report.changes.removed.names, ElementsAre("gone"));
  EXPECT_EQ(report.changes.added.count, 2U);
}

TEST_F(ReloadPreviewTest, OfFilesAsTheyAreNothingChanges) {
  write("a.kron", job("a") + job("b"));
  const api::ReloadReport report = preview(read());
  EXPECT_EQ(report.jobs, 2U);
  EXPECT_EQ(report.changes.added.count + report.changes.changed.count + report.changes.removed.count, 0U);
}

TEST_F(ReloadPreviewTest, AFileWithAnErrorKeepsItsJobsAndIsNamed) {
  write("a.kron", job("a"));
  write("b.kron", job("b"));
  const auto before = read();
  write("b.kron", "61 * * * * name=b command=x\n");
  const api::ReloadReport report = preview(before);
  EXPECT_THAT(report.kept_files, ElementsAre(directory_.file("b.kron")));
  EXPECT_THAT(report.changes.removed.names, IsEmpty());
  EXPECT_EQ(report.jobs, 2U);
  EXPECT_THAT(report.problems, Contains(Field(&jobs::Problem::severity, jobs::Severity::error)));
}

TEST_F(ReloadPreviewTest, WhatLintWarnsOfIsToldToo) {
  write("a.kron", "* 3 * * * name=a command=x\n");
  EXPECT_THAT(preview({}).problems, Contains(Field(&jobs::Problem::severity, jobs::Severity::warning)));
}

TEST_F(ReloadPreviewTest, OfManyNamesTheFirstAreNamedAndAllAreCounted) {
  std::string text;
  for (std::size_t i = 0; i <= api::JobChanges::kMostNames; ++i) {
    text += job("job-" + std::to_string(1000 + i));
  }
  write("a.kron", text);
  const api::JobChanges changes = preview({}).changes;
  EXPECT_EQ(changes.added.count, api::JobChanges::kMostNames + 1);
  EXPECT_EQ(changes.added.names.size(), api::JobChanges::kMostNames);
  EXPECT_EQ(changes.added.names.front(), "job-1000");
  EXPECT_EQ(changes.added.names.back(), "job-1099");
}

}  // namespace
}  // namespace kron::daemon::reload_preview_test
