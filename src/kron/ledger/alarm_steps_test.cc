#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/env/fake/silent_log.h"
#include "kron/ledger/file_ledger.h"

namespace kron::alarm_steps_test {
namespace {

Instant utc(std::string_view text) { return *parse_rfc3339(text); }
const Instant kPeriod = *parse_rfc3339("2026-03-01T00:00:00Z");

HistoryEntry entry(Outcome outcome, std::optional<int> exit_code = {}, Reason reason = Reason::none) {
  return {.period = kPeriod, .outcome = outcome, .reason = reason, .completed_at = kPeriod, .exit_code = exit_code};
}

std::optional<AlarmKind> kind_of(const HistoryEntry& entry) {
  const auto sign = sign_of(entry);
  return sign ? std::optional(sign->kind) : std::nullopt;
}

TEST(AlarmSteps, WhatAnOutcomeSaysToAnAlarm) {
  EXPECT_EQ(kind_of(entry(Outcome::executed, 0)), AlarmKind::recovered);
  EXPECT_EQ(kind_of(entry(Outcome::executed, 1)), AlarmKind::failed);
  EXPECT_EQ(kind_of(entry(Outcome::executed)), AlarmKind::failed) << "nobody knows how it ended";
  EXPECT_EQ(kind_of(entry(Outcome::missed, {}, Reason::deadline)), AlarmKind::missed);
  EXPECT_EQ(kind_of(entry(Outcome::unschedulable, {}, Reason::no_candidate)), AlarmKind::unschedulable);
  EXPECT_EQ(kind_of(entry(Outcome::unschedulable, {}, Reason::excluded)), std::nullopt) << "a planned day off";
  for (const Reason reason : {Reason::concurrency_forbid, Reason::paused, Reason::start_failed}) {
    EXPECT_EQ(kind_of(entry(Outcome::skipped, {}, reason)), std::nullopt);
  }
  HistoryEntry judged = entry(Outcome::executed, 2);
  judged.failed = false;
  EXPECT_EQ(kind_of(judged), AlarmKind::recovered) << "an exit code that is fine";
  judged = entry(Outcome::executed, 0);
  judged.failed = true;
  EXPECT_EQ(kind_of(judged), AlarmKind::failed) << "it wrote to standard error";
  HistoryEntry manual = entry(Outcome::executed, 1);
  manual.trigger = Trigger::manual;
  EXPECT_EQ(kind_of(manual), std::nullopt);
  manual.period.reset();
  manual.trigger = Trigger::schedule;
  EXPECT_EQ(kind_of(manual), std::nullopt);
  EXPECT_EQ(kind_of({.completed_at = kPeriod, .passed_over = PassedOver{1, kPeriod, kPeriod}}), std::nullopt);
  HistoryEntry boot = entry(Outcome::executed, 1);
  boot.trigger = Trigger::reboot;
  EXPECT_EQ(kind_of(boot), AlarmKind::failed);
}

class AlarmStepsTest : public ::testing::Test {
 protected:
  LedgerStep step(std::vector<HistoryEntry> history, bool has_terms = true) {
    LedgerStep step;
    step.identity = "a";
    step.history = std::move(history);
    step.history_cap = 0;
    if (has_terms) step.alarm_terms = terms_;
    return step;
  }
  Written write(const LedgerStep& step) { return ledger_->write(std::span(&step, 1)).front(); }

  std::shared_ptr<const AlarmTerms> terms_ =
      std::make_shared<AlarmTerms>(AlarmTerms{.on = all_alarm_kinds(), .to = {"ops"}});
  testing::PowerCutFileSystem disk_;
  testing::SilentLog log_;
  std::unique_ptr<FileLedger> ledger_ = FileLedger::open(disk_, "/state", log_).value();
};

TEST_F(AlarmStepsTest, AMessageIsOwedUntilItIsPaidThoughNoHistoryIsKept) {
  const Written failed = write(step({entry(Outcome::executed, 1)}));
  ASSERT_EQ(failed.owed.size(), 1U);
  EXPECT_TRUE(write(step({entry(Outcome::executed, 2)})).owed.empty()) << "it was told before";
  const std::vector<std::string> names{"a"};
  EXPECT_EQ(ledger_->load(names, kPeriod)->front().owed, failed.owed);
  LedgerStep paid = step({});
  paid.alarm_notes.paid = {key_of(failed.owed[0])};
  EXPECT_TRUE(write(paid).owed.empty());
  EXPECT_TRUE(ledger_->load(names, kPeriod)->front().owed.empty());
  EXPECT_TRUE(ledger_->read("a")->alarm->is_open);
  EXPECT_EQ(write(step({entry(Outcome::executed, 0)})).owed.size(), 1U);
}

TEST_F(AlarmStepsTest, AJobWithoutTermsHasNoAlarm) {
  EXPECT_TRUE(write(step({entry(Outcome::executed, 1)}, false)).owed.empty());
  EXPECT_EQ(ledger_->read("a")->alarm, std::nullopt);
}

TEST_F(AlarmStepsTest, AJobThatNoLongerWantsToTellForgetsItsAlarmAndKeepsWhatIsOwed) {
  const Written failed = write(step({entry(Outcome::executed, 1)}));
  EXPECT_TRUE(write(step({entry(Outcome::executed, 0)}, false)).is_done());
  EXPECT_EQ(ledger_->read("a")->alarm, (Alarm{.owed = failed.owed}));
}

TEST_F(AlarmStepsTest, ALateRunIsNoted) {
  LedgerStep late = step({});
  late.alarm_notes.signs = {{.kind = AlarmKind::late, .period = kPeriod, .at = utc("2026-03-01T02:00:00Z")}};
  late.now.active = {{.period = kPeriod, .run_id = "r"}};
  EXPECT_EQ(write(late).owed.at(0).sign.kind, AlarmKind::late);
}

AlarmSign late_at(Instant period) {
  return {.kind = AlarmKind::late, .period = period, .at = utc("2026-03-01T02:00:00Z")};
}

TEST_F(AlarmStepsTest, ARunThatIsLateAndEndsWellInTheSameStepLeavesNoAlarmOpen) {
  LedgerStep end = step({entry(Outcome::executed, 0)});
  end.now.periods.last_handled = kPeriod;
  end.alarm_notes.signs = {late_at(kPeriod)};
  const Written written = write(end);
  ASSERT_EQ(written.owed.size(), 2U);
  EXPECT_EQ(written.owed[0].sign.kind, AlarmKind::late);
  EXPECT_EQ(written.owed[1].sign.kind, AlarmKind::recovered);
  EXPECT_FALSE(ledger_->read("a")->alarm->is_open);
}

// Its step was refused, and meanwhile the run has ended.
TEST_F(AlarmStepsTest, ALateSignThatComesAfterTheEndOfItsRunSaysNothing) {
  LedgerStep end = step({entry(Outcome::executed, 0)});
  end.now.periods.last_handled = kPeriod;
  EXPECT_TRUE(write(end).owed.empty());
  LedgerStep late = step({});
  late.now.periods.last_handled = kPeriod;
  late.alarm_notes.signs = {late_at(kPeriod)};
  EXPECT_TRUE(write(late).owed.empty());
  EXPECT_EQ(ledger_->read("a")->alarm, std::nullopt);
  // A run by hand is another, although it is active.
  late.now.active = {{.period = kPeriod, .run_id = "by hand", .trigger = Trigger::manual}};
  EXPECT_TRUE(write(late).owed.empty());
  late.now.active = {{.period = kPeriod, .run_id = "r"}};
  EXPECT_EQ(write(late).owed.size(), 1U) << "it runs";
}

TEST_F(AlarmStepsTest, APeriodThatWaitsIsLateUntilItIsHandled) {
  LedgerStep late = step({});
  late.now.periods.last_handled = kPeriod;
  late.alarm_notes.signs = {late_at(kPeriod + Seconds(3600))};
  EXPECT_EQ(write(late).owed.size(), 1U) << "nothing that late was handled";
  LedgerStep open = step({});
  open.identity = "b";
  open.now.periods.last_handled = kPeriod;
  open.now.periods.open_periods = {kPeriod - Seconds(3600)};
  open.alarm_notes.signs = {late_at(kPeriod - Seconds(3600))};
  EXPECT_EQ(write(open).owed.size(), 1U) << "it is open";
  open.identity = "c";
  open.now.periods.open_periods.clear();
  EXPECT_TRUE(write(open).owed.empty());
  // It misses its time in the very step.
  open.identity = "d";
  HistoryEntry missed = entry(Outcome::missed, {}, Reason::deadline);
  missed.period = kPeriod - Seconds(3600);
  open.history = {missed};
  const Written written = write(open);
  ASSERT_EQ(written.owed.size(), 1U);
  EXPECT_EQ(written.owed[0].sign.kind, AlarmKind::late);
  EXPECT_EQ(ledger_->read("d")->alarm->bad, 1U);
}

}  // namespace
}  // namespace kron::alarm_steps_test
