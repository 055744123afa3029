#include "kron/core/evaluate.h"

#include <gtest/gtest.h>

#include "kron/core/sample_jobs.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

// The job of the golden outcomes: nominal midnight, chosen 02:32:20Z on 1 March 2026.
Job backup(const std::string& deadline, Concurrency concurrency = Concurrency::forbid) {
  return make_job({.schedule = "0 0 * * *",
                   .window = "3h",
                   .deadline = deadline,
                   .concurrency = concurrency,
                   .identity = "prod/db-backup",
                   .salt = "backup"});
}

const Instant kNominal = utc("2026-03-01T00:00:00Z");
const Instant kChosen = utc("2026-03-01T02:32:20Z");

JobState handled_yesterday() {
  JobState state;
  state.last_handled = utc("2026-02-28T00:00:00Z");
  return state;
}

Action act(const Job& job, const JobState& state, bool active, const std::string& now) {
  return evaluate(job, state, active, Turn::at(utc(now))).action;
}

TEST(Evaluate, GoldenMissedWhenTheSecondIsOver) {
  for (const JobState& state : {JobState{}, handled_yesterday()}) {
    const auto record = std::get<Record>(act(backup("0s"), state, false, "2026-03-01T02:32:21Z"));
    EXPECT_EQ(record.period.nominal, kNominal);
    EXPECT_EQ(record.period.chosen, kChosen);
    EXPECT_EQ(record.outcome, Outcome::missed);
    EXPECT_EQ(record.reason, Reason::deadline);
  }
}

TEST(Evaluate, GoldenExecutedWithinTheDeadline) {
  const auto start = std::get<Start>(act(backup("10m"), handled_yesterday(), false, "2026-03-01T02:40:00Z"));
  EXPECT_EQ(start.period.nominal, kNominal);
  EXPECT_FALSE(start.replace);
}

TEST(Evaluate, GoldenSkippedWhenForbiddenAndActive) {
  const auto record = std::get<Record>(act(backup("10m"), handled_yesterday(), true, "2026-03-01T02:32:20Z"));
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_EQ(record.reason, Reason::concurrency_forbid);
}

TEST(Evaluate, GoldenAlreadyHandledWaitsForTheNextPeriod) {
  JobState state;
  state.last_handled = kNominal;
  const auto wait = std::get<Wait>(act(backup("10m"), state, false, "2026-03-01T02:40:00Z"));
  ASSERT_TRUE(wait.next);
  EXPECT_EQ(wait.next->nominal, utc("2026-03-02T00:00:00Z"));
  EXPECT_EQ(wait.until, wait.next->chosen);
}

TEST(Evaluate, TheDeadlineIncludesItsLastSecond) {
  const Job job = backup("10m");
  EXPECT_TRUE(std::holds_alternative<Start>(act(job, handled_yesterday(), false, "2026-03-01T02:42:20Z")));
  EXPECT_TRUE(std::holds_alternative<Record>(act(job, handled_yesterday(), false, "2026-03-01T02:42:21Z")));
}

TEST(Evaluate, BeforeTheChosenTimeItWaitsForIt) {
  const auto wait = std::get<Wait>(act(backup("0s"), handled_yesterday(), true, "2026-03-01T02:32:19Z"));
  EXPECT_EQ(wait.until, kChosen);
}

TEST(Evaluate, AllowStartsBesideAnActiveRunAndReplaceSaysSo) {
  const std::string now = "2026-03-01T02:32:20Z";
  EXPECT_EQ(std::get<Start>(act(backup("0s", Concurrency::allow), handled_yesterday(), true, now)).replace, false);
  EXPECT_EQ(std::get<Start>(act(backup("0s", Concurrency::replace), handled_yesterday(), true, now)).replace, true);
  EXPECT_EQ(std::get<Start>(act(backup("0s", Concurrency::replace), handled_yesterday(), false, now)).replace, false);
}

TEST(Evaluate, QueueWaitsForTheActiveRunAsLongAsTheDeadlineAllows) {
  const Job job = backup("10m", Concurrency::queue);
  const JobState state = handled_yesterday();
  for (const char* now : {"2026-03-01T02:32:20Z", "2026-03-01T02:42:20Z"}) {
    const auto wait = std::get<Wait>(act(job, state, true, now));
    EXPECT_TRUE(wait.is_queued);
    EXPECT_EQ(wait.until, kChosen + Seconds(601));
    EXPECT_EQ(wait.next->nominal, kNominal);
    EXPECT_TRUE(std::holds_alternative<Start>(act(job, state, false, now))) << "once that run has ended";
  }
  for (const bool active : {false, true}) {
    const auto record = std::get<Record>(act(job, state, active, "2026-03-01T02:42:21Z"));
    EXPECT_EQ(record.outcome, Outcome::missed);
    EXPECT_EQ(record.reason, Reason::deadline);
  }
  EXPECT_FALSE(std::get<Wait>(act(job, state, true, "2026-03-01T02:32:19Z")).is_queued) << "it is not due yet";
}

TEST(Evaluate, OfPeriodsThatAreDueTogetherOnlyTheLastWaits) {
  const Job job = make_job({.schedule = "* * * * *", .deadline = "1h", .concurrency = Concurrency::queue});
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  const Turn turn{utc("2026-01-01T00:02:03Z"), utc("2026-01-01T00:00:59Z")};  // both became due in one turn
  const Evaluation first = evaluate(job, state, true, turn);
  const auto& record = std::get<Record>(first.action);
  EXPECT_EQ(record.period.nominal, utc("2026-01-01T00:01:00Z"));
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_EQ(name_of(record.reason), "superseded while waiting");
  mark_handled(job, state, record.period.nominal, turn);
  const Evaluation second = evaluate(job, state, true, turn);
  EXPECT_TRUE(std::get<Wait>(second.action).is_queued);
  EXPECT_EQ(std::get<Wait>(second.action).next->nominal, utc("2026-01-01T00:02:00Z"));
}

TEST(Evaluate, APeriodThatWaitsClosesNothingYet) {
  const Job job = make_job({.schedule = "*/5 * * * *", .deadline = "1h", .concurrency = Concurrency::queue});
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  const Turn turn = Turn::at(utc("2026-01-01T00:12:00Z"));
  EXPECT_FALSE(evaluate(job, state, true, turn).passed_over);
  EXPECT_EQ(evaluate(job, state, false, turn).passed_over->count, 1U) << "told when it starts";
}

TEST(Evaluate, APeriodDueWhileTheLoopWasBusyIsOnTime) {
  const Turn turn{kChosen + Seconds(8), kChosen - Seconds(1)};
  EXPECT_TRUE(std::holds_alternative<Start>(evaluate(backup("0s"), handled_yesterday(), false, turn).action));
}

TEST(Evaluate, SuspendedHandlesNothingAndResumeEvaluatesOnlyTheLatest) {
  Job job = make_job({.schedule = "*/5 * * * *", .deadline = "1h"});
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  job.policy.suspend = true;
  EXPECT_EQ(std::get<Wait>(act(job, state, false, "2026-01-01T06:02:00Z")).until, std::nullopt);
  job.policy.suspend = false;
  const Evaluation resumed = evaluate(job, state, false, Turn::at(utc("2026-01-01T06:02:00Z")));
  EXPECT_EQ(std::get<Start>(resumed.action).period.nominal, utc("2026-01-01T06:00:00Z"));
  ASSERT_TRUE(resumed.passed_over);
  EXPECT_EQ(resumed.passed_over->count, 71U);
  EXPECT_EQ(resumed.passed_over->first, utc("2026-01-01T00:05:00Z"));
  EXPECT_EQ(resumed.passed_over->last, utc("2026-01-01T05:55:00Z"));
}

TEST(Evaluate, AnOperatorsSuspensionEndsByItself) {
  const Job job = make_job({.schedule = "* * * * *"});
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  state.suspended = Suspension{utc("2026-01-01T00:00:30Z"), utc("2026-01-01T00:10:30Z")};
  EXPECT_EQ(std::get<Wait>(act(job, state, false, "2026-01-01T00:05:00Z")).until, utc("2026-01-01T00:10:30Z"));
  EXPECT_TRUE(std::holds_alternative<Start>(act(job, state, false, "2026-01-01T00:11:00Z")));
}

TEST(Evaluate, UnschedulableIsRecordedWhenItsWindowOpens) {
  Job job = make_job({.schedule = "0 0 * * *", .window = "1h"});
  ASSERT_TRUE(add_clause(job.constraints.only, "hours", "12"));
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  EXPECT_EQ(std::get<Wait>(act(job, state, false, "2026-01-01T12:00:00Z")).until, utc("2026-01-02T00:00:00Z"));
  for (const bool active : {false, true}) {
    const auto record = std::get<Record>(act(job, state, active, "2026-01-02T00:00:00Z"));
    EXPECT_EQ(record.outcome, Outcome::unschedulable);
    EXPECT_EQ(name_of(record.reason), "excluded");
    EXPECT_EQ(record.clause, "only hours=12");
    EXPECT_FALSE(record.period.chosen);
  }
}

TEST(Evaluate, APossibleTimeThatChanceDidNotFindIsNotExcluded) {
  Job job = make_job({.schedule = "0 0 * * *", .window = "23h"});
  ASSERT_TRUE(add_clause(job.constraints.only, "between", "00:00-00:00"));  // one minute of 23 hours
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  int by_chance = 0;
  for (int day = 2; day <= 28; ++day) {
    const Instant midnight = utc("2026-01-01T00:00:00Z") + (day - 1) * std::chrono::days(1);
    state.last_handled = midnight - std::chrono::days(1);
    const Action action = evaluate(job, state, false, Turn::at(midnight)).action;
    if (const auto* record = std::get_if<Record>(&action)) {
      EXPECT_EQ(name_of(record->reason), "no candidate accepted within 64 attempts");
      EXPECT_EQ(record->clause, "");
      ++by_chance;
    }
  }
  EXPECT_GT(by_chance, 0);
}

TEST(Evaluate, APauseThatSkipsWhatWasMissedRecordsTheLatestWhenItEnds) {
  const Job job = make_job({.schedule = "0 * * * *", .deadline = "1d"});
  JobState state;
  state.last_handled = utc("2026-01-01T00:00:00Z");
  state.suspended = Suspension{utc("2026-01-01T00:30:00Z"), utc("2026-01-01T03:30:00Z"), true};
  EXPECT_EQ(std::get<Wait>(act(job, state, false, "2026-01-01T03:29:59Z")).until, utc("2026-01-01T03:30:00Z"));
  const Evaluation ended = evaluate(job, state, false, Turn::at(utc("2026-01-01T03:30:00Z")));
  const auto& record = std::get<Record>(ended.action);
  EXPECT_EQ(record.period.nominal, utc("2026-01-01T03:00:00Z"));
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_EQ(name_of(record.reason), "paused");
  EXPECT_EQ(ended.passed_over->count, 2U);
  // What becomes due after its end is nobody's wish to skip, late or not.
  EXPECT_TRUE(std::holds_alternative<Start>(act(job, state, false, "2026-01-01T04:00:00Z")));
  EXPECT_TRUE(std::holds_alternative<Start>(act(job, state, false, "2026-01-01T04:20:00Z")));
}

TEST(Evaluate, WhatFindsNoSlotWaitsAsLongAsItsDeadlineAllows) {
  const auto at = [](const Job& job, const std::string& now, Slot slot, bool active = false) {
    return evaluate(job, handled_yesterday(), active, Turn::at(utc(now)), slot).action;
  };
  const Job job = backup("10m");
  const auto wait = std::get<Wait>(at(job, "2026-03-01T02:32:20Z", Slot::none));
  EXPECT_EQ(wait.next->nominal, kNominal);
  EXPECT_EQ(wait.until, kChosen + std::chrono::minutes(10) + Seconds(1));
  EXPECT_TRUE(wait.is_queued && wait.for_slot);
  EXPECT_TRUE(std::holds_alternative<Wait>(at(job, "2026-03-01T02:42:20Z", Slot::none))) << "the last second";
  const auto late = std::get<Record>(at(job, "2026-03-01T02:42:21Z", Slot::none));
  EXPECT_EQ(late.outcome, Outcome::missed);
  EXPECT_EQ(late.reason, Reason::deadline) << "who has waited knows better, and says so";
  EXPECT_TRUE(std::holds_alternative<Start>(at(job, "2026-03-01T02:32:20Z", Slot::free)));

  const auto at_once = std::get<Record>(at(backup("0s"), "2026-03-01T02:32:20Z", Slot::none));
  EXPECT_EQ(at_once.outcome, Outcome::missed);
  EXPECT_EQ(name_of(at_once.reason), "no slot");
  EXPECT_EQ(std::get<Wait>(at(backup("0s"), "2026-03-01T02:32:20Z", Slot::none_here)).until,
            kChosen + kOthersMayStart + Seconds(1))
      << "another host may have one";

  EXPECT_TRUE(
      std::get<Start>(at(backup("10m", Concurrency::replace), "2026-03-01T02:32:20Z", Slot::none, true)).replace)
      << "it has the slot of what it replaces";
  EXPECT_EQ(std::get<Record>(at(job, "2026-03-01T02:32:20Z", Slot::none, true)).reason, Reason::concurrency_forbid);
  EXPECT_FALSE(std::get<Wait>(at(backup("10m", Concurrency::queue), "2026-03-01T02:32:20Z", Slot::none, true)).for_slot)
      << "it waits for its own run first";
}

TEST(Evaluate, AScheduleThatIsOverWaitsForEver) {
  const Job job = make_job({.schedule = "0 0 0 1 1 * 2020"});
  JobState state;
  state.last_handled = utc("2020-01-01T00:00:00Z");
  EXPECT_EQ(std::get<Wait>(act(job, state, false, "2026-01-01T00:00:00Z")).until, std::nullopt);
}

TEST(Evaluate, RebootIsTheDaemonsBusiness) {
  EXPECT_EQ(std::get<Wait>(act(make_job({.schedule = "@reboot"}), {}, false, "2026-01-01T00:00:00Z")).until,
            std::nullopt);
}

}  // namespace
}  // namespace kron
