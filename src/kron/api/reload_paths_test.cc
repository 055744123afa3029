#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

// Reloads, and what they would do.
namespace kron::api::reload_paths_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReloadPathsTest : public ApiRig {
 protected:
  // Until the end of the test this is what a dry run is answered with.
  void preview_with(ReloadReport report) {
    previewed_ = std::move(report);
    preview_ = [this](const std::vector<jobs::JobDefinition>& in_force) {
      for (const jobs::JobDefinition& definition : in_force) in_force_.push_back(definition.job.identity);
      return previewed_;
    };
  }

  ReloadReport previewed_;
  std::vector<std::string> in_force_;
};

TEST_F(ReloadPathsTest, AReloadTellsWhatItHasChanged) {
  reload_ = ReloadReport{.jobs = 5, .changes = {.added = {2, {"a", "b"}}, .changed = {1, {"c"}}, .removed = {}}};
  EXPECT_EQ(ask("POST", "/api/v1/reload").body,
            R"({"jobs":5,"keptFiles":[],"problems":[],"added":["a","b"],"addedCount":2,"changed":["c"],)"
            R"("changedCount":1,"removed":[],"removedCount":0,"dryRun":false})");
}

TEST_F(ReloadPathsTest, ADryRunIsGivenAllJobsInForceAndReloadsNothing) {
  preview_with({.jobs = 3, .kept_files = {"bad.kron"}, .changes = {.removed = {1, {"d"}}}});
  reload_ = fail(Code::internal, "must not be asked");
  const auto answer = ask("POST", "/api/v1/reload?dryRun=true");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"jobs":3,"keptFiles":["bad.kron"],"problems":[],"added":[],"addedCount":0,"changed":[],)"
                         R"("changedCount":0,"removed":["d"],"removedCount":1,"dryRun":true})");
  EXPECT_THAT(in_force_, ElementsAre("a/b", "c", "d"));
  EXPECT_EQ(looks_ahead_, 1) << "quick answers do not wait for the files";
}

class ReloadPathsOfACluster : public ApiRig {
 protected:
  ReloadPathsOfACluster() : ApiRig(OtherHosts{.has_run = [](const auto&) { return false; }}) {}
};

TEST_F(ReloadPathsOfACluster, HaveNoFilesToReadForADryRun) {
  const auto answer = ask("POST", "/api/v1/reload?dryRun=true");
  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(answer.body, HasSubstr("kron cluster validate"));
}

TEST_F(ReloadPathsTest, AWordThatIsNeitherTrueNorFalseIsRefused) {
  EXPECT_EQ(ask("POST", "/api/v1/reload?dryRun=yes").status, 400);
  EXPECT_EQ(ask("POST", "/api/v1/reload?dryRun=false").status, 200);
}

}  // namespace
}  // namespace kron::api::reload_paths_test
