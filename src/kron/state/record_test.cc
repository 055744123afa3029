#include "kron/state/record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kron/base/rfc3339.h"

namespace kron::state_record_test {
namespace {

Instant utc(std::string_view text) { return parse_rfc3339(text).value(); }

StateRecord running_backup() {
  StateRecord record;
  record.identity = "prod/db-backup";
  record.periods.last_handled = utc("2026-03-02T00:00:00Z");
  record.last_outcome = Outcome::executed;
  record.last_chosen = utc("2026-03-02T01:02:03Z");
  record.active.push_back({.period = utc("2026-03-02T00:00:00Z"),
                           .chosen = utc("2026-03-02T01:02:03Z"),
                           .started_at = utc("2026-03-02T01:02:03Z"),
                           .pid = 4711,
                           .process_start = 98765,
                           .boot_id = "b00t",
                           .run_id = "r1",
                           .trigger = Trigger::schedule});
  record.history.push_back({.period = utc("2026-03-01T00:00:00Z"),
                            .outcome = Outcome::missed,
                            .reason = Reason::deadline,
                            .chosen = utc("2026-03-01T02:32:20Z"),
                            .completed_at = utc("2026-03-01T02:32:21Z"),
                            .exit_code = std::nullopt,
                            .run_id = {},
                            .trigger = Trigger::schedule,
                            .passed_over = std::nullopt});
  return record;
}

TEST(StateRecord, IsSpelledAsTheSeedSpellsIt) {
  EXPECT_EQ(
      state::print(running_backup()),
      R"({"Version":"1","Identity":"prod/db-backup","LastHandledPeriodID":"2026-03-02T00:00:00Z",)"
      R"("LastOutcome":"executed","LastChosenTime":"2026-03-02T01:02:03Z","LastNominalTime":"2026-03-02T00:00:00Z",)"
      R"("ActiveExecution":{"PeriodID":"2026-03-02T00:00:00Z","PID":4711,"StartedAt":"2026-03-02T01:02:03Z",)"
      R"("ChosenTime":"2026-03-02T01:02:03Z","RunID":"r1","Trigger":"schedule","ProcessStart":98765,"BootID":"b00t"},)"
      R"("ActiveExecutions":[{"PeriodID":"2026-03-02T00:00:00Z","PID":4711,"StartedAt":"2026-03-02T01:02:03Z",)"
      R"("ChosenTime":"2026-03-02T01:02:03Z","RunID":"r1","Trigger":"schedule","ProcessStart":98765,"BootID":"b00t"}],)"
      R"("History":[{"PeriodID":"2026-03-01T00:00:00Z","Outcome":"missed","NominalTime":"2026-03-01T00:00:00Z",)"
      R"("ChosenTime":"2026-03-01T02:32:20Z","CompletedAt":"2026-03-01T02:32:21Z","ExitCode":null,)"
      R"("Reason":"deadline"}]})"
      "\n");
}

TEST(StateRecord, AnEntryTellsOfSeveralAttemptsAndOfAFailureThatItsExitCodeDoesNotSay) {
  StateRecord record = running_backup();
  record.history[0].attempts = 3;
  record.history[0].failed = true;
  const std::string text = state::print(record);
  EXPECT_NE(text.find(R"("ExitCode":null,"Failed":true,"Attempts":3,"Reason":"deadline"})"), std::string::npos) << text;
  EXPECT_EQ(state::parse(text).value(), record);
}

TEST(StateRecord, KeepsUnknownMembersAsTheyWere) {
  const std::string text =
      R"({"Version":"1","Identity":"a","Future":{"x":[1,2.5,"é\n"],"y":null},"LastOutcome":"","Other":true})";
  const StateRecord record = state::parse(text).value();
  const std::string written = state::print(record);
  EXPECT_NE(written.find(R"(,"Future":{"x":[1,2.5,"é\n"],"y":null})"), std::string::npos) << written;
  EXPECT_NE(written.find(R"(,"Other":true)"), std::string::npos);
  EXPECT_EQ(state::parse(written).value(), record);
}

TEST(StateRecord, KeepsUnknownMembersAtEveryLevel) {
  const std::string active = R"({"PeriodID":"2026-03-02T00:00:00Z","PID":1,"StartedAt":"2026-03-02T00:00:00Z",)"
                             R"("ChosenTime":"","RunID":"r1","Trigger":"schedule","ProcessStart":0,"BootID":"",)"
                             R"("Node":{"name":"n1"}})";
  const std::string text =
      R"({"Version":"1","Identity":"a","LastHandledPeriodID":"2026-03-02T00:00:00Z","LastOutcome":"executed",)"
      R"("LastChosenTime":"","LastNominalTime":"2026-03-02T00:00:00Z","ActiveExecution":)" +
      active + R"(,"ActiveExecutions":[)" + active +
      R"(],"History":[{"PeriodID":"2026-03-01T00:00:00Z","Outcome":"executed","NominalTime":"2026-03-01T00:00:00Z",)"
      R"("ChosenTime":"","CompletedAt":"2026-03-01T00:00:09Z","ExitCode":0,"CpuSeconds":1.5},)"
      R"({"Outcome":"passed over","CompletedAt":"2026-03-01T00:00:09Z","Count":1,"First":"2026-03-01T00:00:00Z",)"
      R"("Last":"2026-03-01T00:00:00Z","Why":"x"}],)"
      R"("PassedOver":[{"First":"2026-02-01T00:00:00Z","Last":"2026-02-02T00:00:00Z","Why":[1]}],)"
      R"("Suspended":{"Since":"2026-03-02T00:00:00Z","Ticket":"T-1"},"Top":true})"
      "\n";
  EXPECT_EQ(state::print(state::parse(text).value()), text);
}

TEST(StateRecord, WhatAnotherProgramWroteInItsOwnWayReadsBackAfterItWasWritten) {
  const char* const cases[] = {
      R"("History":[{"CompletedAt":"2026-03-01T00:00:09Z"}])",
      R"("History":[{"Outcome":"","Count":3,"CompletedAt":"2026-03-01T00:00:09Z"}])",
      R"("PassedOver":[{"First":"2026-02-03T00:00:00Z","Last":"2026-02-04T00:00:00Z","x":1},)"
      R"({"First":"2026-02-01T00:00:00Z","Last":"2026-02-02T00:00:00Z","y":2}])",
      R"("PassedOver":[{"First":"2026-02-01T00:00:00Z","Last":"2026-02-02T00:00:00Z","x":1},)"
      R"({"First":"2026-02-01T00:00:00Z","Last":"2026-02-02T00:00:00Z","y":2}])",
      R"("ActiveExecutions":[],"ActiveExecution":{"PID":1,"StartedAt":"2026-03-02T00:00:00Z"})",
      R"("OpenPeriods":["2026-03-02T00:00:00Z","2026-03-01T00:00:00Z"])",
  };
  for (const char* members : cases) {
    const StateRecord record = state::parse(R"({"Version":"1","Identity":"a",)" + std::string(members) + "}").value();
    const auto again = state::parse(state::print(record));
    ASSERT_TRUE(again) << members << ": " << again.error().message;
    EXPECT_EQ(*again, record) << members;
  }
}

TEST(StateRecord, HistoryIsTrimmedToFitAndNothingElseIs) {
  StateRecord record = running_backup();
  for (int i = 0; i < 100; ++i) record.history.push_back(record.history.front());
  record.history.back().run_id = "the newest";
  const std::size_t whole = state::print(record).size();
  StateRecord at_the_limit = record;
  EXPECT_EQ(state::fit(at_the_limit, whole).value().size(), whole);
  EXPECT_EQ(at_the_limit, record);

  StateRecord beyond = record;
  const std::string text = state::fit(beyond, whole - 1).value();
  EXPECT_LE(text.size(), whole - 1);
  EXPECT_EQ(state::parse(text).value(), beyond);
  EXPECT_LT(beyond.history.size(), record.history.size());
  EXPECT_GT(beyond.history.size(), record.history.size() - 5);
  EXPECT_EQ(beyond.history.back().run_id, "the newest");
  beyond.history = record.history;
  EXPECT_EQ(beyond, record);

  StateRecord hopeless = record;
  const Result<std::string> refused = state::fit(hopeless, 100);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_NE(refused.error().message.find("more than the 100 it may have"), std::string::npos);
  EXPECT_TRUE(hopeless.history.empty());
  EXPECT_EQ(hopeless.active, record.active);
}

TEST(StateRecord, AnActivePeriodCountsAsHandledWhateverLastHandledSays) {
  const StateRecord record = state::parse(R"({"Version":"1","Identity":"a","LastHandledPeriodID":"2026-03-01T00:00:00Z",
    "OpenPeriods":["2026-02-27T00:00:00Z"],
    "ActiveExecution":{"PeriodID":"2026-03-02T00:00:00Z","PID":1,"StartedAt":"2026-03-02T00:00:00Z","ChosenTime":""}})")
                                 .value();
  EXPECT_EQ(record.periods.last_handled, utc("2026-03-02T00:00:00Z"));
  EXPECT_EQ(record.active.size(), 1U);
}

TEST(StateRecord, ARunThatSubmitsATaskNamesItAndHasNoProcess) {
  StateRecord record;
  record.identity = "a";
  record.active.push_back({.started_at = utc("2026-03-02T00:00:00Z"), .run_id = "r1", .task_id = "a:1"});
  const std::string text = state::print(record);
  EXPECT_NE(text.find(R"("RunID":"r1","Trigger":"schedule","TaskID":"a:1"})"), std::string::npos) << text;
  EXPECT_EQ(text.find("PID\":0"), std::string::npos);
  EXPECT_EQ(text.find("ProcessStart"), std::string::npos);
  EXPECT_EQ(state::parse(text).value(), record);
  EXPECT_TRUE(record.active[0].is_task());
}

TEST(StateRecord, OfAnEarlierProgramIsATaskWhenItsPidIs0) {
  const StateRecord record = state::parse(R"({"Version":"1","Identity":"a","ActiveExecutions":[
    {"PeriodID":"","PID":0,"StartedAt":"2026-03-02T00:00:00Z","ChosenTime":"","RunID":"r1","Trigger":"manual",
     "ProcessStart":0,"BootID":"b"},
    {"PeriodID":"","PID":7,"StartedAt":"2026-03-02T00:00:00Z","ChosenTime":"","RunID":"r2","Trigger":"manual",
     "ProcessStart":9,"BootID":"b"}]})")
                                 .value();
  ASSERT_EQ(record.active.size(), 2U);
  EXPECT_TRUE(record.active[0].is_task());
  EXPECT_FALSE(record.active[1].is_task());
  EXPECT_EQ(state::parse(state::print(record)).value(), record);
}

TEST(StateRecord, RefusesWhatIsNoStateFile) {
  const char* const cases[] = {
      "",
      "{",
      "[]",
      "null",
      "\x01\x02binary",
      R"({"Identity":"a"})",
      R"({"Version":"1"})",
      R"({"Version":"1","Identity":""})",
      R"({"Version":1,"Identity":"a"})",
      R"({"Version":"1","Identity":"a","Identity":"b"})",
      R"({"Version":"1","Identity":"a","LastHandledPeriodID":"yesterday"})",
      R"({"Version":"1","Identity":"a","LastOutcome":"perhaps"})",
      R"({"Version":"1","Identity":"a","OpenPeriods":"2026-03-01T00:00:00Z"})",
      R"({"Version":"1","Identity":"a","OpenPeriods":[""]})",
      R"({"Version":"1","Identity":"a","ActiveExecution":{"PID":"x"}})",
      R"({"Version":"1","Identity":"a","History":[{"ExitCode":99999999999}]})",
      R"({"Version":"1","Identity":"a","x":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]})",
  };
  for (const char* text : cases) {
    const auto record = state::parse(text);
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().code, Code::invalid) << text;
    EXPECT_FALSE(record.error().message.empty());
  }
}

TEST(StateRecord, AnotherVersionIsRefusedByNameNotQuarantined) {
  const auto record = state::parse(R"({"Version":"2","Identity":"a"})");
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, Code::refused);
  EXPECT_NE(record.error().message.find("'2'"), std::string::npos);
}

std::optional<Instant> maybe_instant() {
  if (*rc::gen::inRange(0, 3) == 0) return std::nullopt;
  return instant_of(*rc::gen::inRange<std::int64_t>(0, 4102444800));
}

Instant some_instant() { return instant_of(*rc::gen::inRange<std::int64_t>(0, 4102444800)); }

std::string some_text() {
  std::string text = *rc::gen::string<std::string>();
  for (char& c : text) c = c >= 0x20 && c < 0x7F ? c : '_';
  return text;
}

Alarm random_alarm() {
  Alarm alarm{.bad = *rc::gen::inRange(1U, 9U), .first = some_instant(), .last = some_instant()};
  alarm.is_open = *rc::gen::arbitrary<bool>();
  if (alarm.is_open) {
    alarm.kind = static_cast<AlarmKind>(*rc::gen::inRange(0, 4));
    alarm.told = *rc::gen::inRange(1U, 9U);
    alarm.told_at = some_instant();
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    AlarmMessage& message = alarm.owed.emplace_back();
    message.sign = {.kind = static_cast<AlarmKind>(*rc::gen::inRange(0, 5)),
                    .period = some_instant(),
                    .at = some_instant(),
                    .run_id = some_text(),
                    .reason = some_text()};
    if (i == 1) message.sign.exit_code = *rc::gen::inRange(-1, 256);
    message.first = some_instant();
    message.count = *rc::gen::inRange(1U, 9U);
    message.number = *rc::gen::inRange(0U, 3U);
    message.opened_as = static_cast<AlarmKind>(*rc::gen::inRange(0, 4));
    message.to.assign(static_cast<std::size_t>(i), "ops");
  }
  return alarm;
}

StateRecord random_record() {
  StateRecord r;
  r.identity = "id/" + some_text();
  r.periods.last_handled = maybe_instant();
  if (r.periods.last_handled) {
    r.last_outcome = static_cast<Outcome>(*rc::gen::inRange(0, 4));
    if (*r.last_outcome != Outcome::unschedulable) r.last_chosen = some_instant();
  }
  r.periods.first_seen = maybe_instant();
  r.periods.first_seen_is_floor = *rc::gen::arbitrary<bool>();
  r.periods.first_seen_reach = Seconds(*rc::gen::inRange(0, 100'000));
  if (*rc::gen::arbitrary<bool>()) {
    r.periods.schedule = ScheduleSeen{*rc::gen::arbitrary<std::uint64_t>(), maybe_instant()};
  }
  Instant at = some_instant();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    r.periods.open_periods.push_back(at += Seconds(*rc::gen::inRange(1, 9999)));
    r.periods.passed_over.push_back({at + Seconds(10000), at + Seconds(20000)});
    at += Seconds(30000);
  }
  if (*rc::gen::arbitrary<bool>()) {
    r.periods.suspended =
        Suspension{some_instant(), maybe_instant(), *rc::gen::arbitrary<bool>(), some_text(), some_text()};
  }
  if (*rc::gen::arbitrary<bool>()) r.periods.failures_in_a_row = *rc::gen::arbitrary<std::uint32_t>();
  if (*rc::gen::arbitrary<bool>()) r.alarm = random_alarm();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    r.active.push_back({.period = {},
                        .chosen = {},
                        .started_at = some_instant(),
                        .pid = i,
                        .process_start = 7,
                        .boot_id = "b",
                        .run_id = "r" + std::to_string(i),
                        .trigger = Trigger::manual});
    if (*rc::gen::arbitrary<bool>()) {
      r.active.back() = {
          .started_at = some_instant(), .run_id = "t" + std::to_string(i), .task_id = "task-" + std::to_string(i)};
    }
  }
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    HistoryEntry entry{.period = some_instant(),
                       .outcome = static_cast<Outcome>(*rc::gen::inRange(0, 4)),
                       .reason = static_cast<Reason>(*rc::gen::inRange(0, 8)),
                       .chosen = maybe_instant(),
                       .completed_at = some_instant(),
                       .exit_code = i,
                       .attempts = i == 1 ? std::optional(7U) : std::nullopt,
                       .failed = i == 2 ? std::optional(false) : std::nullopt,
                       .run_id = "x",
                       .trigger = Trigger::reboot,
                       .passed_over = std::nullopt};
    if (i == 3) entry = {.completed_at = some_instant(), .passed_over = PassedOver{5, some_instant(), some_instant()}};
    r.history.push_back(entry);
  }
  return r;
}

RC_GTEST_PROP(StateRecord, IsReadBackAsItWasWritten, ()) {
  const StateRecord record = random_record();
  RC_ASSERT(state::parse(state::print(record)).value() == record);
}

}  // namespace
}  // namespace kron::state_record_test
