#include <gtest/gtest.h>

#include "fake_krond.h"

// `kron show`: a job or a run, whichever the name stands for.
namespace kron::cli {
namespace {

std::string job_shown(const std::string& members) {
  FakeKrond krond;
  krond.on("GET /jobs/a",
           R"({"identity":"a","schedule":"@daily","timezone":"UTC","file":"f.kron","line":3)" + members + "}");
  const Ran ran = krond.kron({"show", "a"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

std::string run_shown(const std::string& members) {
  FakeKrond krond;
  krond.on("GET /runs/r1", R"({"runId":"r1","job":"a","outcome":"executed")" + members + "}");
  const Ran ran = krond.kron({"show", "r1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

TEST(ShowOne, AJobGoesBeforeARunOfThatName) {
  FakeKrond krond;
  krond.on("GET /jobs/x", R"({"identity":"x"})");
  krond.on("GET /runs/x", R"({"runId":"x"})");
  EXPECT_THAT(krond.kron({"show", "x"}).out, HasSubstr("job           x\n"));
  EXPECT_THAT(krond.asked(), ElementsAre("GET /jobs/x"));
}

TEST(ShowOne, ANameIsOneSegmentWhateverItHolds) {
  FakeKrond krond;
  krond.on("GET /jobs/a%2Fb%20c%3Fd%25", R"({"identity":"x"})");
  EXPECT_EQ(krond.kron({"show", "a/b c?d%"}).status, 0);
}

TEST(ShowOne, ANameThatIsNeitherSaysWhereToLook) {
  FakeKrond krond;
  const Ran ran = krond.kron({"show", "nobody\x1b"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "kron show: there is neither a job nor a run 'nobody\\x1b'; see `kron jobs` and `kron runs`\n");
}

TEST(ShowOne, WhatIsNoRunIdAtAllIsMeantAsAJob) {
  FakeKrond krond;
  krond.refuse("GET /jobs/x", {Code::not_found, "there is no job named 'x'"});
  krond.refuse("GET /runs/x", {Code::invalid, "no run id"});
  EXPECT_EQ(krond.kron({"show", "x"}).err, "kron show: there is no job named 'x'\n");
}

TEST(ShowOne, AnotherErrorOfEitherIsTold) {
  FakeKrond krond;
  krond.refuse("GET /runs/x", {Code::unreachable, "the history waits"});
  const Ran ran = krond.kron({"show", "x"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("the history waits"));
}

TEST(ShowOne, AJobWithAllThatIsKnownOfIt) {
  const std::string out = job_shown(
      R"(,"description":"nightly","command":"echo \u001b[2J","suspended":true,"paused":null,)"
      R"("next":{"startsAt":"2026-03-01T00:00:09Z","periodId":"2026-03-01T00:00:00Z"},)"
      R"("active":[{"runId":"r1","startedAt":"2026-02-28T00:00:00Z","pid":99,"periodId":"2026-02-28T00:00:00Z"},)"
      R"({"runId":"r2","startedAt":"2026-02-28T00:00:00Z","taskId":"t-1"}],)"
      R"("last":{"runId":"r0","outcome":"executed","exitCode":3,"startedAt":"2026-02-27T00:00:00Z"},)"
      R"("lastPeriodId":"2026-02-28T00:00:00Z","openPeriods":["2026-02-26T00:00:00Z",3])");
  EXPECT_THAT(out, HasSubstr("job           a\n"));
  EXPECT_THAT(out, HasSubstr("description   nightly\n"));
  EXPECT_THAT(out, HasSubstr("schedule      @daily in UTC\n"));
  EXPECT_THAT(out, AllOf(HasSubstr("command       "), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(out, HasSubstr("file          f.kron:3\n"));
  EXPECT_THAT(out, HasSubstr("suspended     by its definition\n"));
  EXPECT_THAT(out, HasSubstr("next          2026-03-01T00:00:09Z, period 2026-03-01T00:00:00Z\n"));
  EXPECT_THAT(out, HasSubstr("running       r1 since 2026-02-28T00:00:00Z, PID 99, period 2026-02-28T00:00:00Z\n"));
  EXPECT_THAT(out, HasSubstr("running       r2 since 2026-02-28T00:00:00Z, task t-1\n"));
  EXPECT_THAT(out, HasSubstr("last          exit 3, 2026-02-27T00:00:00Z  r0\n"));
  EXPECT_THAT(out, HasSubstr("last period   2026-02-28T00:00:00Z\n"));
  EXPECT_THAT(out, HasSubstr("open period   2026-02-26T00:00:00Z\n"));
  EXPECT_THAT(out, Not(HasSubstr("paused")));
}

TEST(ShowOne, AJobThatIsPaused) {
  EXPECT_THAT(job_shown(R"(,"paused":{"since":"2026-03-01T00:00:00Z"})"),
              HasSubstr("paused        since 2026-03-01T00:00:00Z\n"));
  EXPECT_THAT(job_shown(R"(,"paused":{"since":"2026-03-01T00:00:00Z","until":"2026-03-02T00:00:00Z"})"),
              HasSubstr("paused        since 2026-03-01T00:00:00Z, until 2026-03-02T00:00:00Z\n"));
}

TEST(ShowOne, AJobOfAClusterIsPausedAndNobodySaysSinceWhen) {
  EXPECT_THAT(job_shown(R"(,"paused":{})"), HasSubstr("paused        until it is resumed\n"));
}

TEST(ShowOne, TheDefinitionWithItsDefaults) {
  const std::string out = job_shown(R"(,"definition":{"schedule":"@daily"})");
  EXPECT_THAT(out, HasSubstr("window        none\n"));
  EXPECT_THAT(out, HasSubstr("deadline      0s\n"));
  EXPECT_THAT(out, HasSubstr("concurrency   forbid\n"));
  EXPECT_THAT(out, HasSubstr("timeout       none\n"));
  EXPECT_THAT(out, HasSubstr("user          krond's own\n"));
  EXPECT_THAT(job_shown(R"(,"definition":null)"), Not(HasSubstr("window")));
}

TEST(ShowOne, TheDefinitionWithEverything) {
  const std::string out = job_shown(
      R"(,"definition":{"window":{"mode":"centered","duration":"2h"},"distribution":{"name":"normal",)"
      R"("params":{"mu":0.5,"sigma":0.1}},"seed":{"strategy":"stable","salt":"x"},"only":{"days":"mon-fri"},)"
      R"("avoid":{"hours":"9-17"},"dst":"gap=run","policy":{"deadline":"5m","concurrency":"replace"},)"
      R"("timeout":"1h","grace":"10s","user":"www","group":"adm","shell":true,"cwd":"/srv","env":{"A":null,"B":"2"},)"
      R"("stdout":"file:/x","stderr":"discard","umask":"027","nice":5,"limits":{"nofile":100},"history":7,)"
      R"("ping":"https://hc-ping.com/hunter2"})");
  for (const char* line : {"window        centered 2h",
                           "distribution  normal mu=0.5 sigma=0.1",
                           "seed          strategy=stable salt=x",
                           "only          days=mon-fri",
                           "avoid         hours=9-17",
                           "dst           gap=run",
                           "deadline      5m",
                           "concurrency   replace",
                           "timeout       1h",
                           "grace         10s",
                           "user          www",
                           "group         adm",
                           "shell         /bin/sh",
                           "directory     /srv",
                           "env           A B",
                           "stdout        file:/x",
                           "stderr        discard",
                           "ping          https://hc-ping.com/…",
                           "umask         027",
                           "nice          5",
                           "limits        nofile=100",
                           "history       7"}) {
    EXPECT_THAT(out, HasSubstr(std::string(line) + "\n"));
  }
  EXPECT_THAT(out, Not(HasSubstr("B=2"))) << "values of the environment may be secrets";
  EXPECT_THAT(job_shown(R"(,"definition":{"shell":"/bin/bash"})"), HasSubstr("shell         /bin/bash\n"));
}

TEST(ShowOne, ARunThatEnded) {
  EXPECT_EQ(run_shown(R"(,"exitCode":0,"trigger":"schedule","periodId":"2026-03-01T00:00:00Z",)"
                      R"("chosenTime":"2026-03-01T00:00:07Z","startedAt":"2026-03-01T00:00:07Z",)"
                      R"("endedAt":"2026-03-01T00:00:09.5Z","pid":12,"outputBytes":345,"host":"h1")"),
            "run           r1\n"
            "job           a\n"
            "host          h1\n"
            "result        exit 0\n"
            "trigger       schedule\n"
            "period        2026-03-01T00:00:00Z\n"
            "chosen        2026-03-01T00:00:07Z\n"
            "started       2026-03-01T00:00:07Z\n"
            "ended         2026-03-01T00:00:09.5Z\n"
            "took          2s\n"
            "PID           12\n"
            "output        345 bytes\n");
}

TEST(ShowOne, ARunThatFailedSaysHow) {
  EXPECT_THAT(run_shown(R"(,"exitCode":124,"detail":"timed out after 2s")"),
              AllOf(HasSubstr("result        timed out after 2s\n"), HasSubstr("exit code     124\n")));
  EXPECT_THAT(run_shown(R"(,"exitCode":127,"detail":"cannot execute /x/y: No such file or directory")"),
              HasSubstr("result        no such file: /x/y\n"));
  EXPECT_THAT(run_shown(R"(,"exitCode":137,"detail":"killed by kron kill")"),
              AllOf(HasSubstr("result        exit 137\n"), HasSubstr("detail        killed by kron kill\n")));
  EXPECT_THAT(run_shown(R"(,"exitCode":null)"), HasSubstr("result        exit unknown\n"));
  EXPECT_THAT(run_shown(R"(,"state":"running","exitCode":null,"pid":0,"outputBytes":0)"),
              AllOf(HasSubstr("result        running\n"), Not(HasSubstr("PID")), Not(HasSubstr("output"))));
}

TEST(ShowOne, JsonIsAsKrondSentIt) {
  FakeKrond krond;
  krond.on("GET /runs/r1", R"({"runId":"r1"})");
  EXPECT_EQ(krond.kron({"show", "r1", "--format", "json"}).out, "{\"runId\":\"r1\"}\n");
}

}  // namespace
}  // namespace kron::cli
