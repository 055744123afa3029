#include "krond_jobs.h"

#include <fstream>
#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/jobs/model.h"
#include "kron/json/writer.h"
#include "kron/testing/temporary_directory.h"

// The verbs that look ahead, asked without files: what krond has gives the same answers as the file it came from.
namespace kron::cli::krond_jobs_test {
namespace {

using testing::FakeKrond;
using testing::Ran;

constexpr char kJobs[] =
    "0 3 * * * @tz(Europe/Paris) @win(after,2h) @avoid(hours=4) name=team/night command=\"secret $X\" env=X=hunter2\n"
    "H * * * * @win(around,20m) name=often command=true\n"
    "0 6 * * * @only(dow=MON) name=rare command=true\n";

class KrondJobsTest : public ::testing::Test {
 protected:
  KrondJobsTest() {
    std::ofstream(path_) << kJobs;
    ZoneDatabase zones;
    const jobs::LoadedJobs loaded = jobs::load_text(path_, kJobs, jobs::Spelling::kron, zones);
    EXPECT_EQ(loaded.definitions.size(), 3U) << (loaded.problems.empty() ? "" : loaded.problems[0].message);
    for (const jobs::JobDefinition& definition : loaded.definitions) {
      JsonWriter json;
      json.begin_map().member("identity", definition.job.identity).member("file", path_);
      json.key("line").integer(definition.line).key("definition").node(*jobs::node_of(definition));
      told_.push_back(json.end_map().take());
      krond_.on("GET /jobs/" + encoded(definition.job.identity), told_.back());
    }
    krond_.on("GET /status", "{}");
  }
  static std::string encoded(std::string name) {
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "%2F");
    return name;
  }
  Ran of_file(std::vector<std::string> words) const {
    words.emplace_back("--file");
    words.push_back(path_);
    return testing::kron(words);
  }

  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.file("jobs.kron");
  std::vector<std::string> told_;
  FakeKrond krond_;
};

constexpr char kAllJobs[] = "GET /jobs?fields=definition%2Cfile%2Cline%2Cpaused%2Csuspended%2CusualSeconds&limit=1000";

TEST_F(KrondJobsTest, NextOfAllTellsTheSameAsFromTheFile) {
  // Page by page; a job that comes twice, because others were loaded in between, is told once.
  krond_.on(kAllJobs, R"({"jobs":[)" + told_[0] + "," + told_[1] + R"(],"next":"2"})");
  krond_.on(std::string(kAllJobs) + "&after=2", R"({"jobs":[)" + told_[1] + "," + told_[2] + "]}");
  for (const char* format : {"text", "json"}) {
    const std::vector<std::string> next{"next",  "--all", "--from",   "2026-03-28T00:00:00Z",
                                        "--for", "1d",    "--format", format};
    const Ran ran = krond_.kron(next);
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, of_file(next).out);
    EXPECT_THAT(ran.out, ::testing::HasSubstr("team/night"));
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(KrondJobsTest, NextOfAllSaysWhichItLeavesOut) {
  const auto job = [](const std::string& name, const std::string& more) {
    return R"({"identity":")" + name + R"(","file":"x","line":1,)" + more + "}";
  };
  const std::string definition = R"("definition":{"name":"a","schedule":"0 3 * * *","command":"true"})";
  krond_.on(kAllJobs, R"({"jobs":[)" + job("p", R"("paused":{"by":"anna"},)" + definition) + "," +
                          job("s", R"("paused":null,"suspended":true,)" + definition) + "," +
                          job("n", R"("definition":null)") + "," +
                          job("A B", R"("definition":{"name":"A B","schedule":"@daily","command":"true"})") + "," +
                          job("a", R"("paused":null,"suspended":false,)" + definition) + "]}");
  const Ran ran = krond_.kron({"next", "--all", "--count", "1", "--from", "2026-03-01T00:00:00Z", "--format", "json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::HasSubstr(R"("chosenTime":"2026-03-01T03:00:00Z")"));
  EXPECT_THAT(ran.err, ::testing::HasSubstr("2 jobs left out: paused or suspended\n"));
  EXPECT_THAT(ran.err, ::testing::HasSubstr("2 jobs left out, with definitions that no job file could have\n"));
  krond_.on(kAllJobs, R"({"jobs":[]})");
  EXPECT_EQ(krond_.kron({"next", "--all"}).status, 0);
}

TEST_F(KrondJobsTest, NextAndExplainTellTheSameAsFromTheFile) {
  for (const char* job : {"team/night", "often", "rare"}) {
    for (const char* format : {"text", "json"}) {
      const std::vector<std::string> next{"next",    job, "--from",   "2026-03-28T00:00:00Z",
                                          "--count", "9", "--format", format};
      EXPECT_EQ(krond_.kron(next).out, of_file(next).out);
      EXPECT_NE(of_file(next).out, "");
      const std::vector<std::string> explain{
          "explain", job, "--at", "2026-03-29T03:30:00Z", "--now", "2026-03-29T02:00:00Z", "--format", format};
      EXPECT_EQ(krond_.kron(explain).out, of_file(explain).out);
      EXPECT_NE(of_file(explain).out, "");
    }
  }
}

TEST_F(KrondJobsTest, LintOfKrondKnowsHowLongRunsTakeAndHowManyMayBeActive) {
  FakeKrond limited;
  limited.on("GET /status", R"({"maxRunning":1})");
  limited.on(kAllJobs,
             R"({"jobs":[{"identity":"a","file":"x.kron","line":3,"usualSeconds":400.4,"definition":)"
             R"({"name":"a","schedule":"*/10 3 * * *","policy":{"deadline":"1h"},"command":"true","timeout":"1m"}},)"
             R"({"identity":"b","file":"x.kron","line":4,"usualSeconds":300,"definition":)"
             R"({"name":"b","schedule":"*/10 3 * * *","policy":{"deadline":"1h"},"command":"true"}}]})");
  const std::vector<std::string> lint{"lint", "--krond", "--now", "2026-03-01T00:00:00Z"};
  const Ran ran = limited.kron(lint);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::HasSubstr(
                           "x.kron:3:1: warning: 2 jobs (a, b): krond --max-running lets 1 run be active at once, "
                           "and in the hour from 2026-03-01T03:00:00Z 12 runs take as much time as 2 slots have, "
                           "by their usual lengths"));
  std::vector<std::string> wider = lint;
  wider.insert(wider.end(), {"--max-running", "2"});
  EXPECT_THAT(limited.kron(wider).out, ::testing::Not(::testing::HasSubstr("max-running lets")));
}

TEST_F(KrondJobsTest, ExplainTellsWhatKrondWasStartedWithAndThatThereIsACheck) {
  FakeKrond limited;
  limited.on("GET /status", R"({"maxRunning":4,"catchUpSpreadSeconds":600})");
  const auto tell = [&](const std::string& name, const std::string& action) {
    limited.on("GET /jobs/" + name, R"({"identity":")" + name + R"(","file":"x.kron","line":1,"definition":{"name":")" +
                                        name + R"(","schedule":"0 3 * * *",)" + action + "}}");
  };
  tell("a", R"("command":"true","ping":null)");
  tell("b", R"("task":"mail")");
  const std::string command = limited.kron({"explain", "a"}).out;
  EXPECT_THAT(command, ::testing::HasSubstr("needs one of 4 slots of the host (krond --max-running)"));
  EXPECT_THAT(command, ::testing::HasSubstr("within 10m and its deadline (krond --catch-up-spread)"));
  EXPECT_THAT(command, ::testing::HasSubstr("a check hears when its run starts"));
  const std::string task = limited.kron({"explain", "b"}).out;
  EXPECT_THAT(task, ::testing::Not(::testing::HasSubstr("slots of the host")));
  EXPECT_THAT(task, ::testing::HasSubstr("(krond --catch-up-spread)"));
}

TEST_F(KrondJobsTest, WhatAReaderIsNotToldIsNotNeeded) {
  FakeKrond krond;
  krond.on("GET /jobs/a", R"({"identity":"a","file":"x","line":1,"definition":{"name":"a","schedule":"0 3 * * *",)"
                          R"("command":"true","env":{"SECRET":null},"stdin":null,"ping":null}})");
  EXPECT_EQ(krond.kron({"next", "a", "--count", "1", "--from", "2026-03-01T00:00:00Z"}).status, 0);
}

TEST_F(KrondJobsTest, SimulateTellsTheSameAsFromTheFile) {
  const std::vector<std::string> question{"--from", "2026-03-01T00:00:00Z", "--for", "3d", "--step", "10m"};
  const auto simulate = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "simulate");
    words.insert(words.end(), question.begin(), question.end());
    return words;
  };
  std::string json = testing::kron(simulate({path_, "--format", "json"})).out;
  json.pop_back();
  json.pop_back();
  krond_.on("GET /load?from=2026-03-01T00%3A00%3A00Z&for=259200s&step=600s", json + R"(,"actual":[]})");
  for (const char* format : {"text", "json", "html"}) {
    const Ran told = krond_.kron(simulate({"--format", format}));
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_EQ(told.out, testing::kron(simulate({path_, "--format", format})).out) << format;
  }
}

TEST_F(KrondJobsTest, AKrondThatIsAwayIsSaidToBe) {
  krond_.stop();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"next", "often"}, {"next", "--all"}, {"explain", "often"}, {"simulate"}}) {
    const Ran ran = krond_.kron(words);
    EXPECT_EQ(ran.status, 3) << words.front();
    EXPECT_THAT(ran.err, ::testing::HasSubstr("is krond running?"));
  }
}

TEST_F(KrondJobsTest, WhatKrondRefusesIsToldWithTheCure) {
  EXPECT_EQ(krond_.kron({"next", "nobody"}).status, 1);
  EXPECT_EQ(krond_.kron({"explain", "nobody"}).status, 1);
  krond_.refuse("GET /load?from=2026-03-01T00%3A00%3A00Z&for=31536000s&step=3600s",
                {Code::invalid, "this would look at more than 2000000 periods", "for"});
  const Ran ran = krond_.kron({"simulate", "--from", "2026-03-01T00:00:00Z", "--for", "365d", "--step", "1h"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, ::testing::HasSubstr("name the job files"));
  krond_.on("GET /jobs/odd", R"({"identity":"odd","file":"x","line":1,"definition":null})");
  EXPECT_THAT(krond_.kron({"next", "odd"}).err, ::testing::HasSubstr("name its file with --file"));
  krond_.on("GET /load?from=2026-03-01T00%3A00%3A00Z&for=86400s&step=60s", "{}");
  EXPECT_THAT(krond_.kron({"simulate", "--from", "2026-03-01T00:00:00Z", "--for", "1d"}).err,
              ::testing::HasSubstr("no load"));
}

TEST_F(KrondJobsTest, FilesAndASocketExcludeEachOther) {
  EXPECT_EQ(krond_.kron({"next", "often", "--file", path_}).status, 2);
  EXPECT_EQ(krond_.kron({"simulate", path_}).status, 2);
  EXPECT_EQ(krond_.kron({"next", "--all", "--file", path_}).status, 2);
}

}  // namespace
}  // namespace kron::cli::krond_jobs_test
