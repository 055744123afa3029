#include <gtest/gtest.h>

#include "cluster_rig.h"

// What the verbs of `kron cluster` have in common: where they find their Redis, and which exit status stands for what.
namespace kron::cli {
namespace {

TEST_F(ClusterVerbs, AnEmptyClusterIsNoError) {
  EXPECT_EQ(cluster({"jobs"}).out, "no jobs\n");
  EXPECT_EQ(cluster({"runs"}).out, "no runs\n");
  EXPECT_EQ(cluster({"pause", "--all"}).out, "no jobs\n");
  EXPECT_EQ(cluster({"prune"}).out, "nothing is left of jobs that are gone\n");
  EXPECT_EQ(cluster({"timezone"}).out, "none yet: the first host sets it\n");
  EXPECT_EQ(cluster({"jobs", "--format", "json"}).out, "");
}

TEST_F(ClusterVerbs, WithoutAHostNobodyValidatesOrDrains) {
  put("a");
  EXPECT_EQ(cluster({"validate"}).status, 3);
  const Ran drained = cluster({"drain", "h9"});
  EXPECT_EQ(drained.status, 1);
  EXPECT_THAT(drained.err, HasSubstr("there is no host 'h9' in the cluster"));
}

TEST_F(ClusterVerbs, ReloadSaysWhenNobodyHeardIt) {
  const Ran ran = cluster({"reload"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("those that start later read the jobs then"));
  EXPECT_EQ(cluster({"reload", "--format", "json"}).out, "{\"hosts\":0}\n");
}

// Every verb that reads or writes, with arguments that let it come that far.
const std::vector<Words>& cluster_words() {
  static const std::vector<Words> kWords{{"status"},
                                         {"jobs"},
                                         {"runs"},
                                         {"logs", "job"},
                                         {"add", "new", "--cron", "5 4 * * *", "--command", "x"},
                                         {"remove", "job"},
                                         {"pause", "job"},
                                         {"resume", "job"},
                                         {"validate"},
                                         {"terminate", kRunOne},
                                         {"kill", kRunOne},
                                         {"drain", "h1"},
                                         {"reload"},
                                         {"timezone"},
                                         {"prune"}};
  return kWords;
}

TEST_F(ClusterVerbs, ARedisThatIsNotThereIsStatusThreeInAnyFormat) {
  for (Words words : cluster_words()) {
    words.insert(words.begin(), "cluster");
    words.insert(words.end(), {"--redis", "redis://127.0.0.1:1"});
    const Ran ran = kron(words);
    EXPECT_EQ(ran.status, 3) << words[1];
    EXPECT_THAT(ran.err, StartsWith("kron cluster " + words[1] + ": ")) << words[1];
    words.insert(words.end(), {"--format", "json"});
    const Ran json = kron(words);
    EXPECT_EQ(json.status, 3) << words[1];
    EXPECT_THAT(json.out, StartsWith(R"({"error":)")) << words[1];
  }
}

TEST_F(ClusterVerbs, WithoutARedisTheFlagIsNamedAndAPasswordNeverShown) {
  for (Words words : cluster_words()) {
    words.insert(words.begin(), "cluster");
    const Ran none = kron(words);
    EXPECT_EQ(none.status, 2) << words[1];
    EXPECT_THAT(none.err, HasSubstr("--redis")) << words[1];
    words.insert(words.end(), {"--redis", "redis://u:s3cret@[::1"});
    const Ran bad = kron(words);
    EXPECT_EQ(bad.status, 2) << words[1];
    EXPECT_THAT(bad.err, Not(HasSubstr("s3cret"))) << words[1];
  }
}

TEST_F(ClusterVerbs, ARefusalOfRedisHasItsStatusAndItsCure) {
  put("job");
  const std::tuple<const char*, int, const char*> refusals[] = {
      {"NOPERM this user has no permissions", 4, "docs/cluster.md has the ACL line"},
      {"WRONGTYPE Operation against a key", 4, "holds something else"},
      {"LOADING Redis is loading", 3, "try again soon"},
      {"READONLY You can't write", 3, "give the URL of the master"},
      {"ERR \x1b[2J anything", 4, "Redis says"},
  };
  for (const auto& [why, status, cure] : refusals) {
    redis_.refuse("HSCAN", why);
    const Ran ran = cluster({"jobs"});
    EXPECT_EQ(ran.status, status) << why;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(cure), Not(HasSubstr("\x1b")))) << why;
  }
}

TEST_F(ClusterVerbs, TheNamespaceIsTheFlagsOrTheVariables) {
  redis_.run({"HSET", "{mine}:jobs", "its", kClusterJob});
  EXPECT_THAT(cluster({"jobs", "--namespace", "{mine}"}).out, HasSubstr("its"));
  {
    const Variable variable("KRON_NAMESPACE", "{mine}");
    EXPECT_THAT(cluster({"jobs"}).out, HasSubstr("its"));
    EXPECT_EQ(cluster({"jobs", "--namespace", "{other}"}).out, "no jobs\n");
  }
  for (const std::string& bad : {std::string("a b"), std::string("a\nb"), std::string(201, 'x')}) {
    EXPECT_EQ(cluster({"jobs", "--namespace", bad}).status, 2);
  }
}

TEST_F(ClusterVerbs, AVerbThatIsMisspeltIsToldTheNearest) {
  EXPECT_THAT(kron({"cluster", "statsu"}).err, HasSubstr("did you mean status?"));
  EXPECT_EQ(kron({"cluster", "statsu"}).status, 2);
  EXPECT_THAT(kron({"cluster"}).err, HasSubstr("no command"));
}

}  // namespace
}  // namespace kron::cli
