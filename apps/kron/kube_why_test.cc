#include <gtest/gtest.h>

#include "kube_rig.h"

// `kron kube why` on what a server has.
namespace kron::cli::kube_why_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A status that has come to the first of March, with these notes of the last periods.
std::string status(const std::string& recent, const std::string& more = "") {
  return R"({"observedGeneration":1,"handled":{"through":"2026-03-01T03:00:00Z"},)" + more + R"("recent":[)" + recent +
         "]}";
}

std::string note(const std::string& outcome, const std::string& reason = "") {
  return R"({"periodID":"2026-03-01T03:00:00Z","chosenTime":"2026-03-01T03:00:00Z","at":"2026-03-01T03:00:12Z",)"
         R"("outcome":")" +
         outcome + R"(","reason":")" + reason + R"(","jobName":"report-1"})";
}

std::string job_members(const std::string& status) {
  return R"({"metadata":{"name":"report-1","namespace":"shop","uid":"u","resourceVersion":"9",)"
         R"("creationTimestamp":"2026-03-01T03:00:01Z","labels":{"kron.io/name":"report"},"annotations":)"
         R"({"kron.io/identity":"shop/report","kron.io/period-id":"2026-03-01T03:00:00Z"}},"status":)" +
         status + "}";
}

class KubeWhy : public KubeVerbs {
 protected:
  Ran why(Words words = {}) {
    words.insert(words.begin(), {"why", "report"});
    words.insert(words.end(), {"--now", "2026-03-01T12:00:00Z"});
    return kube(words);
  }

  // The first line, of a KronJob with this status.
  void expect(const std::string& status_text, const std::string& sentence, const Words& words = {},
              const std::string& more = "") {
    SCOPED_TRACE(sentence);
    put("report", spec("0 3 * * *", more), status_text);
    const Ran ran = why(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith(sentence));
    port_.with_server([](kube::ApiServer& server) {
      server.remove("kronjobs", "shop", "report", kube::ApiServer::Deletion::background);
    });
  }
};

TEST_F(KubeWhy, WhatTheStatusHasRecorded) {
  expect(status(note("executed")), "executed: the Job is gone, and how it ended with it\n");
  expect(status(note("missed", "deadline")), "missed: it could not be started before its deadline was over\n");
  expect(status(note("skipped", "concurrency_forbid")), "skipped: a run of the job was going on");
  expect(status(note("skipped", "could not stop")), "skipped: the run that it was to replace did not end");
  expect(status(note("unschedulable", "excluded")), "excluded: it was not run");
  expect(status(note("unschedulable", "no candidate accepted within 64 attempts")), "no time: it was not run");
  expect(status(""), "forgotten: it was handled");
}

TEST_F(KubeWhy, WhyAJobWasRefusedStandsInTheCondition) {
  expect(status(note("skipped", "start failed"),
                R"("conditions":[{"type":"SchedulingError","status":"True","reason":"Forbidden","message":"quota",)"
                R"("lastTransitionTime":"2026-03-01T03:00:05Z"}],)"),
         "skipped: it could not be started: quota");
}

TEST_F(KubeWhy, HowAJobEndedIsToldByTheJob) {
  put_job("report-1", job_members(R"({"conditions":[{"type":"Complete","status":"True",)"
                                  R"("lastTransitionTime":"2026-03-01T03:05:00Z"}]})"));
  expect(status(note("executed")), "executed: the Job completed\n");
  expect(status(""), "executed: the Job completed\n");
}

TEST_F(KubeWhy, AJobThatFailedOrGoesOn) {
  put_job("report-1", job_members(R"({"conditions":[{"type":"Failed","status":"True",)"
                                  R"("lastTransitionTime":"2026-03-01T03:05:00Z"}]})"));
  expect(status(note("executed")), "executed: the Job failed\n");
  port_.with_server([](kube::ApiServer& server) {
    server.remove("jobs", "shop", "report-1", kube::ApiServer::Deletion::background);
  });
  put_job("report-1", job_members("{}"));
  expect(status(note("executed")), "running: since 2026-03-01T03:00:12Z\n");
}

TEST_F(KubeWhy, WhatNobodyHasJudged) {
  expect(R"({"observedGeneration":1})", "due: it is due since 2026-03-01T03:00:00Z");
  expect("", "due: it is due since 2026-03-01T03:00:00Z, and nothing is started: no operator has looked");
  expect(status(""), "ahead: it will start at 2026-03-05T03:00:00Z", {"--at", "2026-03-05T03:00:00Z"});
  expect(status(""), "no period: hour 5 is not in 3", {"--at", "2026-03-01T05:00:00Z"});
  expect(R"({"observedGeneration":1})", "not loaded: the KronJob is there since ",
         {"--period", "2026-02-27T03:00:00Z"});
  expect(R"({"observedGeneration":1})", "suspended: by policy.suspend of its spec", {},
         R"("policy":{"suspend":true},)");
}

TEST_F(KubeWhy, SaysWhatKubernetesDoesNotKeep) {
  put("report", spec("0 3 * * *"), status(note("missed", "deadline")));
  EXPECT_THAT(why().out, HasSubstr("not kept      a KronJob tells the last 10 periods"));
  const Ran json = why({"--format", "json"});
  EXPECT_TRUE(parse_json(json.out));
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"("verdict":"missed")"), HasSubstr(R"("job":"shop/report")")));
}

TEST_F(KubeWhy, WithoutTheRightToReadJobsTheStatusHasToDo) {
  put("report", spec("0 3 * * *"), status(note("executed")));
  port_.refuse("GET", "/jobs", 403, kube_status_text(403, "Forbidden", "no jobs"));
  const Ran ran = why();
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("the Jobs cannot be read, so only the status is told"));
  EXPECT_THAT(ran.out, StartsWith("executed: "));
}

TEST_F(KubeWhy, WhatCannotBeAnsweredIsAnError) {
  put("report", spec("99 * * * *"));
  const Ran invalid = why();
  EXPECT_EQ(invalid.status, 1);
  EXPECT_THAT(invalid.err, HasSubstr("cannot be scheduled, so nothing of it runs: spec.schedule: "));
  EXPECT_EQ(kube({"why", "nobody"}).status, 1);
  EXPECT_EQ(why({"--at", "x"}).status, 1);
  port_.stop();
  EXPECT_EQ(kube({"why", "report"}).status, 3);
}

}  // namespace
}  // namespace kron::cli::kube_why_test
