#include "kron/jobs/load.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace kron::jobs {
namespace {

// A directory tree in memory.
struct Tree {
  std::map<std::string, std::string> files;
  std::vector<std::string> world_writable;

  [[nodiscard]] FileAccess access() const {
    const auto below = [this](const std::string& path) {
      std::vector<std::string> names;
      const std::string prefix = path + "/";
      for (const auto& [name, text] : files) {
        if (!name.starts_with(prefix)) continue;
        const std::string rest = name.substr(prefix.size());
        const std::string first = rest.substr(0, rest.find('/'));
        if (names.empty() || names.back() != first) names.insert(names.begin(), first);  // any order
      }
      return names;
    };
    FileAccess access;
    access.look = [this, below](const std::string& path) -> Result<FileAccess::Facts> {
      FileAccess::Facts facts;
      facts.is_directory = !files.contains(path) && !below(path).empty();
      if (!facts.is_directory && !files.contains(path)) return fail(Code::unreadable, "no such file");
      facts.others_can_write = std::ranges::find(world_writable, path) != world_writable.end();
      return facts;
    };
    access.list = [below](const std::string& path) -> Result<std::vector<std::string>> { return below(path); };
    access.read = [this](const std::string& path) -> Result<std::string> {
      if (files.at(path) == "unreadable") return fail(Code::unreadable, "permission denied");
      return files.at(path);
    };
    return access;
  }
  [[nodiscard]] LoadedJobs load(std::vector<std::string> paths, LoadOptions options = {}) const {
    static ZoneDatabase zones;
    return load_paths(paths, access(), zones, options);
  }
};

std::vector<std::string> names_of(const LoadedJobs& jobs) {
  std::vector<std::string> names;
  for (const JobDefinition& definition : jobs.definitions) names.push_back(definition.job.identity);
  return names;
}

constexpr const char* kYaml = "jobs: [{name: y, schedule: '@daily', command: x}]\n";

TEST(Load, DirectoriesGiveTheirFilesInNameOrder) {
  const Tree tree{
      {{"/d/b.kron", "@daily name=b command=x\n"},
       {"/d/a.yaml", kYaml},
       {"/d/.hidden.kron", "@daily name=h command=x\n"},
       {"/d/README", "no jobs\n"},
       {"/d/sub/c.kron", "@daily name=c command=x\n"},
       {"/d/z.json", R"({"z": {"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": true, "ttl": 1}}})"}},
      {}};
  const LoadedJobs jobs = tree.load({"/d"});
  EXPECT_EQ(names_of(jobs), (std::vector<std::string>{"y", "b", "z"}));
  EXPECT_FALSE(jobs.has_errors());
  EXPECT_EQ(jobs.problems.size(), 2U) << "notes on README and sub";
}

TEST(Load, CronDFilesAreCrontabsAndLeftoversArePassedBy) {
  const Tree tree{{{"/etc/cron.d/one", "@daily root x\n"},
                   {"/etc/cron.d/one.dpkg-old", "@daily root y\n"},
                   {"/etc/cron.d/one~", "@daily root z\n"}},
                  {}};
  const LoadedJobs jobs = tree.load({"/etc/cron.d"});
  EXPECT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.problems.size(), 2U);
  EXPECT_FALSE(jobs.has_errors());
}

TEST(Load, SourceAndFormCanBeForced) {
  const Tree tree{{{"/x", "@daily cmd arg\n"}}, {}};
  EXPECT_TRUE(tree.load({"/x"}).has_errors());
  LoadOptions options;
  options.source = Spelling::crontab;
  EXPECT_EQ(command_of(tree.load({"/x"}, options).definitions.at(0)), "cmd arg");
  options.form = CrontabForm::system;
  EXPECT_EQ(command_of(tree.load({"/x"}, options).definitions.at(0)), "arg");
}

TEST(Load, ANameGivenTwiceNamesBothPlaces) {
  const Tree tree{{{"/a.kron", "\n@daily name=x command=first\n"},
                   {"/b.yaml", "jobs:\n  - {name: x, schedule: '@daily', command: second}\n"}},
                  {}};
  const LoadedJobs jobs = tree.load({"/a.kron", "/b.yaml"});
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(jobs.problems[0].file, "/b.yaml");
  EXPECT_EQ(jobs.problems[0].at.line, 2U);
  EXPECT_NE(jobs.problems[0].message.find("/a.kron:2"), std::string::npos);
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(command_of(jobs.definitions[0]), "first");
}

TEST(Load, NamesAreMissingOrGivenTwiceAlsoWhereOtherKeysAreBroken) {
  const Tree tree{{{"/a.kron",
                    "@daily name=x command=y timeout=soon\n"  // 1: broken, and its name is taken below
                    "@daily name=x command=y\n"               // 2: good
                    "99 * * * * timeout=soon command=y\n"     // 3: broken twice, and without a name
                    "@daily name=z command=y umask=9\n"       // 4
                    "@daily name=z command=y umask=9\n"       // 5: broken as well, and a second z
                    "@daily comand=y\n"}},                    // 6: the command is misspelt, the name is missing
                  {}};
  const LoadedJobs jobs = tree.load({"/a.kron"});
  EXPECT_EQ(names_of(jobs), (std::vector<std::string>{"x"}));
  std::map<std::size_t, std::string> said;
  for (const Problem& problem : jobs.problems) {
    const bool is_of_name = problem.field == "name";
    said[problem.at.line] +=
        (said[problem.at.line].empty() ? "" : " | ") + (is_of_name ? problem.message : problem.field);
  }
  EXPECT_EQ(said, (std::map<std::size_t, std::string>{{1, "timeout | the name 'x' is taken by the job at /a.kron:2"},
                                                      {3, "the job has no name | schedule | timeout"},
                                                      {4, "umask"},
                                                      {5, "umask | the name 'z' is taken by the job at /a.kron:4"},
                                                      {6, "comand | the job has no name"}}));
}

TEST(Load, MovingAFileMovesNothing) {
  const Tree tree{
      {{"/a/x.kron", "H H * * * @win(1h) name=x command=y\n"}, {"/b/z.kron", "H H * * * @win(1h) name=x command=y\n"}},
      {}};
  EXPECT_EQ(tree.load({"/a"}).definitions, tree.load({"/b"}).definitions);
}

TEST(Load, ErrorsOfAllFilesComeInOneGo) {
  const Tree tree{{{"/d/a.kron", "@daily nme=x\n@daily\n"},
                   {"/d/b.yaml", "a: *b\n"},
                   {"/d/c.kron", "unreadable"},
                   {"/d/good.kron", "@daily name=x command=y\n"}},
                  {}};
  const LoadedJobs jobs = tree.load({"/d", "/missing"});
  EXPECT_EQ(names_of(jobs), (std::vector<std::string>{"x"}));
  std::map<std::string, int> errors;
  for (const Problem& problem : jobs.problems) ++errors[problem.file];
  EXPECT_EQ(errors,
            (std::map<std::string, int>{{"/d/a.kron", 3}, {"/d/b.yaml", 1}, {"/d/c.kron", 1}, {"/missing", 1}}));
}

TEST(Load, WorldWritableFilesAreWarnedOf) {
  const Tree tree{{{"/a.kron", "@daily name=x command=y\n"}}, {"/a.kron"}};
  const LoadedJobs jobs = tree.load({"/a.kron"});
  ASSERT_EQ(jobs.problems.size(), 1U);
  EXPECT_EQ(jobs.problems[0].severity, Severity::warning);
  EXPECT_NE(jobs.problems[0].message.find("everybody can write"), std::string::npos);
  EXPECT_EQ(jobs.definitions.size(), 1U);
}

}  // namespace
}  // namespace kron::jobs
