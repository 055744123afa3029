#include "kron/daemon/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace kron::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The files of a made-up directory /jobs.
using Files = std::map<std::string, std::string>;

class Reload : public ::testing::Test {
 protected:
  jobs::LoadedJobs read(const Files& files) {
    const jobs::FileAccess access{
        [](const std::string& path) -> Result<jobs::FileAccess::Facts> {
          return jobs::FileAccess::Facts{path == "/jobs", false};
        },
        [&](const std::string&) -> Result<std::vector<std::string>> {
          if (files.contains("unreadable")) return fail(Code::io, "cannot read the directory");
          std::vector<std::string> names;
          for (const auto& [name, text] : files) names.push_back(name);
          return names;
        },
        [&](const std::string& path) -> Result<std::string> { return files.at(path.substr(6)); }};
    const std::string paths[] = {"/jobs"};
    return jobs::load_paths(paths, access, zones_);
  }

  // What runs after these files were read, as "name command".
  std::vector<std::string> reload(const Files& files) {
    JobsToRun next = jobs_after(read(files), [this](const auto& visit) {
      for (const auto& definition : in_force_) visit(definition);
    });
    in_force_ = std::move(next.definitions);
    kept_ = std::move(next.kept);
    std::vector<std::string> jobs;
    for (const auto& definition : in_force_) jobs.push_back(definition.job.identity + " " + command_of(definition));
    return jobs;
  }

  ZoneDatabase zones_;
  std::vector<jobs::JobDefinition> in_force_;
  std::vector<std::string> kept_;
};

constexpr char kA[] = "0 0 * * * name=a command=one\n";
constexpr char kB[] = "0 0 * * * name=b command=one\n";
constexpr char kBad[] = "0 0 * * * name=a command=two\nnonsense\n";

TEST_F(Reload, RunsWhatTheFilesSay) {
  EXPECT_THAT(reload({{"a.kron", kA}, {"b.kron", kB}}), ElementsAre("a one", "b one"));
  EXPECT_THAT(reload({{"b.kron", "0 0 * * * name=b command=two\n"}}), ElementsAre("b two"));
  EXPECT_THAT(kept_, IsEmpty());
}

TEST_F(Reload, KeepsTheOldJobsOfABadFileAndTakesTheNewOnesOfTheOthers) {
  reload({{"a.kron", kA}, {"b.kron", kB}});
  EXPECT_THAT(reload({{"a.kron", kBad}, {"b.kron", "0 0 * * * name=b command=two\n"}}),
              UnorderedElementsAre("a one", "b two"));
  EXPECT_THAT(kept_, ElementsAre("/jobs/a.kron"));
}

TEST_F(Reload, RunsWhatIsInOrderOfABadFileThatWasNeverGood) {
  EXPECT_THAT(reload({{"a.kron", kBad}}), ElementsAre("a two"));
  EXPECT_THAT(kept_, IsEmpty());
}

TEST_F(Reload, LetsAGoodFileTakeAJobOverFromABadOne) {
  reload({{"a.kron", kA}});
  EXPECT_THAT(reload({{"a.kron", "nonsense\n"}, {"b.kron", "0 0 * * * name=a command=two\n"}}), ElementsAre("a two"));
}

TEST_F(Reload, KeepsAllJobsOfADirectoryThatCannotBeRead) {
  reload({{"a.kron", kA}, {"b.kron", kB}});
  EXPECT_THAT(reload({{"unreadable", ""}}), UnorderedElementsAre("a one", "b one"));
  EXPECT_THAT(kept_, ElementsAre("/jobs"));
}

TEST_F(Reload, KeepsTheSecondFileAsItWasWhenItTakesAnothersName) {
  reload({{"a.kron", kA}, {"b.kron", kB}});
  EXPECT_THAT(reload({{"a.kron", kA}, {"b.kron", "0 0 * * * name=a command=two\n"}}),
              UnorderedElementsAre("a one", "b one"));
}

}  // namespace
}  // namespace kron::daemon
