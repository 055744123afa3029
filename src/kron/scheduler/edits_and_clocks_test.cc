#include <gtest/gtest.h>
#include <map>

#include "kron/base/rfc3339.h"
#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"

// What edits of a schedule, pauses and wrong clocks do to a scheduler and to what it records.
namespace kron {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Host;
using testing::job;
using testing::JobSpec;
using testing::utc;

struct EditedHost : Host {
  explicit EditedHost(const JobSpec& spec) : Host(utc("2026-03-01T00:10:00Z")) {
    set_jobs({job(spec)});
    EXPECT_TRUE(start_daemon());
  }

  std::vector<std::string> started() const {
    std::vector<std::string> periods;
    for (const auto& line : log.lines_of("run_started")) periods.push_back(line.field("periodId"));
    return periods;
  }
  std::map<std::string, std::string> ended() const {
    std::map<std::string, std::string> outcomes;
    for (const auto& line : log.lines_of("period_ended")) {
      outcomes[line.field("periodId")] = line.field("outcome") + " " + line.field("reason");
    }
    return outcomes;
  }
  StateRecord record() { return ledger->read("job").value(); }
};

TEST(Edits, AReloadThatChangesTheScheduleStartsNothingThatLayInThePast) {
  EditedHost host({.schedule = "0 * * * *", .deadline = "1d"});
  host.run_until(utc("2026-03-01T01:50:00Z"));
  ASSERT_TRUE(host.reload({job({.schedule = "*/20 * * * *", .deadline = "1d"})}));
  host.run_until(utc("2026-03-01T02:00:30Z"));
  EXPECT_EQ(host.started(), (std::vector<std::string>{"2026-03-01T01:00:00Z", "2026-03-01T02:00:00Z"}));
  ASSERT_EQ(host.log.lines_of("passed_over").size(), 1U) << "told by the edit";
  EXPECT_EQ(host.log.lines_of("passed_over")[0].field("count"), "2");
  EXPECT_EQ(host.record().periods.schedule->since, utc("2026-03-01T01:50:00Z"));
}

TEST(Edits, AScheduleChangedWhileTheDaemonWasDownStartsNothingThatLayInThePast) {
  EditedHost host({.schedule = "0 * * * *", .deadline = "1d"});
  host.run_until(utc("2026-03-01T01:50:00Z"));
  host.kill_daemon();
  host.pass(hours(1));
  host.set_jobs({job({.schedule = "*/20 * * * *", .deadline = "1d"})});
  ASSERT_TRUE(host.start_daemon());
  host.run_for(seconds(30));
  EXPECT_EQ(host.started(), std::vector<std::string>{"2026-03-01T01:00:00Z"});
  EXPECT_EQ(host.log.lines_of("passed_over")[0].field("last"), "2026-03-01T02:40:00Z");
  // And it is durable: a second start finds no edit, and counts from the first.
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(utc("2026-03-01T03:00:30Z"));
  EXPECT_EQ(host.started().back(), "2026-03-01T03:00:00Z");
  EXPECT_EQ(host.started().size(), 2U);
}

TEST(Edits, OfOtherTermsAreJudgedAsEver) {
  EditedHost host({.schedule = "0 * * * *"});
  host.run_until(utc("2026-03-01T01:50:00Z"));
  host.kill_daemon();
  host.pass(hours(1));
  host.set_jobs({job({.schedule = "0 * * * *", .deadline = "1d"})});
  ASSERT_TRUE(host.start_daemon());
  host.run_for(seconds(30));
  EXPECT_EQ(host.started().back(), "2026-03-01T02:00:00Z") << "late, and within the new deadline";
  EXPECT_EQ(host.record().periods.schedule->since, std::nullopt);
}

TEST(Pauses, ResumeMaySkipWhatWasMissed) {
  EditedHost host({.schedule = "0 * * * *", .deadline = "1d"});
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  host.run_until(utc("2026-03-01T03:30:00Z"));
  ASSERT_TRUE(host.scheduler->resume("job", true));
  host.run_for(minutes(1));
  EXPECT_TRUE(host.started().empty());
  EXPECT_EQ(host.ended(), (std::map<std::string, std::string>{{"2026-03-01T03:00:00Z", "skipped paused"}}));
  EXPECT_EQ(host.log.lines_of("passed_over")[0].field("count"), "2");
  EXPECT_FALSE(host.record().periods.suspended);
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(utc("2026-03-01T04:00:30Z"));
  EXPECT_EQ(host.started(), std::vector<std::string>{"2026-03-01T04:00:00Z"});
}

TEST(Pauses, OneThatEndsByItselfMaySkipWhatWasMissed) {
  EditedHost host({.schedule = "0 * * * *", .deadline = "1d"});
  ASSERT_TRUE(host.scheduler->suspend("job", utc("2026-03-01T03:30:00Z"), true));
  host.run_until(utc("2026-03-01T03:29:00Z"));
  EXPECT_TRUE(host.ended().empty()) << "nothing is recorded before its end";
  ASSERT_TRUE(host.restart_daemon());
  host.run_until(utc("2026-03-01T04:00:30Z"));
  EXPECT_EQ(host.ended(), (std::map<std::string, std::string>{{"2026-03-01T03:00:00Z", "skipped paused"}}));
  EXPECT_EQ(host.started(), std::vector<std::string>{"2026-03-01T04:00:00Z"});
}

TEST(Pauses, ResumeWithoutTheWishStartsTheLatest) {
  EditedHost host({.schedule = "0 * * * *", .deadline = "1d"});
  ASSERT_TRUE(host.scheduler->suspend("job", std::nullopt));
  host.run_until(utc("2026-03-01T03:30:00Z"));
  ASSERT_TRUE(host.scheduler->resume("job"));
  host.run_for(seconds(1));
  EXPECT_EQ(host.started(), std::vector<std::string>{"2026-03-01T03:00:00Z"});
}

TEST(WrongClock, WhatLiesInACorrectionForwardIsOnTimeWhereTheClockIsAnotherMachines) {
  for (const bool is_corrected : {true, false}) {
    EditedHost host({.schedule = "* * * * * *", .concurrency = Concurrency::allow});
    host.outside.clock_is_corrected = is_corrected;
    ASSERT_TRUE(host.restart_daemon());
    host.run_for(seconds(2));
    const std::size_t before = host.started().size();
    host.clock.jump(seconds(3));
    host.run_for(seconds(2));
    // Two seconds, and the three that were stepped over.
    EXPECT_EQ(host.started().size() - before, is_corrected ? 5U : 2U);
    EXPECT_EQ(host.ended().empty() && host.log.lines_of("passed_over").empty(), is_corrected);
  }
}

TEST(WrongClock, ACorrectionForwardOfMoreThanABusyTurnIsLate) {
  EditedHost host({.schedule = "* * * * * *", .concurrency = Concurrency::allow});
  host.outside.clock_is_corrected = true;
  ASSERT_TRUE(host.restart_daemon());
  host.run_for(seconds(2));
  const std::size_t before = host.started().size();
  host.clock.jump(seconds(60));
  host.run_for(seconds(1));
  EXPECT_LE(host.started().size() - before, 12U);
  EXPECT_FALSE(host.log.lines_of("passed_over").empty());
}

TEST(WrongClock, RestartsInAWrongEraDoNotSilenceAJobAndAreToldAtTheNextStart) {
  EditedHost host({.schedule = "*/2 * * * * *", .deadline = "5s", .concurrency = Concurrency::allow});
  host.run_for(seconds(5));
  host.clock.jump_to(utc("2036-03-01T00:00:00Z"));
  for (int i = 0; i < 70; ++i) {
    ASSERT_TRUE(host.restart_daemon());
    host.run_for(seconds(4));
    host.kill_daemon();
    host.pass(minutes(1));
    ASSERT_TRUE(host.start_daemon());
  }
  EXPECT_FALSE(host.log.lines_of("passed_over_closed").empty()) << "what the limit closes is logged";
  EXPECT_TRUE(host.log.lines_of("records_ahead_of_clock").empty());
  host.clock.jump_to(utc("2026-03-01T00:30:00Z"));
  ASSERT_TRUE(host.restart_daemon());
  EXPECT_EQ(host.log.lines_of("records_ahead_of_clock").size(), 1U);
  const std::size_t before = host.started().size();
  host.run_for(minutes(1));
  EXPECT_GE(host.started().size(), before + 30U);
}

}  // namespace
}  // namespace kron
