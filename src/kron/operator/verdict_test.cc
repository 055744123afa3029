#include "kron/operator/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/kube/fake/node_edit.h"
#include "kron/operator/fake/samples.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Instant kHour = testing::at("2026-03-01T12:00:00Z");
const Instant kLater = testing::at("2026-03-01T12:00:20Z");

// An hourly KronJob of the day before, with this status and deadline.
KronJobView hourly(std::string_view status = "{}", const std::string& deadline = "30s", bool suspend = false) {
  const testing::KronJobText text{.schedule = "0 * * * *", .deadline = deadline, .suspend = suspend};
  Node object = kube::with_text(text.object(), {"metadata", "uid"}, "uid-1");
  object = kube::with_text(object, {"metadata", "resourceVersion"}, "17");
  object = kube::with_text(object, {"metadata", "creationTimestamp"}, "2026-02-28T00:00:30Z");
  object = kube::with(object, {"status"}, parse_json(status).value());
  return view_kron_job(object, testing::zones()).value();
}

JobView job_of_period(Instant period, bool is_at_gate = false) {
  JobView job{.meta = {.ns = "shop", .name = job_name("shop", "report", period), .uid = "uid-9"}};
  job.identity = "shop/report";
  job.period = period;
  job.suspended = is_at_gate;
  if (is_at_gate) job.gate = "1";
  return job;
}

Verdict of_hour(const KronJobView& kron_job, std::vector<JobView> jobs = {}) {
  return verdict_of(kron_job, jobs, kHour, kLater);
}

constexpr std::string_view kThroughEleven = R"({"handled":{"through":"2026-03-01T11:00:00Z"}})";

std::string recent(std::string_view outcome, std::string_view reason) {
  return R"({"handled":{"through":"2026-03-01T12:00:00Z"},"recent":[{"periodID":"2026-03-01T12:00:00Z",)"
         R"("at":"2026-03-01T12:00:01Z","outcome":")" +
         std::string(outcome) + R"(","reason":")" + std::string(reason) + R"(","jobName":"report-x"}]})";
}

TEST(Verdict, EachReasonIsToldInTheWordsOfTheContractAndInPlainOnes) {
  struct Case {
    const char* outcome;
    const char* reason;
    PeriodFate fate;
    const char* words;
  };
  for (const auto& [outcome, reason, fate, words] :
       {Case{"missed", "deadline", PeriodFate::missed,
             "missed (deadline): it was not started within its deadline of 30s"},
        Case{"skipped", "concurrency_forbid", PeriodFate::skipped, "skipped (concurrency_forbid): a run was active"},
        Case{"skipped", "replaced before start", PeriodFate::skipped, "a later period was due"},
        Case{"skipped", "could not stop", PeriodFate::skipped, "did not end"},
        Case{"skipped", "start failed", PeriodFate::skipped, "the API server refused its Job"},
        Case{"unschedulable", "excluded", PeriodFate::unschedulable, "exclude its whole window"},
        Case{"skipped", "word of a later version", PeriodFate::skipped, "skipped (word of a later version); judged"}}) {
    const Verdict verdict = of_hour(hourly(recent(outcome, reason)));
    EXPECT_EQ(verdict.fate, fate) << reason;
    EXPECT_THAT(verdict.sentence, AllOf(HasSubstr(words), HasSubstr("judged at 2026-03-01T12:00:01Z"))) << reason;
  }
}

TEST(Verdict, OfAPeriodThatRanItTellsHowItsJobIsDoing) {
  const KronJobView kron_job = hourly(recent("executed", ""));
  EXPECT_THAT(of_hour(kron_job).sentence, HasSubstr("executed as Job report-x; the Job is gone by now"));
  JobView job = job_of_period(kHour);
  EXPECT_THAT(of_hour(kron_job, {job}).sentence, HasSubstr("the Job has not ended yet"));
  job.end = JobView::End::failed;
  job.ended_at = kLater;
  EXPECT_THAT(of_hour(kron_job, {job}).sentence, HasSubstr("the Job failed at 2026-03-01T12:00:20Z"));
}

TEST(Verdict, WhatIsRecordedAndNotOpenedIsSaid) {
  const std::string starting =
      R"({"handled":{"through":"2026-03-01T12:00:00Z"},"starting":[{"periodID":)"
      R"("2026-03-01T12:00:00Z","jobName":"report-x","jobUID":"uid-9","at":"2026-03-01T12:00:01Z"}]})";
  const Verdict at_gate = of_hour(hourly(starting), {job_of_period(kHour, true)});
  EXPECT_EQ(at_gate.fate, PeriodFate::opening);
  EXPECT_THAT(at_gate.sentence, Not(HasSubstr("suspended")));
  EXPECT_EQ(of_hour(hourly(starting)).fate, PeriodFate::opening) << "absence is no answer";
  EXPECT_THAT(of_hour(hourly(starting, "30s", true), {job_of_period(kHour, true)}).sentence,
              HasSubstr("nothing is opened while the KronJob is suspended"));
  EXPECT_EQ(of_hour(hourly(starting), {job_of_period(kHour)}).fate, PeriodFate::executed) << "its gate was opened";
}

TEST(Verdict, AJobThatIsThereCountsMoreThanAStatusThatIsNot) {
  const Verdict verdict = of_hour(hourly(kThroughEleven), {job_of_period(kHour)});
  EXPECT_EQ(verdict.fate, PeriodFate::executed);
  EXPECT_THAT(verdict.sentence, HasSubstr("which the status does not tell yet"));
  EXPECT_EQ(of_hour(hourly(kThroughEleven), {job_of_period(kHour, true)}).fate, PeriodFate::due) << "at its gate";
}

TEST(Verdict, AWaitOfReplaceIsSaid) {
  const Verdict verdict = of_hour(hourly(
      R"({"handled":{"through":"2026-03-01T11:00:00Z"},"waiting":{"periodID":"2026-03-01T12:00:00Z","since":"2026-03-01T12:00:02Z"}})"));
  EXPECT_EQ(verdict.fate, PeriodFate::waiting);
  EXPECT_THAT(verdict.sentence, HasSubstr("since 2026-03-01T12:00:02Z"));
}

TEST(Verdict, WhatIsClosedWithoutANoteIsHandledOrPassedOver) {
  const Verdict handled = of_hour(hourly(R"({"handled":{"through":"2026-03-01T13:00:00Z"}})"));
  EXPECT_EQ(handled.fate, PeriodFate::handled);
  EXPECT_EQ(handled.job_name, job_name("shop", "report", kHour));
  const Verdict passed = of_hour(hourly(
      R"({"handled":{"through":"2026-03-01T14:00:00Z","passedOver":[{"first":"2026-03-01T11:00:00Z","last":"2026-03-01T13:00:00Z"}]}})"));
  EXPECT_EQ(passed.fate, PeriodFate::passed_over);
  EXPECT_THAT(passed.sentence, HasSubstr("only the latest is made up for"));
}

TEST(Verdict, WhatWasDueBeforeCreationOrAnEditDoesNotCount) {
  const KronJobView kron_job = hourly();
  const Verdict before = verdict_of(kron_job, {}, testing::at("2026-02-28T00:00:00Z"), kLater);
  EXPECT_EQ(before.fate, PeriodFate::not_counted);
  EXPECT_THAT(before.sentence, HasSubstr("before the KronJob was created at 2026-02-28T00:00:30Z"));
  const Verdict edited = of_hour(hourly(
      R"({"handled":{"through":"2026-03-01T10:00:00Z","schedule":{"hash":"0000000000000001","since":"2026-03-01T12:00:10Z"}}})"));
  EXPECT_EQ(edited.fate, PeriodFate::not_counted);
  EXPECT_THAT(edited.sentence, HasSubstr("before the schedule was changed at 2026-03-01T12:00:10Z"));
}

TEST(Verdict, WhatIsDueAndNotRecordedPointsAtTheOperator) {
  const Verdict due = of_hour(hourly(kThroughEleven));
  EXPECT_EQ(due.fate, PeriodFate::due);
  EXPECT_EQ(due.sentence, "it is due, and not started yet; is the operator running?");
  EXPECT_THAT(
      of_hour(hourly(kThroughEleven, "10s")).sentence,
      HasSubstr("will be recorded as missed (deadline), because it was not started within its deadline of 10s"));
  EXPECT_THAT(of_hour(hourly(kThroughEleven), {job_of_period(testing::at("2026-03-01T11:00:00Z"))}).sentence,
              HasSubstr("will be recorded as skipped (concurrency_forbid)"));
  const Verdict trouble = of_hour(hourly(
      R"({"handled":{"through":"2026-03-01T11:00:00Z"},"conditions":[{"type":"SchedulingError","status":"True","reason":"CannotStart","message":"exceeded quota","lastTransitionTime":"2026-03-01T12:00:05Z"}]})"));
  EXPECT_EQ(trouble.sentence, "it is due, and not started yet: exceeded quota");
}

TEST(Verdict, WhatIsAheadHasItsTime) {
  const Verdict ahead = verdict_of(hourly(kThroughEleven), {}, testing::at("2026-03-01T13:00:00Z"), kLater);
  EXPECT_EQ(ahead.fate, PeriodFate::ahead);
  EXPECT_EQ(ahead.sentence, "it will run at 2026-03-01T13:00:00Z");
}

TEST(Verdict, SuspendedInvalidAndUnreadableAreSaid) {
  EXPECT_EQ(of_hour(hourly(kThroughEleven, "30s", true)).fate, PeriodFate::suspended);
  EXPECT_EQ(of_hour(hourly(kThroughEleven, "often")).fate, PeriodFate::invalid);
  EXPECT_THAT(of_hour(hourly(kThroughEleven, "often")).sentence, HasSubstr("spec.policy.deadline"));
  EXPECT_EQ(of_hour(hourly(R"({"handled":{"through":"x"}})")).fate, PeriodFate::unreadable);
  EXPECT_EQ(name_of(PeriodFate::passed_over), "passed over");
  EXPECT_EQ(name_of(PeriodFate::ahead), "ahead");
}

}  // namespace
}  // namespace kron::kronjobs
