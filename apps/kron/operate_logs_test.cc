#include <gtest/gtest.h>

#include "fake_krond.h"

// `kron logs`: which run is meant, and what of its output is shown.
namespace kron::cli {
namespace {

constexpr char kNewest[] = "GET /runs?job=a&outcome=executed&limit=1";
constexpr char kOutput[] = "GET /runs/r1/output";
constexpr char kTail[] = "GET /runs/r1/output?tail=65536";
constexpr char kFollowed[] = "GET /runs/r1/output?follow=true";

// A krond that knows run r1 of job a.
struct KrondWithRun : FakeKrond {
  KrondWithRun() {
    on("GET /jobs/a", R"({"identity":"a","last":null})");
    on("GET /runs/r1", R"({"runId":"r1","job":"a"})");
    on(kNewest, R"({"runs":[{"runId":"r1"}]})");
  }
};

// What krond answers to `tail` and `from`: the bytes from this one on.
http::Response part_of_output(std::uint64_t first, std::string bytes) {
  return {.headers = {{"Kron-Output-First", std::to_string(first)}}, .body = std::move(bytes)};
}

TEST(Logs, AJobMeansItsNewestRun) {
  KrondWithRun krond;
  krond.on(kOutput, "one\ntwo\n");
  const Ran ran = krond.kron({"logs", "a"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "one\ntwo\n");
  EXPECT_THAT(krond.asked(), ElementsAre("GET /jobs/a", kNewest, kOutput));
}

TEST(Logs, ARunMeansItself) {
  KrondWithRun krond;
  krond.on(kOutput, "one\ntwo");
  EXPECT_EQ(krond.kron({"logs", "r1"}).out, "one\ntwo");
  EXPECT_THAT(krond.asked(), ElementsAre("GET /jobs/r1", "GET /runs/r1", kOutput));
}

TEST(Logs, OutputIsNotTouchedWhateverItHolds) {
  KrondWithRun krond;
  const std::string bytes("a\0b\x1b[1m\xff\r\n", 10);
  krond.on(kOutput, bytes);
  EXPECT_EQ(krond.kron({"logs", "r1"}).out, bytes) << "it is the job's own, as a file";
}

TEST(Logs, JsonCarriesItAsText) {
  KrondWithRun krond;
  krond.on(kOutput, "a\n\"b\"\n");
  EXPECT_EQ(krond.kron({"logs", "r1", "--format", "json"}).out, R"({"runId":"r1","text":"a\n\"b\"\n"})"
                                                                "\n");
}

TEST(Logs, TheLastLines) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"a\nb\nc\n", "1", "c\n"},
      {"a\nb\nc\n", "2", "b\nc\n"},
      {"a\nb\nc\n", "3", "a\nb\nc\n"},
      {"a\nb\nc\n", "9", "a\nb\nc\n"},
      {"a\nb\nc", "1", "c"},
      {"a\n\nc\n", "2", "\nc\n"},
      {"", "1", ""},
      {"\n", "1", "\n"},
      {"a", "1", "a"},
      {"a\n\n\n", "1", "\n"},
      {"a\n\n\n", "2", "\n\n"},
  };
  for (const auto& [output, count, tail] : cases) {
    KrondWithRun krond;
    krond.on(kTail, part_of_output(0, output));
    EXPECT_EQ(krond.kron({"logs", "r1", "--tail", count}).out, tail) << output << " --tail " << count;
  }
}

TEST(Logs, TheLastLinesOfAnOutputThatBeginsWithAnEmptyOne) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"\nabc\n", "1", "abc\n"}, {"\nabc\n", "2", "\nabc\n"}, {"\n\n", "1", "\n"},
      {"\n\n", "2", "\n\n"},     {"\nabc", "1", "abc"},       {"\n\nabc\n", "2", "\nabc\n"},
  };
  for (const auto& [output, count, tail] : cases) {
    KrondWithRun krond;
    krond.on(kTail, part_of_output(0, output));
    EXPECT_EQ(krond.kron({"logs", "r1", "--tail", count}).out, tail) << output << " --tail " << count;
  }
}

TEST(Logs, FollowsToTheEnd) {
  KrondWithRun krond;
  krond.stream(kFollowed, {"one\n", "two\n", "three"});
  const Ran ran = krond.kron({"logs", "-f", "a"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "one\ntwo\nthree");
}

TEST(Logs, FollowsBehindTheLastLinesThatWereThere) {
  KrondWithRun krond;
  krond.on(kTail, part_of_output(100, "one\ntwo\n"));
  krond.stream("GET /runs/r1/output?follow=true&from=108", {"thr", "ee\n"});
  EXPECT_EQ(krond.kron({"logs", "-f", "--tail", "1", "a"}).out, "two\nthree\n") << "by the number of the byte";
}

TEST(Logs, AnOlderKrondIsFollowedFromTheStart) {
  for (const bool knows_no_tail : {true, false}) {  // or it has the run on another host
    KrondWithRun krond;
    krond.on(kOutput, "one\ntwo\n");
    if (knows_no_tail) krond.refuse(kTail, {Code::invalid, "unknown parameter tail"});
    if (!knows_no_tail) krond.on(kTail, "one\ntwo\n");
    krond.stream(kFollowed, {"o", "ne\nt", "wo\nthr", "ee\n"});
    EXPECT_EQ(krond.kron({"logs", "-f", "--tail", "1", "a"}).out, "two\nthree\n") << "nothing twice";
  }
}

TEST(Logs, LongLinesAreAskedForWithMoreBytes) {
  KrondWithRun krond;
  const std::string line(70'000, 'x');
  krond.on(kTail, part_of_output(200'000, line.substr(0, 65'535) + "\n"));
  krond.on("GET /runs/r1/output?tail=524288", part_of_output(0, "first\n" + line + "\n"));
  EXPECT_EQ(krond.kron({"logs", "--tail", "1", "a"}).out, line + "\n");
}

TEST(Logs, AFollowedOutputThatBreaksOffIsNoSuccess) {
  KrondWithRun krond;
  krond.stream(kFollowed, {"one\n"}, false);
  const Ran ran = krond.kron({"logs", "-f", "a"});
  EXPECT_EQ(ran.status, 3);
}

TEST(Logs, AJobThatHasNeverRunSaysSo) {
  FakeKrond krond;
  krond.on("GET /jobs/a", R"({"identity":"a","last":null})");
  krond.on(kNewest, R"({"runs":[]})");
  const Ran ran = krond.kron({"logs", "a"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "kron logs: job a has not run yet, so there is no output\n");
}

TEST(Logs, AJobWhoseRunsAreForgottenTellsWhatItsRecordKnows) {
  FakeKrond krond;
  krond.on("GET /jobs/a", R"({"identity":"a","last":{"outcome":"missed","reason":"deadline","periodId":"P"}})");
  krond.on(kNewest, R"({"runs":[]})");
  EXPECT_THAT(krond.kron({"logs", "a"}).err,
              AllOf(HasSubstr("no run of job a is remembered"), HasSubstr("its last: missed (deadline), P")));
  FakeKrond other;
  other.on("GET /jobs/a",
           R"({"identity":"a","last":{"runId":"r9","outcome":"executed","exitCode":0,"startedAt":"S"}})");
  other.on(kNewest, R"({"runs":[]})");
  other.refuse("GET /runs/r9/output", {Code::not_found, "the output of run 'r9' was removed"});
  const Ran ran = other.kron({"logs", "a"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "kron logs: job a last ran long ago (exit 0, S); the output of run 'r9' was removed\n");
}

TEST(Logs, NoOutputMayBeElsewhere) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"stdout":"file:/var/log/a","stderr":"discard"})",
       "standard output goes to /var/log/a, standard error is discarded"},
      {R"({"stdout":"inherit"})", "standard output goes to krond's own"},
      {R"({"stderr":"journal"})", "standard error goes to journal"},
  };
  for (const auto& [definition, where] : cases) {
    FakeKrond krond;
    krond.on("GET /jobs/a", "{\"identity\":\"a\",\"definition\":" + std::string(definition) + "}");
    krond.on(kNewest, R"({"runs":[{"runId":"r1"}]})");
    krond.on(kOutput, "");
    const Ran ran = krond.kron({"logs", "a"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "kron logs: krond has no output of job a: its " + std::string(where) + "\n");
  }
  KrondWithRun krond;
  krond.on(kOutput, "");
  EXPECT_EQ(krond.kron({"logs", "a"}).err, "") << "it just printed nothing";
}

TEST(Logs, ANameThatIsNeitherJobNorRun) {
  FakeKrond krond;
  const Ran ran = krond.kron({"logs", "x"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("neither a job nor a run 'x'"));
}

}  // namespace
}  // namespace kron::cli
