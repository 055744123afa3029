#include <gtest/gtest.h>

#include "fake_krond.h"

// `kron trigger`, `wait`, `pause`, `resume` and `kill`.
namespace kron::cli {
namespace {

constexpr char kKrond[] = R"({"now":"2026-03-01T00:00:00Z","startedAt":"2026-02-01T00:00:00Z","pid":7})";
constexpr char kTriggered[] = R"({"runId":"r1","outcome":"started"})";
constexpr char kEnded[] = R"({"runId":"r1","job":"a","outcome":"executed","state":"ended","exitCode":0})";
constexpr char kRunning[] = R"({"runId":"r1","job":"a","outcome":"executed","state":"running"})";

TEST(Trigger, SaysWhichRunWasStarted) {
  FakeKrond krond;
  krond.on("GET /status", kKrond);
  krond.on("POST /jobs/a%2Fb/trigger", kTriggered);
  const Ran ran = krond.kron({"trigger", "a/b"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "started r1\n");
  EXPECT_EQ(krond.kron({"trigger", "a/b", "--format", "json"}).out, std::string(kTriggered) + "\n");
}

TEST(Trigger, HasAKeyOfItsOwnOrThatOfTheFlag) {
  FakeKrond krond;
  krond.on("GET /status", kKrond);
  krond.on("POST /jobs/a/trigger", kTriggered);
  krond.kron({"trigger", "a"});
  krond.kron({"trigger", "a"});
  krond.kron({"trigger", "a", "--idempotency-key", "today"});
  const auto keys = krond.headers("idempotency-key");
  ASSERT_EQ(keys.size(), 6U);  // each asks for the status first
  EXPECT_THAT(keys[1], StartsWith("kron-"));
  EXPECT_NE(keys[1], keys[3]);
  EXPECT_EQ(keys[5], "today");
}

TEST(Trigger, ALostAnswerIsAskedForAgainWithTheSameKey) {
  FakeKrond krond;
  krond.on("GET /status", kKrond);
  krond.refuse("POST /jobs/a/trigger", {Code::unreachable, "in a moment"});
  krond.on("POST /jobs/a/trigger", R"({"runId":"r1","outcome":"already_known"})");
  EXPECT_EQ(krond.kron({"trigger", "a"}).out, "already_known r1\n");
  const auto keys = krond.headers("idempotency-key");
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[1], keys[2]);
}

TEST(Trigger, WaitsForTheEndAndTakesItsStatus) {
  const std::tuple<const char*, int, const char*> cases[] = {
      {kEnded, 0, "result        exit 0\n"},
      {R"({"runId":"r1","outcome":"executed","state":"ended","exitCode":3})", 1, "result        exit 3\n"},
      {R"({"runId":"r1","outcome":"executed","state":"ended","exitCode":null})", 1, "result        exit unknown\n"},
      {R"({"runId":"r1","outcome":"skipped","reason":"concurrency_forbid"})", 1, "skipped (concurrency_forbid)\n"},
  };
  for (const auto& [run, status, line] : cases) {
    FakeKrond krond;
    krond.on("GET /status", kKrond);
    krond.on("POST /jobs/a/trigger", kTriggered);
    krond.on("GET /runs/r1", run);
    const Ran ran = krond.kron({"trigger", "a", "--wait"});
    EXPECT_EQ(ran.status, status) << run;
    EXPECT_THAT(ran.out, HasSubstr(line)) << run;
    EXPECT_EQ(krond.kron({"trigger", "a", "--wait", "--format", "json"}).status, status) << run;
  }
}

TEST(Trigger, ARunThatIsNotKnownYetIsWaitedForWhileTheSameKrondAnswers) {
  FakeKrond krond;
  krond.on("GET /status", kKrond);
  krond.on("POST /jobs/a/trigger", kTriggered);
  krond.refuse("GET /runs/r1", {Code::not_found, "not yet"});
  krond.on("GET /runs/r1?wait=20s", kRunning);
  krond.on("GET /runs/r1?wait=20s", kEnded);
  EXPECT_EQ(krond.kron({"trigger", "a", "--wait"}).status, 0);
}

TEST(Trigger, ATimeoutThatIsNoneIsRefusedBeforeAnythingIsStarted) {
  FakeKrond krond;
  const Ran ran = krond.kron({"trigger", "a", "--wait", "--timeout", "soon"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("--timeout: "));
  EXPECT_THAT(krond.asked(), ElementsAre());
}

TEST(Trigger, WhatIsRefusedIsNotWaitedFor) {
  FakeKrond krond;
  krond.on("GET /status", kKrond);
  krond.refuse("POST /jobs/a/trigger", {Code::conflict, "a run of it is active"});
  const Ran ran = krond.kron({"trigger", "a", "--wait"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.err, "kron trigger: a run of it is active\n");
}

TEST(Wait, AsksOnceAtOnceAndThenForLong) {
  FakeKrond krond;
  krond.on("GET /runs/r1", kRunning);
  krond.on("GET /runs/r1?wait=20s", kRunning);
  krond.on("GET /runs/r1?wait=20s", kEnded);
  const Ran ran = krond.kron({"wait", "r1"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("result        exit 0\n"));
  EXPECT_THAT(krond.asked(), ElementsAre("GET /runs/r1", "GET /runs/r1?wait=20s", "GET /runs/r1?wait=20s"));
}

TEST(Wait, ARunThatNobodyKnowsIsNotWaitedFor) {
  FakeKrond krond;
  const Ran ran = krond.kron({"wait", "r1"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(krond.asked(), ElementsAre("GET /runs/r1"));
}

TEST(Wait, GivesUpAfterItsTimeoutWithStatusFour) {
  FakeKrond krond;
  krond.on("GET /runs/r1", kRunning);
  const Ran ran = krond.kron({"wait", "r1", "--timeout", "0"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("run r1 has not ended within 0s"));
}

TEST(Wait, AKrondThatIsAwayForAMomentIsWaitedFor) {
  FakeKrond krond;
  krond.on("GET /runs/r1", kRunning);
  krond.refuse("GET /runs/r1?wait=20s", {Code::unreachable, "about to end"});
  krond.on("GET /runs/r1?wait=20s", kEnded);
  EXPECT_EQ(krond.kron({"wait", "r1"}).status, 0);
}

TEST(Pause, SendsWhatTheFlagsSay) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "POST /jobs/a/pause {}"},
      {{"--until", "2026-03-05T01:00:00+01:00"}, R"(POST /jobs/a/pause {"until":"2026-03-05T00:00:00Z"})"},
      {{"--for", "2h"}, R"(POST /jobs/a/pause {"until":"2026-03-01T02:00:00Z"})"},
      {{"--skip-missed"}, R"(POST /jobs/a/pause {"skipMissed":true})"},
      {{"--for", "1d", "--skip-missed"}, R"(POST /jobs/a/pause {"until":"2026-03-02T00:00:00Z","skipMissed":true})"},
  };
  for (const auto& [flags, request] : cases) {
    FakeKrond krond;
    krond.on("GET /status", kKrond);  // a duration counts on krond's clock
    krond.on("POST /jobs/a/pause", R"({"identity":"a","paused":{"since":"2026-03-01T00:00:00Z"}})");
    std::vector<std::string> words{"pause", "a"};
    words.insert(words.end(), flags.begin(), flags.end());
    EXPECT_EQ(krond.kron(words).out, "paused a\n") << request;
    EXPECT_EQ(krond.asked().back(), request);
  }
}

TEST(Pause, SaysUntilWhenAndWhatBecomesOfWhatIsMissed) {
  FakeKrond krond;
  krond.on("POST /jobs/a/pause",
           R"({"identity":"a\u001b","paused":{"since":"S","until":"2026-03-02T00:00:00Z","skipMissed":true}})");
  EXPECT_EQ(krond.kron({"pause", "a"}).out,
            "paused 'a\\x1b' until 2026-03-02T00:00:00Z; what becomes due meanwhile will be skipped\n");
}

TEST(Pause, ATimeOrADurationThatIsNoneIsToldByItsFlag) {
  for (const auto& [flag, value] :
       {std::pair("--until", "noon"), std::pair("--for", "1.5s"), std::pair("--for", "x")}) {
    FakeKrond krond;
    krond.on("GET /status", kKrond);
    const Ran ran = krond.kron({"pause", "a", flag, value});
    EXPECT_EQ(ran.status, 1) << flag << " " << value;
    EXPECT_THAT(ran.err, HasSubstr(std::string(flag) + ": ")) << value;
    EXPECT_THAT(krond.asked(), ElementsAre()) << flag;
  }
}

TEST(Pause, EachOfManyIsAskedForAndTheWorstStatusCounts) {
  FakeKrond krond;
  krond.on("POST /jobs/pause",
           R"({"jobs":[{"identity":"a","paused":{}},{"identity":"b","problem":)" +
               http::problem({Code::not_found, "there is no job named 'b'"}).body + R"(},{"identity":"c","problem":)" +
               http::problem({Code::conflict, "the disk is full"}).body + R"(},{"identity":"d","paused":{}}]})");
  const Ran ran = krond.kron({"pause", "a", "b", "c", "d", "--note", "a move"});
  EXPECT_THAT(krond.asked(), ElementsAre(R"(POST /jobs/pause {"jobs":["a","b","c","d"],"note":"a move"})"));
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "paused a\npaused d\n");
  EXPECT_EQ(ran.err, "kron pause: there is no job named 'b'\nkron pause: the disk is full\n");
}

TEST(Pause, APrefixIsShownFirstAndPausedWithYes) {
  FakeKrond krond;
  krond.on("GET /jobs?limit=1000&prefix=team%2F",
           R"({"jobs":[{"identity":"team/a"},{"identity":"team/b"}],"next":"7"})");
  krond.on("GET /jobs?limit=1000&prefix=team%2F&after=7", R"({"jobs":[{"identity":"team/c"}]})");
  const std::string changed = R"({"jobs":[{"identity":"team/a","paused":{}},{"identity":"team/b","paused":{}}]})";
  krond.on("POST /jobs/pause", changed);
  EXPECT_EQ(krond.kron({"pause", "--prefix", "team/"}).out, "team/a\nteam/b\nteam/c\n3 jobs; --yes pauses them\n");
  EXPECT_EQ(krond.kron({"pause", "--prefix", "team/", "--format", "json"}).out,
            "{\"would\":[\"team/a\",\"team/b\",\"team/c\"]}\n");
  EXPECT_EQ(krond.asked().size(), 4U) << "nothing was changed";
  EXPECT_EQ(krond.kron({"pause", "--prefix", "team/", "--yes"}).out, "paused team/a\npaused team/b\n");
  EXPECT_EQ(krond.asked().back(), R"(POST /jobs/pause {"jobs":["team/a","team/b","team/c"]})");
  EXPECT_EQ(krond.kron({"pause", "a", "--prefix", "team/"}).status, 2);
  EXPECT_EQ(krond.kron({"pause", "a", "--yes"}).status, 2);
  EXPECT_EQ(krond.kron({"pause"}).status, 2);
}

TEST(Pause, APrefixOfNoJobIsToldAndSoIsARefusalOfAll) {
  FakeKrond krond;
  krond.on("GET /jobs?limit=1000&prefix=x", R"({"jobs":[]})");
  const Ran none = krond.kron({"pause", "--prefix", "x", "--yes"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no name of a job begins with 'x'"));
  krond.refuse("POST /jobs/pause", {Code::refused, "this user has read-only access"});
  EXPECT_EQ(krond.kron({"pause", "a", "b"}).status, 4);
}

TEST(Pause, AThousandNamesAreOneRequestAndOneMoreAreTwo) {
  FakeKrond krond;
  krond.on("POST /jobs/pause", R"({"jobs":[]})");
  for (const std::size_t count : {1000U, 1001U}) {
    const std::size_t before = krond.asked().size();
    std::vector<std::string> words{"pause"};
    for (std::size_t i = 0; i < count; ++i) words.push_back("j" + std::to_string(i));
    EXPECT_EQ(krond.kron(words).status, 0);
    EXPECT_EQ(krond.asked().size() - before, count > 1000 ? 2U : 1U);
  }
}

TEST(Note, GoesWithEveryAct) {
  FakeKrond krond;
  krond.on("GET /status", kKrond);
  krond.on("POST /jobs/a/trigger", kTriggered);
  krond.on("POST /jobs/a/pause", R"({"identity":"a","paused":{}})");
  krond.on("POST /jobs/a/resume", R"({"identity":"a","paused":null})");
  krond.on("POST /runs/r1/kill", R"({"runId":"r1","signal":"KILL"})");
  for (const char* verb : {"trigger", "pause", "resume", "kill"}) {
    const std::string name = std::string(verb) == "kill" ? "r1" : "a";
    EXPECT_EQ(krond.kron({verb, name, "--note", "say \"why\""}).status, 0) << verb;
    EXPECT_THAT(krond.asked().back(), ::testing::EndsWith(R"({"note":"say \"why\""})")) << verb;
  }
}

TEST(Resume, SaysWhatStartsNow) {
  FakeKrond krond;
  krond.on("POST /jobs/a/resume", R"({"identity":"a","paused":null})");
  krond.on(
      "POST /jobs/resume",
      R"({"jobs":[{"identity":"a","paused":null},{"identity":"b","paused":null,"startsNow":{"periodId":"P","chosenTime":"C","startsAt":"S"}}]})");
  const Ran ran = krond.kron({"resume", "a", "b"});
  EXPECT_EQ(ran.out, "resumed a\nresumed b; its period P, due at C, starts now, at S\n");
  EXPECT_THAT(krond.asked(), ElementsAre(R"(POST /jobs/resume {"jobs":["a","b"]})"));
  EXPECT_EQ(krond.kron({"resume", "a"}).out, "resumed a\n");
  krond.kron({"resume", "a", "--skip-missed"});
  EXPECT_EQ(krond.asked().back(), R"(POST /jobs/a/resume {"skipMissed":true})");
}

TEST(Kill, AsksForTheSignalThatIsMeant) {
  FakeKrond krond;
  krond.on("POST /runs/r1/kill", R"({"runId":"r1","signal":"KILL"})");
  krond.on("POST /runs/r1/terminate", R"({"runId":"r1","signal":"TERM"})");
  EXPECT_EQ(krond.kron({"kill", "r1"}).out, "sent KILL to r1\n");
  EXPECT_EQ(krond.kron({"kill", "--term", "r1"}).out, "sent TERM to r1\n");
  EXPECT_THAT(krond.asked(), ElementsAre("POST /runs/r1/kill", "POST /runs/r1/terminate"));
  EXPECT_EQ(krond.kron({"kill", "r2"}).status, 1);
}

}  // namespace
}  // namespace kron::cli
