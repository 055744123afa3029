#include "kron/operator/status.h"

#include <gtest/gtest.h>

#include "kron/json/writer.h"
#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using testing::kNoon;

KronJobStatus full_status() {
  KronJobStatus status;
  status.observed_generation = 7;
  status.last = PeriodNote{kNoon, kNoon + Seconds(5), kNoon + Seconds(6), Outcome::executed, "", "ab12", "report-1"};
  status.next = PeriodNote{.period = kNoon + Seconds(60), .chosen = kNoon + Seconds(61)};
  status.recent = {
      PeriodNote{.period = kNoon - Seconds(60), .at = kNoon, .outcome = Outcome::missed, .reason = "deadline"},
      *status.last};
  JobState& handled = status.handled.emplace();
  handled.last_handled = kNoon;
  handled.open_periods = {kNoon - Seconds(120), kNoon - Seconds(60)};
  handled.passed_over = {{kNoon - Seconds(600), kNoon - Seconds(300)}};
  handled.schedule = ScheduleSeen{0xabcdef0123456789, kNoon};
  status.starting = {{kNoon, "", "report-1", "uid-1", kNoon}, {std::nullopt, "token", "report-m1", "uid-2", kNoon}};
  status.waiting = {kNoon, kNoon + Seconds(1)};
  status.last_manual = {"token", "report-m1", "executed", ""};
  status.active_count = 1;
  status.active = {{"report-1", "uid-1", kNoon}};
  status.last_successful = kNoon;
  status.last_failure = kNoon - Seconds(9);
  status.conditions = {{"Ready", true, 7, "Scheduled", "all is well", kNoon}};
  return status;
}

TEST(OperatorStatus, IsReadBackAsItWasWritten) {
  const KronJobStatus status = full_status();
  const Node node = parse_json(status_json(status)).value();
  EXPECT_EQ(read_status(&node).value(), status);
  const Node empty = parse_json(status_json({})).value();
  EXPECT_EQ(read_status(&empty).value(), KronJobStatus());
}

TEST(OperatorStatus, ThatIsMissingIsEmpty) {
  EXPECT_EQ(read_status(nullptr).value(), KronJobStatus());
  for (const char* text : {"null", "{}", R"({"conditions":null,"recent":null,"handled":null,"starting":null})"}) {
    const Node node = parse_json(text).value();
    EXPECT_EQ(read_status(&node).value(), KronJobStatus()) << text;
  }
}

TEST(OperatorStatus, WhatIsForPeopleMayBeAnything) {
  const Node node = parse_json(R"({"last":{"periodID":"soon"},"next":5,"recent":[{"periodID":"2026-03-01T12:00:00Z",
      "outcome":"vanished"}],"active":"none","conditions":[{"type":"Ready","status":"Perhaps"}]})")
                        .value();
  const KronJobStatus status = read_status(&node).value();
  EXPECT_FALSE(status.last);
  EXPECT_FALSE(status.next);
  ASSERT_EQ(status.recent.size(), 1U);
  EXPECT_FALSE(status.recent.front().outcome);
  EXPECT_FALSE(status.find("Ready")->is_true);
}

TEST(OperatorStatus, AMemoryThatCannotBeReadIsRefused) {
  struct Case {
    const char* json;
    const char* field;
  };
  const Case cases[] = {
      {R"([])", "status"},
      {R"({"handled":[]})", "status.handled"},
      {R"({"handled":{"through":"yesterday"}})", "status.handled.through"},
      {R"({"handled":{"open":["x"]}})", "status.handled.open"},
      {R"({"handled":{"open":{}}})", "status.handled.open"},
      {R"({"handled":{"passedOver":[{"first":"2026-03-01T12:00:00Z"}]}})", "status.handled.passedOver.last"},
      {R"({"handled":{"schedule":{"hash":"12"}}})", "status.handled.schedule.hash"},
      {R"({"starting":[{"jobName":"a","jobUID":"b","at":"2026-03-01T12:00:00Z"}]})", "status.starting"},
      {R"({"starting":[{"periodID":"2026-03-01T12:00:00Z","jobName":"a","at":"2026-03-01T12:00:00Z"}]})",
       "status.starting"},
      {R"({"starting":[{"token":"t","jobName":"a","jobUID":"b"}]})", "status.starting.at"},
      {R"({"waiting":{"periodID":"2026-03-01T12:00:00Z"}})", "status.waiting.since"},
      {R"({"lastManual":{"token":5}})", "status.lastManual.token"},
  };
  for (const Case& one : cases) {
    const Node node = parse_json(one.json).value();
    const Result<KronJobStatus> read = read_status(&node);
    ASSERT_FALSE(read) << one.json;
    EXPECT_EQ(read.error().field, one.field);
  }
}

TEST(OperatorStatus, KnowsWhatIsHandled) {
  const JobState state = *full_status().handled;
  EXPECT_TRUE(is_handled(state, kNoon));
  EXPECT_TRUE(is_handled(state, kNoon - Seconds(180)));
  EXPECT_FALSE(is_handled(state, kNoon + Seconds(60))) << "beyond";
  EXPECT_FALSE(is_handled(state, kNoon - Seconds(60))) << "open";
  EXPECT_FALSE(is_handled(state, kNoon - Seconds(300))) << "passed over: the clock may go back";
  EXPECT_FALSE(is_handled({}, kNoon));
}

TEST(OperatorStatus, ClosesTheOldestWhenTooMuchIsOpen) {
  JobState state = testing::handled_through(kNoon);
  for (int i = 300; i > 0; --i) state.open_periods.push_back(kNoon - Seconds(60 * i));
  fit(state);
  ASSERT_EQ(state.open_periods.size(), kMostOpenKept);
  EXPECT_EQ(state.open_periods.back(), kNoon - Seconds(60));
}

}  // namespace
}  // namespace kron::kronjobs
