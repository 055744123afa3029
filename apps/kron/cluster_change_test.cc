#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cluster_rig.h"
#include "kron/queue/task.h"
#include "kron/testing/temporary_directory.h"

// What the verbs of `kron cluster` write.
namespace kron::cli {
namespace {

class ClusterChange : public ClusterVerbs {
 protected:
  testing::TemporaryDirectory directory_;
};

TEST_F(ClusterChange, AJobIsAddedOnceAndReplacedOnlyWhenAskedFor) {
  const Words add{"add", "job", "--cron", "5 4 * * *", "--command", "echo hello"};
  const Ran added = cluster(add);
  EXPECT_EQ(added.status, 0) << added.err;
  EXPECT_EQ(added.out, "added job\n");
  EXPECT_THAT(added.err, HasSubstr("kron cluster add:")) << "nobody heard it";
  EXPECT_THAT(definition("job"), AllOf(HasSubstr("5 4 * * *"), HasSubstr("echo hello")));
  const std::string before = definition("job");
  const Ran again = cluster({"add", "job", "--cron", "6 4 * * *", "--command", "echo other"});
  EXPECT_EQ(again.status, 4);
  EXPECT_THAT(again.err, HasSubstr("--replace"));
  EXPECT_EQ(definition("job"), before);
  EXPECT_EQ(cluster({"add", "job", "--cron", "6 4 * * *", "--command", "echo other", "--replace"}).out,
            "replaced job\n");
  EXPECT_THAT(definition("job"), HasSubstr("echo other"));
}

TEST_F(ClusterChange, ADefinitionThatNoHostWouldRunIsRefusedBeforeItIsWritten) {
  const std::pair<Words, const char*> cases[] = {
      {{"add", "job", "--cron", "99 4 * * *", "--command", "x"}, "job"},
      {{"add", "job", "--cron", "nonsense", "--command", "x"}, "job"},
  };
  for (const auto& [words, told] : cases) {
    const Ran ran = cluster(words);
    EXPECT_EQ(ran.status, 1) << words[3];
    EXPECT_THAT(ran.err, AllOf(StartsWith("kron cluster add: "), HasSubstr(told)));
  }
  EXPECT_EQ(number({"HLEN", kJobsKey}), 0);
}

TEST_F(ClusterChange, AJobThatSubmitsATaskIsAddedByItsTypeAndData) {
  const Ran added = cluster({"add", "job", "--cron", "5 4 * * *", "--task", "REPORT", "--data", R"({"n": 1})"});
  EXPECT_EQ(added.status, 0) << added.err;
  EXPECT_EQ(definition("job"), R"({"cron_args":{"cronstring":"5 4 * * *"},"job_args":{"cmd":"","lock":true,"ttl":60},)"
                               R"("kron":{"task":"REPORT","stdin":"{\"n\": 1}"}})");
  EXPECT_EQ(cluster({"add", "none", "--cron", "5 4 * * *", "--task", "REPORT", "--no-lock"}).status, 0);
  EXPECT_THAT(definition("none"), AllOf(HasSubstr(R"("lock":false)"), Not(HasSubstr("stdin"))));
}

TEST_F(ClusterChange, ATaskThatNoQueueWouldTakeIsRefusedBeforeItIsWritten) {
  const std::tuple<Words, int, const char*> cases[] = {
      {{"--task", "no type"}, 1, "task type"},
      {{"--task", ""}, 1, "job"},
      {{"--task", "T", "--data", "{"}, 1, "the data is no JSON"},
      {{"--task", "T", "--data", "\"" + std::string(kMostPayloadBytes, 'x') + "\""}, 1, "longer than"},
      {{"--task", "T", "--command", "x"}, 2, "excludes"},
      {{"--data", "1", "--command", "x"}, 2, "--task"},
      {{}, 2, "--task"},
  };
  for (const auto& [more, status, told] : cases) {
    Words words{"add", "job", "--cron", "5 4 * * *"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = cluster(words);
    EXPECT_EQ(ran.status, status) << told;
    EXPECT_THAT(ran.err, HasSubstr(told));
  }
  EXPECT_EQ(cluster({"add", "job", "--task", "T"}).status, 2);
  EXPECT_EQ(number({"HLEN", kJobsKey}), 0);
}

TEST_F(ClusterChange, ADefinitionMayComeFromAFileOrStandardInput) {
  const std::string path = directory_.file("job.json");
  std::ofstream(path) << kClusterJob << "\n";
  EXPECT_EQ(cluster({"add", "one", "--file", path}).status, 0);
  EXPECT_EQ(cluster({"add", "two", "--file", "-"}, kClusterJob).status, 0);
  EXPECT_EQ(definition("one"), kClusterJob);
  EXPECT_EQ(definition("two"), kClusterJob);
  EXPECT_EQ(cluster({"add", "three", "--file", directory_.file("nowhere")}).status, 2);
}

TEST_F(ClusterChange, APauseTellsWhoItWasAndWhatHeSaid) {
  put("a");
  EXPECT_EQ(cluster({"pause", "a", "--note", "disk is full"}).out, "paused a\n");
  EXPECT_THAT(definition("a"),
              ::testing::ContainsRegex(
                  R"re("kron_pause":[{]"since":"2[^"]*Z","by":"[^"@]*@[^"]*","note":"disk is full"[}])re"));
  EXPECT_THAT(cluster({"jobs"}).out, ::testing::ContainsRegex("paused by [^ ]*@[^ ]*: disk is"));
  EXPECT_THAT(cluster({"jobs", "--format", "json"}).out,
              AllOf(HasSubstr(R"("paused":true,"pausedSince":"2)"), HasSubstr(R"("note":"disk is full")")));
  EXPECT_EQ(cluster({"resume", "a"}).out, "resumed a\n");
  EXPECT_THAT(definition("a"), Not(HasSubstr("kron_pause")));
  for (const std::string& wrong : {std::string(501, 'x'), std::string("two\nlines")}) {
    EXPECT_EQ(cluster({"pause", "a", "--note", wrong}).status, 2);
    EXPECT_THAT(definition("a"), Not(HasSubstr(R"("paused":true)")));
  }
  EXPECT_EQ(cluster({"pause", "a", "--note", std::string(500, 'x')}).status, 0);
}

TEST_F(ClusterChange, PauseAndResumeChangeTheDefinitionAndTheSet) {
  put("a");
  put("b");
  EXPECT_EQ(cluster({"pause", "a"}).out, "paused a\n");
  EXPECT_THAT(definition("a"), HasSubstr(R"("paused":true)"));
  EXPECT_EQ(number({"SISMEMBER", "{cronken}:jobs:paused", "a"}) + number({"SISMEMBER", "{cronken}:kron:paused", "a"}),
            1);
  EXPECT_EQ(cluster({"pause", "a"}).out, "paused a (it was already)\n");
  EXPECT_EQ(cluster({"pause", "--all", "--format", "json"}).out,
            "{\"job\":\"a\",\"paused\":true,\"changed\":false}\n{\"job\":\"b\",\"paused\":true,\"changed\":true}\n");
  EXPECT_EQ(cluster({"resume", "a", "b"}).out, "resumed a\nresumed b\n");
  EXPECT_THAT(definition("a"), Not(HasSubstr(R"("paused":true)")));
  const Ran nobody = cluster({"pause", "nobody"});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_EQ(cluster({"pause", "all"}).status, 2) << "that word means every job to hosts";
}

TEST_F(ClusterChange, RemoveTakesTheJobAndWithPruneWhatWasKnownOfIt) {
  put("a");
  put_run(kRunOne, "success", "a");
  EXPECT_EQ(cluster({"remove", "a"}).out, "removed a\n");
  EXPECT_EQ(definition("a"), "");
  EXPECT_EQ(number({"ZCARD", "{cronken}:results:a:success"}), 1);
  put("a");
  EXPECT_EQ(cluster({"remove", "a", "--prune"}).out, "removed a and what was known of it\n");
  EXPECT_EQ(number({"ZCARD", "{cronken}:results:a:success"}), 0);
  put("c");
  const Ran some = cluster({"remove", "nobody", "c"});
  EXPECT_EQ(some.status, 1);
  EXPECT_EQ(some.out, "removed c\n");
  EXPECT_EQ(some.err, "kron cluster remove: there is no job 'nobody' in the cluster\n");
}

TEST_F(ClusterChange, PruneFindsWhatIsLeftOfJobsThatAreGone) {
  put("kept");
  put_run(kRunOne, "success", "gone");
  put_run(kRunTwo, "success", "kept");
  const Ran dry = cluster({"prune"});
  EXPECT_EQ(dry.out, "would remove gone: 0 records, 1 runs\n--yes removes it\n");
  EXPECT_EQ(number({"HEXISTS", kRunDataKey, kRunOne}), 1);
  EXPECT_EQ(cluster({"prune", "--yes"}).out, "removed gone: 0 records, 1 runs\n");
  EXPECT_EQ(number({"HEXISTS", kRunDataKey, kRunOne}), 0);
  EXPECT_EQ(number({"HEXISTS", kRunDataKey, kRunTwo}), 1);
}

TEST_F(ClusterChange, TheTimeZoneIsShownOrSetAndMustBeOne) {
  EXPECT_EQ(cluster({"timezone", "Europe/Paris"}).out, "Europe/Paris\n");
  EXPECT_EQ(redis_.get("{cronken}:kron:cluster", "timezone"), "Europe/Paris");
  EXPECT_EQ(cluster({"timezone", "Mars/Olympus"}).status, 1);
  EXPECT_EQ(cluster({"timezone"}).out, "Europe/Paris\n");
  EXPECT_EQ(cluster({"timezone", "--format", "json"}).out, "{\"timezone\":\"Europe/Paris\"}\n");
}

TEST_F(ClusterChange, ASignatureIsMadeWithTheKeyOfTheFile) {
  const std::string key = directory_.file("key");
  std::ofstream(key) << "a key that is long enough for everybody\n";
  ::chmod(key.c_str(), 0600);
  put("a");
  const Ran ran = cluster({"sign", "a", "--jobs-hmac-key", key});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(definition("a"), kClusterJob);
}

TEST_F(ClusterChange, ImportShowsFirstAndWritesWhenToldTo) {
  const std::string path = directory_.file("jobs.kron");
  std::ofstream(path) << "0 12 * * * name=noon command=x\n";
  const Ran dry = cluster({"import", path});
  EXPECT_EQ(number({"HLEN", kJobsKey}), 0) << dry.out << dry.err;
  const Ran ran = cluster({"import", path, "--yes"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(number({"HLEN", kJobsKey}), 1);
  EXPECT_EQ(cluster({"import", directory_.file("nowhere"), "--yes"}).status, 2);
}

}  // namespace
}  // namespace kron::cli
