#include "kron/jobs/pools.h"

#include <gtest/gtest.h>
#include <map>

#include "kron/jobs/kron_line.h"

namespace kron::jobs {
namespace {

// Files in memory, read together.
struct PoolFiles {
  std::map<std::string, std::string> texts;

  [[nodiscard]] LoadedJobs load() const {
    static ZoneDatabase zones;
    std::vector<std::string> paths;
    for (const auto& [path, text] : texts) paths.push_back(path);
    FileAccess access;
    access.look = [](const std::string&) -> Result<FileAccess::Facts> { return FileAccess::Facts(); };
    access.read = [this](const std::string& path) -> Result<std::string> { return texts.at(path); };
    return load_paths(paths, access, zones);
  }
};

std::string problems_of(const LoadedJobs& jobs) {
  std::string text;
  for (const Problem& problem : jobs.problems) {
    text += problem.file + ":" + std::to_string(problem.at.line) + ": " + problem.field + ": " + problem.message +
            " | " + problem.cure + "\n";
  }
  return text;
}

SlotPool pool_of(const LoadedJobs& jobs, const std::string& name) {
  for (const JobDefinition& definition : jobs.definitions) {
    if (definition.job.identity == name) return definition.options->pool.value_or(SlotPool());
  }
  ADD_FAILURE() << "no job " << name << "\n" << problems_of(jobs);
  return {};
}

const std::string kDeadline = " @policy(deadline=1h) ";

TEST(Pools, OneFileSaysItForAll) {
  const LoadedJobs jobs = PoolFiles{{{"a.kron", "@daily" + kDeadline + "name=a command=x pool=db\n"},
                                     {"b.yaml",
                                      "pools: {db: 4, net: 1}\ndefaults: {pool: net}\n"
                                      "jobs: [{name: b, schedule: '@daily', command: x},"
                                      " {name: c, schedule: '@daily', command: x, pool: db}]\n"}}}
                              .load();
  EXPECT_EQ(problems_of(jobs), "");
  EXPECT_EQ(pool_of(jobs, "a"), (SlotPool{"db", 4}));
  EXPECT_EQ(pool_of(jobs, "b"), (SlotPool{"net", 1}));
  EXPECT_EQ(pool_of(jobs, "c"), (SlotPool{"db", 4}));
}

TEST(Pools, ALineSaysItForOthers) {
  const LoadedJobs jobs = PoolFiles{{{"a.kron", "@daily" + kDeadline + "name=a command=x pool=db\n@daily" + kDeadline +
                                                    "name=b command=x pool=db:3\n"}}}
                              .load();
  EXPECT_EQ(problems_of(jobs), "");
  EXPECT_EQ(pool_of(jobs, "a"), (SlotPool{"db", 3}));
}

TEST(Pools, APoolThatNobodySizesIsAnErrorOfItsJob) {
  const LoadedJobs jobs = PoolFiles{{{"a.kron",
                                      "@daily name=a command=x pool=databse\n@daily name=b command=x pool=database:2\n"
                                      "@daily name=c command=x pool=other\n"}}}
                              .load();
  EXPECT_EQ(
      problems_of(jobs),
      "a.kron:1: pool: no file that was read says how many slots the pool 'databse' has | did you mean database?\n"
      "a.kron:3: pool: no file that was read says how many slots the pool 'other' has | write pool=other:4, or "
      "pools: {other: 4} in a YAML job file\n");
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(jobs.definitions[0].job.identity, "b");
  EXPECT_EQ(jobs.refused.size(), 2U);
}

TEST(Pools, TwoSizesAreAnErrorThatNamesBothPlaces) {
  const LoadedJobs jobs = PoolFiles{{{"a.kron",
                                      "@daily name=a command=x pool=db:2\n@daily name=b command=x pool=db:3\n"
                                      "@daily name=c command=x pool=db\n"}}}
                              .load();
  EXPECT_EQ(problems_of(jobs).substr(0, 80),
            std::string("a.kron:2: pool: the pool 'db' has 2 slots by a.kron:1, and 3 here | say it in one place")
                .substr(0, 80));
  EXPECT_EQ(jobs.definitions.size(), 2U);
  const std::string empty = "\njobs: []\n";
  const LoadedJobs files =
      PoolFiles{{{"a.yaml", "pools: {db: 4}" + empty}, {"b.yaml", "pools: {db: 5}" + empty}}}.load();
  EXPECT_EQ(problems_of(files).substr(0, 65), "b.yaml:1: pools.db: the pool 'db' has 4 slots by a.yaml:1, and 5 ");
}

TEST(Pools, SizesAndNamesHaveLimits) {
  const auto refused = [](const std::string& value) {
    return problems_of(PoolFiles{{{"a.kron", "@daily name=a command=x pool=" + value + "\n"}}}.load());
  };
  EXPECT_EQ(refused("db:1"), "");
  EXPECT_EQ(refused("db:" + std::to_string(kMostSlots)), "");
  EXPECT_NE(refused("db:" + std::to_string(kMostSlots + 1)).find("is no number of slots | expected 1 to 100000"),
            std::string::npos);
  for (const char* wrong : {"db:0", "db:", "db:-1", "db:x", "db:4x"}) {
    EXPECT_NE(refused(wrong).find("is no number of slots"), std::string::npos) << wrong;
  }
  for (const char* wrong : {"DB:4", ":4", "-db:4"}) {
    EXPECT_NE(refused(wrong).find("is no name of a pool"), std::string::npos) << wrong;
  }
  const auto in_file = [](const std::string& pools) {
    return problems_of(PoolFiles{{{"a.yaml", "pools: " + pools + "\njobs: []\n"}}}.load());
  };
  EXPECT_EQ(in_file("{db: 100000}"), "");
  EXPECT_NE(in_file("{db: 100001}").find("pools.db: a pool has from 1 to 100000 slots"), std::string::npos);
  EXPECT_NE(in_file("{db: 0}").find("pools.db: "), std::string::npos);
  EXPECT_NE(in_file("{db: many}").find("pools.db: "), std::string::npos);
  EXPECT_NE(in_file("{Db: 1}").find("is no name of a pool"), std::string::npos);
  EXPECT_NE(in_file("[db]").find("pools: "), std::string::npos);
}

TEST(Pools, AHostHasNoMoreThanSoMany) {
  std::string lines;
  for (std::size_t i = 0; i <= kMostPools; ++i) {
    const std::string name = std::to_string(i);
    lines += "@daily" + kDeadline + "name=j" + name + " command=x pool=p" + name + ":1\n";
    if (i + 1 == kMostPools) {
      EXPECT_EQ(problems_of(PoolFiles{{{"a.kron", lines}}}.load()), "");
    }
  }
  EXPECT_EQ(problems_of(PoolFiles{{{"a.kron", lines}}}.load()),
            "a.kron:1001: pool: the pool 'p1000' is one more than 1000 | let jobs share pools\n");
}

TEST(Pools, ADefinitionThatIsWrittenSaysTheSizeItself) {
  const LoadedJobs jobs =
      PoolFiles{{{"a.yaml", "pools: {db: 4}\njobs: [{name: a, schedule: '@daily', command: x, pool: db}]\n"}}}.load();
  ASSERT_EQ(jobs.definitions.size(), 1U);
  EXPECT_EQ(kron_line(jobs.definitions[0]), "0 0 * * * name=a command=x pool=db:4");
}

}  // namespace
}  // namespace kron::jobs
