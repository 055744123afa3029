#include <gtest/gtest.h>

#include "fake_krond.h"
#include "kron/json/document.h"

// `kron jobs` and `kron runs`: what they ask for, page by page, and how what they are told looks.
namespace kron::cli {
namespace {

constexpr char kFirstJobs[] = "GET /jobs?limit=100";
constexpr char kFirstRuns[] = "GET /runs?limit=100";

Ran jobs_shown(const std::string& jobs) {
  FakeKrond krond;
  krond.on(kFirstJobs, "{\"jobs\":[" + jobs + "]}");
  return krond.kron({"jobs"});
}

Ran runs_shown(const std::string& runs) {
  FakeKrond krond;
  krond.on(kFirstRuns, "{\"runs\":[" + runs + "]}");
  return krond.kron({"runs"});
}

TEST(ListJobs, AnEmptyListSaysSo) {
  EXPECT_EQ(jobs_shown("").out, "no jobs\n");
  FakeKrond krond;
  krond.on(kFirstJobs, R"({"jobs":[]})");
  EXPECT_EQ(krond.kron({"jobs", "--format", "json"}).out, "") << "no line is no job";
  EXPECT_EQ(krond.kron({"jobs", "--names"}).out, "");
}

TEST(ListJobs, ColumnsAreAsWideAsTheirWidestCell) {
  const Ran ran = jobs_shown(
      R"({"identity":"a","schedule":"* * * * *","running":0,"next":{"startsAt":"2026-03-01T00:00:00Z"},"last":null},)"
      R"({"identity":"a/much/longer/name","schedule":"@daily","running":2,"next":null,)"
      R"("last":{"outcome":"missed","reason":"deadline","periodId":"2026-02-28T00:00:00Z"}})");
  EXPECT_EQ(ran.out,
            "NAME                SCHEDULE   STATE      NEXT                  LAST\n"
            "a                   * * * * *  idle       2026-03-01T00:00:00Z  -\n"
            "a/much/longer/name  @daily     2 running  -                     missed (deadline) 2026-02-28T00:00:00Z\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.status, 0);
}

TEST(ListJobs, LettersCountNotBytes) {
  const Ran ran = jobs_shown(R"({"identity":"größe","schedule":"x"},{"identity":"grosse","schedule":"x"})");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\ngröße   x"), HasSubstr("\ngrosse  x")));
}

TEST(ListJobs, TellsTheStateOfEach) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"running":1})", "1 running"},
      {R"({"running":3,"paused":{"since":"x"}})", "3 running"},
      {R"({"paused":{}})", "paused"},
      {R"({"paused":{"until":"2026-03-01T00:00:00Z"}})", "paused until 2026-03-01T00:00:00Z"},
      {R"({"paused":null,"suspended":true})", "suspended"},
      {R"({"suspended":false})", "idle"},
      {R"({})", "idle"},
  };
  for (const auto& [job, state] : cases) {
    EXPECT_THAT(jobs_shown(job).out, HasSubstr("  " + std::string(state) + "  ")) << job;
  }
}

TEST(ListJobs, ControlCharactersAreShownNotObeyed) {
  const Ran ran = jobs_shown(R"({"identity":"a\u001b[2Jb","schedule":"tab\there","next":{"startsAt":"\u0007"}})");
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr(R"('a\x1b[2Jb')"), Not(HasSubstr("\x1b")), Not(HasSubstr("\t")), Not(HasSubstr("\a"))));
  FakeKrond krond;
  krond.on(kFirstJobs, R"({"jobs":[{"identity":"a\u001b[2Jb"},{"identity":"c\nd"}]})");
  const Ran names = krond.kron({"jobs", "--names"});
  EXPECT_THAT(names.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(std::ranges::count(names.out, '\n'), 2) << "one line each, whatever the names: " << names.out;
}

TEST(ListJobs, ALongResultIsCutBetweenLettersAndTheRestStaysInSight) {
  const std::string detail(70, 'x');
  const Ran ran = jobs_shown(R"({"identity":"a","last":{"runId":"r","outcome":"executed","detail":")" + detail +
                             R"(","startedAt":"2026-03-01T00:00:00Z"}})");
  EXPECT_THAT(ran.out, HasSubstr(std::string(57, 'x') + "... 2026-03-01T00:00:00Z\n"));
  std::string umlauts;
  for (int i = 0; i < 40; ++i) umlauts += "ä";
  const Ran other = jobs_shown(R"({"identity":"a","last":{"runId":"r","outcome":"executed","detail":"x)" + umlauts +
                               R"(","startedAt":"T"}})");
  EXPECT_THAT(other.out, AllOf(HasSubstr("ä... T\n"), Not(HasSubstr("\\x"))));
}

TEST(ListJobs, NamesAloneAreOneALineForPrograms) {
  FakeKrond krond;
  krond.on(kFirstJobs, R"({"jobs":[{"identity":"b"},{"identity":"a/c"}],"next":"2"})");
  const Ran ran = krond.kron({"jobs", "--names"});
  EXPECT_EQ(ran.out, "b\na/c\n");
}

TEST(ListJobs, JsonIsOneObjectALineAsKrondSentIt) {
  FakeKrond krond;
  krond.on(kFirstJobs, R"({"jobs":[{"identity":"b","new":{"x":[1,2.5]}},{"identity":"c","last":null}]})");
  EXPECT_EQ(krond.kron({"jobs", "--format", "json"}).out,
            "{\"identity\":\"b\",\"new\":{\"x\":[1,2.5]}}\n{\"identity\":\"c\",\"last\":null}\n");
}

TEST(ListJobs, AsksWithItsFiltersEncoded) {
  FakeKrond krond;
  krond.on("GET /jobs?prefix=a%2F%26b&match=x%20y&state=paused&limit=3", R"({"jobs":[]})");
  EXPECT_EQ(krond.kron({"jobs", "--prefix", "a/&b", "--match", "x y", "--state", "paused", "--limit", "3"}).status, 0);
}

TEST(ListJobs, SaysWhenThereAreMoreThanTheLimit) {
  FakeKrond krond;
  krond.on("GET /jobs?limit=1", R"({"jobs":[{"identity":"a"}],"next":"1"})");
  const Ran ran = krond.kron({"jobs", "--limit", "1"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "kron jobs: there are more: --all, or a higher --limit\n");
}

TEST(ListJobs, GoesFromPageToPageUpToTheLimit) {
  FakeKrond krond;
  std::string page;
  for (int i = 0; i < 1000; ++i) page += (i > 0 ? "," : "") + std::string(R"({"identity":"j"})");
  krond.on("GET /jobs?limit=1000", "{\"jobs\":[" + page + R"(],"next":"1000"})");
  krond.on("GET /jobs?after=1000&limit=500", R"({"jobs":[{"identity":"last"}]})");
  const Ran ran = krond.kron({"jobs", "--limit", "1500", "--names"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 1001);
  EXPECT_THAT(ran.out, EndsWith("last\n"));
  EXPECT_EQ(ran.err, "") << "there is nothing more";
  EXPECT_THAT(krond.asked(), ElementsAre("GET /jobs?limit=1000", "GET /jobs?after=1000&limit=500"));
}

TEST(ListJobs, AllMeansAllOfThem) {
  FakeKrond krond;
  krond.on("GET /jobs?limit=1000", R"({"jobs":[{"identity":"a"}],"next":"1"})");
  krond.on("GET /jobs?after=1&limit=1000", R"({"jobs":[],"next":"2"})");  // a turn of the loop that found none
  krond.on("GET /jobs?after=2&limit=1000", R"({"jobs":[{"identity":"b"}]})");
  EXPECT_EQ(krond.kron({"jobs", "--all", "--names"}).out, "a\nb\n");
}

TEST(ListJobs, APageThatFailsEndsItWithItsStatus) {
  FakeKrond krond;
  krond.on("GET /jobs?limit=1000", R"({"jobs":[{"identity":"a"}],"next":"1"})");
  krond.refuse("GET /jobs?after=1&limit=1000", {Code::unreachable, "too many requests"});
  const Ran ran = krond.kron({"jobs", "--all", "--names"});
  EXPECT_EQ(ran.out, "a\n");
  EXPECT_EQ(ran.status, 3);
}

TEST(ListRuns, ShowsEachKindOfEntry) {
  const Ran ran = runs_shown(
      R"({"number":9,"job":"a","runId":"r9","outcome":"executed","state":"running","startedAt":"2026-03-01T00:00:00Z"},)"
      R"({"number":8,"job":"a","runId":"r8","outcome":"executed","state":"ended","exitCode":0,)"
      R"("startedAt":"2026-03-01T00:00:00Z","endedAt":"2026-03-01T00:01:30Z","periodId":"2026-02-28T00:00:00Z"},)"
      R"({"number":7,"job":"b","outcome":"missed","reason":"deadline","chosenTime":"2026-02-27T00:00:00Z"},)"
      R"({"number":6,"job":"b","outcome":"executed","passedOver":{"count":3,"first":"x","last":"2026-02-26T00:00:00Z"}})");
  EXPECT_EQ(ran.out,
            "NUMBER  TIME                  DURATION  PERIOD                JOB  RESULT             RUN\n"
            "9       2026-03-01T00:00:00Z  -         -                     a    running            r9\n"
            "8       2026-03-01T00:00:00Z  1m30s     2026-02-28T00:00:00Z  a    exit 0             r8\n"
            "7       2026-02-27T00:00:00Z  -         -                     b    missed (deadline)\n"
            "6       2026-02-26T00:00:00Z  -         -                     b    3 passed over\n");
}

TEST(ListRuns, OfAClusterEachTellsItsHost) {
  const Ran ran = runs_shown(R"({"number":2,"job":"a","runId":"r2","host":"h1"},{"number":1,"job":"a","runId":"r1"})");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("JOB  HOST  RESULT  RUN\n"), HasSubstr("a    h1            r2\n"),
                             HasSubstr("a    -             r1\n")));
}

TEST(ListRuns, AsksWithItsFiltersAndTimesInUtc) {
  FakeKrond krond;
  krond.on(
      "GET /runs?job=a%2Fb&prefix=p&outcome=passed%20over&result=failed&from=2026-02-28T23%3A00%3A00Z&"
      "to=2026-03-02T00%3A00%3A00Z&before=17&limit=5",
      R"({"runs":[{"number":3}]})");
  const Ran ran =
      krond.kron({"runs", "--job", "a/b", "--prefix", "p", "--outcome", "passed over", "--result", "failed", "--from",
                  "2026-03-01T00:00:00+01:00", "--to", "2026-03-02T00:00:00Z", "--before", "17", "--limit", "5"});
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST(ListRuns, ATimeThatIsNoneIsToldByItsFlagAndKrondIsNotAsked) {
  FakeKrond krond;
  for (const char* flag : {"--from", "--to"}) {
    const Ran ran = krond.kron({"runs", flag, "yesterday"});
    EXPECT_EQ(ran.status, 1) << flag;
    EXPECT_THAT(ran.err, HasSubstr(std::string(flag) + ": ")) << flag;
  }
  EXPECT_THAT(krond.asked(), ElementsAre());
}

TEST(ListRuns, SaysHowToAskForOlderOnes) {
  FakeKrond krond;
  krond.on("GET /runs?limit=1", R"({"runs":[{"number":41}],"next":41})");
  EXPECT_EQ(krond.kron({"runs", "--limit", "1"}).err, "kron runs: there are older ones: --before 41\n");
  krond.on("GET /runs?before=41&limit=1", R"({"runs":[]})");
  EXPECT_EQ(krond.kron({"runs", "--limit", "1", "--before", "41"}).out, "no runs\n");
}

TEST(ListRuns, AJobThatIsMisspeltIsNotOneThatHasNeverRun) {
  FakeKrond krond;
  krond.on("GET /runs?job=a&limit=100", R"({"runs":[]})");
  krond.on("GET /jobs/a", R"({"identity":"a"})");
  EXPECT_EQ(krond.kron({"runs", "--job", "a"}).out, "no runs\n");
  krond.on("GET /runs?job=aa&limit=100", R"({"runs":[]})");
  const Ran ran = krond.kron({"runs", "--job", "aa"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("there is no job 'aa'"));
}

TEST(ListRuns, AnUnknownJobOfAKrondThatCannotTellIsNoError) {
  FakeKrond krond;
  krond.on("GET /runs?job=a&limit=100", R"({"runs":[]})");
  krond.refuse("GET /jobs/a", {Code::refused, "no"});
  EXPECT_EQ(krond.kron({"runs", "--job", "a"}).status, 0);
}

}  // namespace
}  // namespace kron::cli
