#include "kron/json/alarm_json.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"

namespace kron {
namespace {

Instant utc(std::string_view text) { return *parse_rfc3339(text); }

AlarmMessage failure() {
  return {.sign = {.kind = AlarmKind::failed,
                   .period = utc("2026-03-01T02:30:00Z"),
                   .at = utc("2026-03-01T02:41:07Z"),
                   .run_id = "r1",
                   .exit_code = 3},
          .first = utc("2026-02-28T02:30:00Z"),
          .count = 2,
          .to = {"ops"}};
}

TEST(AlarmJson, TellsAllThatAReceiverNeeds) {
  EXPECT_EQ(notify_payload("backup", failure(), "ops", "db1"),
            R"({"version":1,"destination":"ops",)"
            R"x("text":"backup failed with exit status 3 (2 bad in a row since 2026-02-28T02:30:00Z)","job":"backup",)x"
            R"("kind":"failed","period":"2026-03-01T02:30:00Z","firstPeriod":"2026-02-28T02:30:00Z",)"
            R"("at":"2026-03-01T02:41:07Z","count":2,"number":0,"exitCode":3,"runId":"r1","reason":"","host":"db1",)"
            R"("opening":""})");
}

TEST(AlarmJson, WhatClosesAnAlarmNamesTheTaskThatOpenedIt) {
  AlarmMessage closes = failure();
  closes.sign.kind = AlarmKind::recovered;
  closes.sign.exit_code = 0;
  const std::string opening = notify_task_id("backup", failure(), "ops");
  EXPECT_NE(notify_payload("backup", closes, "ops", "").find("\"opening\":\"" + opening + "\""), std::string::npos);
}

TEST(AlarmJson, SaysWhatHappenedInWords) {
  AlarmMessage message = failure();
  message.count = 1;
  EXPECT_EQ(message_text("a", message), "a failed with exit status 3");
  message.sign.exit_code.reset();
  EXPECT_EQ(message_text("a", message), "a ended, and nobody knows how");
  message.sign.kind = AlarmKind::missed;
  EXPECT_EQ(message_text("a", message), "a was missed: its deadline passed before it could start");
  message.sign.kind = AlarmKind::unschedulable;
  EXPECT_EQ(message_text("a", message), "a got no time: no draw met its constraints");
  message.sign.kind = AlarmKind::late;
  message.sign.reason = "has run for 2h, and goes on";
  EXPECT_EQ(message_text("a", message), "a is late: it has run for 2h, and goes on");
  message.sign.kind = AlarmKind::recovered;
  EXPECT_EQ(message_text("a", message), "a is well again (after 1 bad in a row since 2026-02-28T02:30:00Z)");
}

}  // namespace
}  // namespace kron
