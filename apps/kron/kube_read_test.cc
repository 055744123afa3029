#include <gtest/gtest.h>

#include "kron/operator/names.h"
#include "kube_rig.h"

// `kron kube next` and `kron kube explain` on what a server has.
namespace kron::cli {
namespace {

const std::string kFrom = "2026-03-01T00:00:00Z";

class KubeRead : public KubeVerbs {
 protected:
  Ran next(Words words) {
    words.insert(words.begin(), "next");
    words.insert(words.end(), {"--from", kFrom});
    return kube(words);
  }
  Ran explain(Words words) {
    words.insert(words.begin(), {"explain", "report"});
    words.insert(words.end(), {"--now", "2026-03-01T03:00:20Z"});
    return kube(words);
  }
};

TEST_F(KubeRead, NextShowsWhatIsAheadInTheOrderOfTime) {
  put("report", spec("0 3 * * *"));
  put("hourly", spec("30 * * * *"));
  const Ran ran = next({"--count", "4"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "PERIOD                CHOSEN (UTC)          CHOSEN (LOCAL)             JOB          WINDOW\n"
            "2026-03-01T00:30:00Z  2026-03-01T00:30:00Z  2026-03-01T00:30:00+00:00  shop/hourly  -\n"
            "2026-03-01T01:30:00Z  2026-03-01T01:30:00Z  2026-03-01T01:30:00+00:00  shop/hourly  -\n"
            "2026-03-01T02:30:00Z  2026-03-01T02:30:00Z  2026-03-01T02:30:00+00:00  shop/hourly  -\n"
            "2026-03-01T03:00:00Z  2026-03-01T03:00:00Z  2026-03-01T03:00:00+00:00  shop/report  -\n");
  EXPECT_THAT(next({"report", "--count", "1", "--format", "json"}).out,
              AllOf(HasSubstr(R"("identity":"shop/report")"), HasSubstr(R"("namespace":"shop","name":"report")"),
                    HasSubstr(R"("jobName":")" +
                              kronjobs::job_name("shop", "report", parse_rfc3339("2026-03-01T03:00:00Z").value()))));
}

TEST_F(KubeRead, NextLooksIntoOneNamespaceOrAllOfThem) {
  put("report", spec("0 3 * * *"));
  put("other", spec("0 4 * * *"), "", "prod");
  EXPECT_THAT(next({}).out, Not(HasSubstr("prod/other")));
  EXPECT_THAT(next({"-A"}).out, AllOf(HasSubstr("prod/other"), HasSubstr("shop/report")));
  EXPECT_THAT(next({"-n", "prod"}).out, AllOf(HasSubstr("prod/other"), Not(HasSubstr("shop/report"))));
  EXPECT_THAT(next({"prod/other"}).out, HasSubstr("prod/other"));
}

TEST_F(KubeRead, NextLeavesOutWhatIsHandledOrSuspended) {
  put("report", spec("0 3 * * *"), R"({"handled":{"through":"2026-03-02T03:00:00Z","open":["2026-03-01T03:00:00Z"]}})");
  EXPECT_THAT(
      next({"report", "--count", "2"}).out,
      AllOf(HasSubstr("2026-03-01T03:00:00Z"), Not(HasSubstr("2026-03-02T")), HasSubstr("2026-03-03T03:00:00Z")));
  put("asleep", spec("0 3 * * *", R"("policy":{"suspend":true},)"));
  const Ran ran = next({"asleep"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, Not(HasSubstr("asleep")));
  EXPECT_THAT(ran.err, HasSubstr("shop/asleep is suspended"));
}

TEST_F(KubeRead, NextTellsOfWhatCannotBeScheduledAndShowsTheOthers) {
  put("report", spec("0 3 * * *"));
  put("broken", spec("99 * * * *"));
  const Ran ran = next({});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("shop/broken cannot be scheduled: spec.schedule: "));
  EXPECT_THAT(ran.out, HasSubstr("shop/report"));
}

TEST_F(KubeRead, NextReadsLongListsPageByPageAndBeginsAgainWhenThePageIsForgotten) {
  for (int i = 0; i < 5; ++i) put("job" + std::to_string(i), spec("0 3 * * *"));
  port_.page_size(2);
  const Ran ran = next({"--count", "5"});
  for (int i = 0; i < 5; ++i) EXPECT_THAT(ran.out, HasSubstr("shop/job" + std::to_string(i)));
  EXPECT_EQ(port_.asked().size(), 3U);
  port_.refuse("GET", "continue=", 410, kube_status_text(410, "Expired", "too old"));
  EXPECT_EQ(next({}).status, 3) << "each time";
}

TEST_F(KubeRead, NextRefusesTimesThatAreNone) {
  EXPECT_EQ(kube({"next", "--from", "x"}).status, 1);
  EXPECT_EQ(next({"--for", "x"}).status, 1);
  EXPECT_EQ(next({"--for", "1h", "--count", "2"}).status, 2);
}

constexpr char kMissed[] =
    R"({"observedGeneration":1,"handled":{"through":"2026-03-01T03:00:00Z"},"recent":[)"
    R"({"periodID":"2026-02-28T03:00:00Z","chosenTime":"2026-02-28T03:00:00Z","at":"2026-02-28T03:00:00Z","outcome":"executed","jobName":"report-1"},)"
    R"({"periodID":"2026-03-01T03:00:00Z","chosenTime":"2026-03-01T03:00:00Z","at":"2026-03-01T03:00:12Z","outcome":"missed","reason":"deadline"}],)"
    R"("conditions":[{"type":"Ready","status":"False","reason":"SchedulingError","lastTransitionTime":"2026-03-01T03:00:05Z","message":"exceeded quota"},)"
    R"({"type":"SchedulingError","status":"True","reason":"CannotStart","lastTransitionTime":"2026-03-01T03:00:05Z","message":"exceeded quota"}]})";

TEST_F(KubeRead, ExplainTellsWhyAPeriodDidNotRun) {
  put("report", spec("0 3 * * *"), kMissed);
  const Ran ran = explain({"--period", "2026-03-01T03:00:00Z"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("job           shop/report\nperiod        2026-03-01T03:00:00Z\n"));
  EXPECT_THAT(ran.out,
              EndsWith("verdict       missed (deadline): it was not started within its deadline of 0s; judged at "
                       "2026-03-01T03:00:12Z\n"
                       "condition     SchedulingError (CannotStart) since 2026-03-01T03:00:05Z: exceeded quota\n"
                       "recent        2026-03-01T03:00:00Z missed (deadline), chosen 2026-03-01T03:00:00Z\n"
                       "              2026-02-28T03:00:00Z executed, chosen 2026-02-28T03:00:00Z, Job report-1\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("if it is not handled yet")));
}

TEST_F(KubeRead, ExplainTellsWhenTheNextPeriodRuns) {
  put("report", spec("0 3 * * *"), kMissed);
  const Ran ran = explain({});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("period        2026-03-02T03:00:00Z\n"),
                             HasSubstr("verdict       it will run at 2026-03-02T03:00:00Z\n"),
                             HasSubstr("if it is not handled yet")));
  EXPECT_THAT(explain({"--at", "2026-03-05T03:00:00Z"}).out, HasSubstr("it will run at 2026-03-05T03:00:00Z"));
}

TEST_F(KubeRead, ExplainInJsonHasAllOfIt) {
  put("report", spec("0 3 * * *"), kMissed);
  const Ran ran = explain({"--period", "2026-03-01T03:00:00Z", "--format", "json"});
  const Result<Node> json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ(kube::text_at(*json, {"verdict", "state"}), "missed");
  EXPECT_EQ(kube::text_at(*json, {"verdict", "reason"}), "deadline");
  EXPECT_EQ(kube::text_at(*json, {"verdict", "at"}), "2026-03-01T03:00:12Z");
  EXPECT_EQ(kube::text_at(*json, {"explanation", "chosenTime"}), "2026-03-01T03:00:00Z");
  EXPECT_EQ(json->find("recent")->as<Node::List>()->size(), 2U);
  EXPECT_EQ(json->find("conditions")->as<Node::List>()->size(), 2U);
}

TEST_F(KubeRead, ExplainLooksAtTheJobsToo) {
  put("report", spec("0 3 * * *"), kMissed);
  put_job(
      "report-1",
      R"({"metadata":{"name":"report-1","namespace":"shop","uid":"u","resourceVersion":"9",)"
      R"("creationTimestamp":"2026-02-28T03:00:00Z","labels":{"kron.io/name":"report"},"annotations":)"
      R"({"kron.io/identity":"shop/report","kron.io/period-id":"2026-02-28T03:00:00Z"}},)"
      R"("status":{"conditions":[{"type":"Failed","status":"True","lastTransitionTime":"2026-02-28T03:05:00Z"}]}})");
  EXPECT_THAT(explain({"--period", "2026-02-28T03:00:00Z"}).out,
              HasSubstr("executed as Job report-1; the Job failed at 2026-02-28T03:05:00Z"));
  port_.refuse("GET", "/jobs", 403, kube_status_text(403, "Forbidden", "no jobs"));
  const Ran ran = explain({"--period", "2026-02-28T03:00:00Z"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("the Jobs cannot be read, so only the status is told"));
  EXPECT_THAT(ran.out, HasSubstr("executed as Job report-1"));
}

TEST_F(KubeRead, ExplainTellsOfPeriodsOfAScheduleThatWasEditedSince) {
  put("report", spec("0 4 * * *"), kMissed);
  const Ran past = explain({"--period", "2026-03-01T03:00:00Z"});
  EXPECT_EQ(past.status, 0) << past.err;
  EXPECT_THAT(past.out,
              StartsWith("job           shop/report\nperiod        2026-03-01T03:00:00Z\nverdict       missed"));
  EXPECT_EQ(explain({"--period", "2026-03-09T03:00:00Z"}).status, 1) << "it never was one";
}

TEST_F(KubeRead, ExplainSaysWhenNoOperatorIsThere) {
  put("report", spec("0 3 * * *"), "");
  EXPECT_THAT(explain({}).out, HasSubstr("operator      none has looked at this KronJob yet"));
  put("edited", spec("0 3 * * *"), R"({"observedGeneration":7})");
  EXPECT_THAT(kube({"explain", "edited"}).out, HasSubstr("operator      it has not seen the latest edit yet"));
}

TEST_F(KubeRead, ExplainOfASpecThatIsInvalidTellsWhatIsWrong) {
  put("report", spec("99 * * * *"), kMissed);
  const Ran ran = explain({});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("verdict       nothing is scheduled: spec.schedule: "), HasSubstr("recent   ")));
  EXPECT_THAT(explain({"--period", "2026-03-01T03:00:00Z"}).out, HasSubstr("verdict       missed (deadline)"));
  EXPECT_EQ(explain({"--period", "x"}).status, 1);
}

TEST_F(KubeRead, WhatTheServerSaysObeysNoTerminal) {
  put("report", spec("0 3 * * *"),
      R"({"observedGeneration":1,"conditions":[{"type":"SchedulingError","status":"True","reason":"x","message":"a\u001b[2Jb","lastTransitionTime":"2026-03-01T03:00:05Z"}]})");
  EXPECT_THAT(explain({}).out, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace kron::cli
