#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_redis_port.h"
#include "kron/base/result.h"
#include "kron/json/document.h"
#include "kron/testing/temporary_directory.h"

// `kron cluster …` on a Redis in memory: what each verb reads, writes and says, and which exit status it has.
namespace kron::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kron;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;
using testing::Variable;

using Words = std::vector<std::string>;

constexpr char kJobsKey[] = "{cronken}:jobs";
constexpr char kRunData[] = "{cronken}:rundata";
constexpr char kDefinition[] =
    R"({"cron_args":{"cronstring":"0 * * * *"},"job_args":{"cmd":"echo","lock":true,"ttl":10},"job_state":{}})";
const std::string kRunOne(32, '1');
const std::string kRunTwo(32, '2');

class ClusterVerbs : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text = kDefinition) {
    ASSERT_TRUE(redis_.execute({"HSET", kJobsKey, name, text}).is_reply());
  }
  std::string definition(const std::string& name) { return redis_.get(kJobsKey, name); }

  void put_run(const std::string& id, const std::string& status, const std::string& job = "job", int code = 0) {
    redis_.run({"HSET", kRunData, id,
                R"({"job_name":")" + job + R"(","start_time":"1772323200.5","host":"h1","status":")" + status +
                    R"(","retcode":)" + std::to_string(code) + R"(,"output":"last\n","duration":1.5})"});
    if (status == "running") {
      redis_.run({"ZADD", "{cronken}:rundata:active", "1772323201", id});
      return;
    }
    const std::string kind = status == "success" ? "success" : "fail";
    redis_.run({"ZADD", "{cronken}:results:" + kind, "1772323202", id});
    redis_.run({"ZADD", "{cronken}:results:" + job + ":" + kind, "1772323202", id});
  }

  Ran cluster(Words words, std::string_view input = {}) { return redis_.cluster(std::move(words), input); }

  const Variable redis_variable_{"KRON_REDIS", nullptr};
  const Variable file_variable_{"KRON_REDIS_FILE", nullptr};
  const Variable cronken_variable_{"CRONKEN_REDIS_INFO", nullptr};
  const Variable namespace_variable_{"KRON_NAMESPACE", nullptr};
  const Variable other_namespace_variable_{"CRONKEN_NAMESPACE", nullptr};
  const Variable key_variable_{"KRON_JOBS_HMAC_KEY", nullptr};
  testing::TemporaryDirectory directory_;
  testing::RedisPort redis_;
};

TEST_F(ClusterVerbs, AnEmptyClusterIsNoError) {
  EXPECT_EQ(cluster({"jobs"}).out, "no jobs\n");
  EXPECT_EQ(cluster({"runs"}).out, "no runs\n");
  EXPECT_EQ(cluster({"pause", "--all"}).out, "no jobs\n");
  EXPECT_EQ(cluster({"prune"}).out, "nothing is left of jobs that are gone\n");
  EXPECT_EQ(cluster({"timezone"}).out, "none yet: the first host sets it\n");
  EXPECT_EQ(cluster({"jobs", "--format", "json"}).out, "");
}

TEST_F(ClusterVerbs, AJobIsAddedOnceAndReplacedOnlyWhenAskedFor) {
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

TEST_F(ClusterVerbs, ADefinitionThatNoHostWouldRunIsRefusedBeforeItIsWritten) {
  const std::pair<Words, const char*> cases[] = {
      {{"add", "job", "--cron", "99 4 * * *", "--command", "x"}, "job"},
      {{"add", "job", "--cron", "nonsense", "--command", "x"}, "job"},
  };
  for (const auto& [words, told] : cases) {
    const Ran ran = cluster(words);
    EXPECT_EQ(ran.status, 1) << words[3];
    EXPECT_THAT(ran.err, AllOf(StartsWith("kron cluster add: "), HasSubstr(told)));
  }
  EXPECT_EQ(redis_.execute({"HLEN", kJobsKey}).value.integer, 0);
}

TEST_F(ClusterVerbs, ADefinitionMayComeFromAFileOrStandardInput) {
  const std::string path = directory_.file("job.json");
  std::ofstream(path) << kDefinition << "\n";
  EXPECT_EQ(cluster({"add", "one", "--file", path}).status, 0);
  EXPECT_EQ(cluster({"add", "two", "--file", "-"}, kDefinition).status, 0);
  EXPECT_EQ(definition("one"), kDefinition);
  EXPECT_EQ(definition("two"), kDefinition);
  EXPECT_EQ(cluster({"add", "three", "--file", directory_.file("nowhere")}).status, 2);
}

TEST_F(ClusterVerbs, JobsAreListedInOrderWithTheirStateAndTheirLastRun) {
  put("b");
  put("a", R"({"cron_args":{"second":"*/2"},"job_args":{"cmd":"x","lock":false,"ttl":1},"job_state":{"paused":true}})");
  put("c", R"({"cron_args":{},"job_args":{},"job_state":{"validation_errors":"no \u001b good"}})");
  put("d", "no json");
  put_run(kRunOne, "fail", "b", 3);
  const Ran ran = cluster({"jobs"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, StartsWith("NAME  SCHEDULE"));
  EXPECT_LT(ran.out.find("\na "), ran.out.find("\nb "));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("paused"), HasSubstr("exit 3 h1"), HasSubstr("invalid: no JSON object"),
                             Not(HasSubstr("\x1b"))));
  EXPECT_THAT(cluster({"jobs", "--paused"}).out, AllOf(HasSubstr("\na "), Not(HasSubstr("\nb "))));
  EXPECT_THAT(cluster({"jobs", "--invalid"}).out, AllOf(HasSubstr("\nc "), HasSubstr("\nd "), Not(HasSubstr("\na "))));
  EXPECT_THAT(cluster({"jobs", "--prefix", "b"}).out, AllOf(HasSubstr("\nb "), Not(HasSubstr("\na "))));
  const Ran limited = cluster({"jobs", "--limit", "2"});
  EXPECT_THAT(limited.err, HasSubstr("there are more"));
}

TEST_F(ClusterVerbs, JobsAsJsonAreOneALine) {
  put("a");
  put_run(kRunOne, "success", "a");
  const Node job = parse_json(cluster({"jobs", "--format", "json"}).out).value();
  EXPECT_EQ(*job.find("name")->as<std::string>(), "a");
  EXPECT_EQ(*job.find("command")->as<std::string>(), "echo");
  EXPECT_FALSE(*job.find("paused")->as<bool>());
  EXPECT_TRUE(job.find("problem")->is_null());
  EXPECT_FALSE(job.find("last")->is_null());
}

TEST_F(ClusterVerbs, LongNamesAndCommandsDoNotPushTheOtherColumnsAway) {
  put(std::string(300, 'n'));
  const Ran ran = cluster({"jobs"});
  EXPECT_THAT(ran.out, HasSubstr(std::string(57, 'n') + "...  "));
  EXPECT_THAT(ran.out, Not(HasSubstr(std::string(58, 'n'))));
}

TEST_F(ClusterVerbs, RunsAreListedTheActiveOnesFirst) {
  put("job");
  put_run(kRunOne, "success");
  put_run(kRunTwo, "running");
  const Ran ran = cluster({"runs"});
  EXPECT_THAT(ran.out, StartsWith("STARTED"));
  EXPECT_LT(ran.out.find(kRunTwo), ran.out.find(kRunOne));
  EXPECT_THAT(cluster({"runs", "--result", "running"}).out, Not(HasSubstr(kRunOne)));
  EXPECT_THAT(cluster({"runs", "--result", "success"}).out, Not(HasSubstr(kRunTwo)));
  EXPECT_EQ(cluster({"runs", "--result", "fail"}).out, "no runs\n");
  const Ran nobody = cluster({"runs", "--job", "jop"});
  EXPECT_EQ(nobody.status, 1);
  EXPECT_THAT(nobody.err, HasSubstr("job"));
}

TEST_F(ClusterVerbs, PauseAndResumeChangeTheDefinitionAndTheSet) {
  put("a");
  put("b");
  EXPECT_EQ(cluster({"pause", "a"}).out, "paused a\n");
  EXPECT_THAT(definition("a"), HasSubstr(R"("paused":true)"));
  EXPECT_EQ(redis_.execute({"SISMEMBER", "{cronken}:jobs:paused", "a"}).value.integer +
                redis_.execute({"SISMEMBER", "{cronken}:kron:paused", "a"}).value.integer,
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

TEST_F(ClusterVerbs, RemoveTakesTheJobAndWithPruneWhatWasKnownOfIt) {
  put("a");
  put_run(kRunOne, "success", "a");
  EXPECT_EQ(cluster({"remove", "a"}).out, "removed a\n");
  EXPECT_EQ(definition("a"), "");
  EXPECT_EQ(redis_.execute({"ZCARD", "{cronken}:results:a:success"}).value.integer, 1);
  put("a");
  EXPECT_EQ(cluster({"remove", "a", "--prune"}).out, "removed a and what was known of it\n");
  EXPECT_EQ(redis_.execute({"ZCARD", "{cronken}:results:a:success"}).value.integer, 0);
  put("c");
  const Ran some = cluster({"remove", "nobody", "c"});
  EXPECT_EQ(some.status, 1);
  EXPECT_EQ(some.out, "removed c\n");
  EXPECT_EQ(some.err, "kron cluster remove: there is no job 'nobody' in the cluster\n");
}

TEST_F(ClusterVerbs, PruneFindsWhatIsLeftOfJobsThatAreGone) {
  put("kept");
  put_run(kRunOne, "success", "gone");
  put_run(kRunTwo, "success", "kept");
  const Ran dry = cluster({"prune"});
  EXPECT_EQ(dry.out, "would remove gone: 0 records, 1 runs\n--yes removes it\n");
  EXPECT_EQ(redis_.execute({"HEXISTS", kRunData, kRunOne}).value.integer, 1);
  EXPECT_EQ(cluster({"prune", "--yes"}).out, "removed gone: 0 records, 1 runs\n");
  EXPECT_EQ(redis_.execute({"HEXISTS", kRunData, kRunOne}).value.integer, 0);
  EXPECT_EQ(redis_.execute({"HEXISTS", kRunData, kRunTwo}).value.integer, 1);
}

TEST_F(ClusterVerbs, TheTimeZoneIsShownOrSetAndMustBeOne) {
  EXPECT_EQ(cluster({"timezone", "Europe/Paris"}).out, "Europe/Paris\n");
  EXPECT_EQ(redis_.get("{cronken}:kron:cluster", "timezone"), "Europe/Paris");
  EXPECT_EQ(cluster({"timezone", "Mars/Olympus"}).status, 1);
  EXPECT_EQ(cluster({"timezone"}).out, "Europe/Paris\n");
  EXPECT_EQ(cluster({"timezone", "--format", "json"}).out, "{\"timezone\":\"Europe/Paris\"}\n");
}

TEST_F(ClusterVerbs, LogsAreTheLinesInTheirOrder) {
  put("job");
  put_run(kRunOne, "success");
  const std::string key = "{cronken}:rundata:output:" + kRunOne;
  redis_.run({"ZADD", key, "1", "first", "2", "second", "3",
              std::string("first\0"
                          "3",
                          7)});
  EXPECT_EQ(cluster({"logs", kRunOne}).out, "first\nsecond\nfirst\n");
  EXPECT_EQ(cluster({"logs", "job", "--tail", "1"}).out, "first\n");
  redis_.run({"DEL", key});
  const Ran expired = cluster({"logs", kRunOne});
  EXPECT_EQ(expired.out, "last\n");
  EXPECT_THAT(expired.err, HasSubstr("no longer kept"));
  EXPECT_EQ(cluster({"logs", kRunTwo}).status, 1);
  EXPECT_THAT(cluster({"logs", "jop"}).err, HasSubstr("did you mean"));
}

TEST_F(ClusterVerbs, StatusCountsAndWarns) {
  put("a");
  put("b", "no json");
  put_run(kRunTwo, "running");
  redis_.run({"HSET", "{cronken}:kron:hosts", "h1",
              R"({"owner":"00000000000000000000000000000000","host":"h1","ip":"10.0.0.1","version":"1.2.3",)"
              R"("mode":"seed","clock_offset":-60.5,"draining":true,"runs":2,"beat":1772323200.000000})"});
  const Ran ran = cluster({"status"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("h1"), HasSubstr("2"), HasSubstr("the clock of h1 is off")));
  const Ran json = cluster({"status", "--format", "json"});
  const Node status = parse_json(json.out).value();
  EXPECT_EQ(*status.find("jobs")->as<std::int64_t>(), 2);
  EXPECT_EQ(status.find("hosts")->as<Node::List>()->size(), 1U);
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

TEST_F(ClusterVerbs, ASignatureIsMadeWithTheKeyOfTheFile) {
  const std::string key = directory_.file("key");
  std::ofstream(key) << "a key that is long enough for everybody\n";
  ::chmod(key.c_str(), 0600);
  put("a");
  const Ran ran = cluster({"sign", "a", "--jobs-hmac-key", key});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(definition("a"), kDefinition);
}

TEST_F(ClusterVerbs, ImportShowsFirstAndWritesWhenToldTo) {
  const std::string path = directory_.file("jobs.kron");
  std::ofstream(path) << "0 12 * * * name=noon command=x\n";
  const Ran dry = cluster({"import", path});
  EXPECT_EQ(redis_.execute({"HLEN", kJobsKey}).value.integer, 0) << dry.out << dry.err;
  const Ran ran = cluster({"import", path, "--yes"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(redis_.execute({"HLEN", kJobsKey}).value.integer, 1);
  EXPECT_EQ(cluster({"import", directory_.file("nowhere"), "--yes"}).status, 2);
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
  redis_.run({"HSET", "{mine}:jobs", "its", kDefinition});
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
