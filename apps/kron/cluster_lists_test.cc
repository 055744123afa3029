#include <gtest/gtest.h>

#include "cluster_rig.h"
#include "kron/json/document.h"

// What the verbs of `kron cluster` show.
namespace kron::cli {
namespace {

using ClusterLists = ClusterVerbs;

TEST_F(ClusterLists, JobsAreListedInOrderWithTheirStateAndTheirLastRun) {
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

TEST_F(ClusterLists, JobsAsJsonAreOneALine) {
  put("a");
  put_run(kRunOne, "success", "a");
  const Node job = parse_json(cluster({"jobs", "--format", "json"}).out).value();
  EXPECT_EQ(*job.find("name")->as<std::string>(), "a");
  EXPECT_EQ(*job.find("command")->as<std::string>(), "echo");
  EXPECT_FALSE(*job.find("paused")->as<bool>());
  EXPECT_TRUE(job.find("problem")->is_null());
  EXPECT_FALSE(job.find("last")->is_null());
}

TEST_F(ClusterLists, LongNamesAndCommandsDoNotPushTheOtherColumnsAway) {
  put(std::string(300, 'n'));
  const Ran ran = cluster({"jobs"});
  EXPECT_THAT(ran.out, HasSubstr(std::string(57, 'n') + "...  "));
  EXPECT_THAT(ran.out, Not(HasSubstr(std::string(58, 'n'))));
}

TEST_F(ClusterLists, RunsAreListedTheActiveOnesFirst) {
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

TEST_F(ClusterLists, LogsAreTheLinesInTheirOrder) {
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

TEST_F(ClusterLists, StatusCountsAndWarns) {
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

}  // namespace
}  // namespace kron::cli
