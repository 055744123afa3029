#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "kron/base/rfc3339.h"
#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"
#include "kron/testing/scale.h"

// A turn that takes long, and what becomes due meanwhile.
namespace kron {
namespace {

using jobs::JobDefinition;
using std::chrono::milliseconds;
using testing::Host;
using testing::job;
using testing::JobSpec;
using testing::utc;

int crowd() { return std::min(100'000, testing::scaled(20'000)); }

// Every record that is written takes a millisecond, of all clocks.
struct SlowHost : Host {
  explicit SlowHost(const std::string& start) : Host(utc(start)) {
    outside.observer = [this](const Event& event) { note(event); };
  }

  void add_crowd(const JobSpec& spec, int count) {
    for (int i = 0; i < count; ++i) outside.jobs.push_back(job(spec, "crowd/" + std::to_string(i)));
  }

  void writes_take(Nanoseconds time) {
    file_system->fail_when([this, time](const testing::CallRecord& call) {
      if (call.call == testing::Call::create || call.call == testing::Call::overwrite) clock.advance(time);
      return testing::Fault::none;
    });
  }

  void note(const Event& event) {
    if (const auto* started = std::get_if<RunStarted>(&event)) {
      ++executed[started->identity];
      const Nanoseconds late = clock.wall() - started->run.chosen.value_or(now(clock));
      if (started->run.period >= watched_since) latest_start = std::max(latest_start, late);
    } else if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      ++(ended->outcome == Outcome::missed ? missed : other)[ended->identity];
      last_outcome = std::max(last_outcome, ended->period.nominal);
    }
  }

  // Ticks until the scheduler has caught up, or `enough` says so; the longest of them is `longest_tick`.
  void work_off(const std::function<bool()>& enough = [] { return false; }) {
    for (bool is_busy = true; is_busy && !enough(); ++ticks) {
      const Nanoseconds begun = clock.monotonic();
      is_busy = scheduler->tick().is_busy;
      longest_tick = std::max(longest_tick, clock.monotonic() - begun);
    }
  }

  std::map<std::string, int> executed;
  std::map<std::string, int> missed;
  std::map<std::string, int> other;
  Instant last_outcome;
  Instant watched_since;
  Nanoseconds latest_start{0};
  Nanoseconds longest_tick{0};
  int ticks = 0;
};

// A slice, the batch at which it ended, and the one that was on its way to the disk.
constexpr Nanoseconds kLongestTick = milliseconds(100 + 2 * 128);
// While jobs are late, all of that is smaller: those who ask wait for minutes' worth of such ticks, one at a time.
constexpr Nanoseconds kLongestTickOfLate = milliseconds(100 / 4 + 2 * 32);

TEST(Turn, ManyLateJobsHoldUpNeitherTheLoopNorWhatBecomesDue) {
  SlowHost host("2026-03-01T00:30:00Z");
  host.add_crowd({.schedule = "0 * * * *"}, crowd());
  for (int i = 0; i < 5; ++i) host.outside.jobs.push_back(job({.schedule = "* * * * * *"}, std::to_string(i)));
  ASSERT_TRUE(host.start_daemon());
  host.kill_daemon();
  host.pass(std::chrono::hours(3));
  const Instant begun = now(host.clock);
  ASSERT_TRUE(host.start_daemon());
  host.writes_take(milliseconds(1));
  host.watched_since = begun;
  host.work_off();
  EXPECT_EQ(host.missed.size(), static_cast<std::size_t>(crowd()));
  EXPECT_LE(host.longest_tick, kLongestTick);
  EXPECT_GT(host.ticks, crowd() / 300);
  const auto passed = static_cast<int>((now(host.clock) - begun).count());
  EXPECT_GE(passed, crowd() / 1000);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(host.missed.count(std::to_string(i)), 0U);
    EXPECT_GE(host.executed[std::to_string(i)] + host.other[std::to_string(i)], passed) << "each second has its run";
  }
  EXPECT_LT(host.latest_start, Seconds(3));
}

// Whoever lets what is due go before all else goes by this: what is late may take minutes.
TEST(Turn, WhatIsLateIsNotCalledDue) {
  SlowHost host("2026-03-01T00:30:00Z");
  host.add_crowd({.schedule = "0 * * * *", .deadline = "1d"}, 2'000);
  ASSERT_TRUE(host.start_daemon());
  host.kill_daemon();
  host.pass(std::chrono::hours(1));
  ASSERT_TRUE(host.start_daemon());
  host.writes_take(milliseconds(1));
  const Wakeup late = host.scheduler->tick();
  EXPECT_TRUE(late.is_busy);
  EXPECT_LE(late.at, now(host.clock));
  EXPECT_EQ(late.due, utc("2026-03-01T02:00:00Z"));
  host.work_off();
  EXPECT_EQ(host.executed.size(), 2'000U);
  EXPECT_LE(host.longest_tick, kLongestTickOfLate);
}

TEST(Turn, ARunWhoseEndIsKnownIsOverAlthoughTheEndsOfOthersAreTakenFirst) {
  SlowHost host("2026-03-01T00:30:30Z");
  constexpr int kJobs = 600;
  host.add_crowd({.schedule = "* * * * *"}, kJobs);
  host.runner.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = Seconds(55)}; });
  ASSERT_TRUE(host.start_daemon());
  host.run_until(utc("2026-03-01T00:31:10Z"));
  ASSERT_EQ(host.executed.size(), static_cast<std::size_t>(kJobs));
  // All of them end, and all are due again, before the daemon gets to look; half a slice has time for a part.
  host.pass(Seconds(50));
  host.writes_take(milliseconds(1));
  host.work_off();
  EXPECT_TRUE(host.other.empty()) << host.other.size() << " were skipped for a run that had ended";
  for (const auto& [identity, count] : host.executed) EXPECT_EQ(count, 2) << identity;
}

TEST(Turn, WhatIsInTheBacklogAndBecomesDueIsOnTime) {
  SlowHost host("2026-03-01T00:30:00Z");
  host.add_crowd({.schedule = "0 * * * *"}, crowd());
  ASSERT_TRUE(host.start_daemon());
  host.kill_daemon();
  // Half of the crowd is still late when the next hour comes, for which it is on time.
  host.pass(std::chrono::minutes(90) - milliseconds(crowd() / 2));
  ASSERT_TRUE(host.start_daemon());
  host.writes_take(milliseconds(1));
  host.work_off();
  host.run_for(Seconds(1));
  EXPECT_GE(now(host.clock), utc("2026-03-01T02:00:00Z"));
  EXPECT_EQ(host.executed.size(), static_cast<std::size_t>(crowd())) << "of 02:00";
  for (const auto& [name, count] : host.executed) EXPECT_EQ(count, 1) << name;
  EXPECT_LE(host.longest_tick, kLongestTick);
}

TEST(Turn, ALongTurnJudgesByItsOwnNow) {
  SlowHost host("2026-03-01T00:30:00Z");
  host.add_crowd({.schedule = "0 * * * *", .deadline = "5s"}, crowd());
  ASSERT_TRUE(host.start_daemon());
  host.run_until(utc("2026-03-01T00:59:50Z"));
  host.kill_daemon();
  host.pass(Seconds(14));
  ASSERT_TRUE(host.start_daemon());
  host.writes_take(milliseconds(1));
  host.work_off();
  EXPECT_GE(now(host.clock), utc("2026-03-01T01:00:10Z")) << "past the deadline";
  EXPECT_EQ(host.executed.size(), static_cast<std::size_t>(crowd()));
  EXPECT_TRUE(host.missed.empty());
}

TEST(Turn, AnswersComeBetweenAndAReloadInTheMiddleChangesNoOutcome) {
  SlowHost host("2026-03-01T00:59:59Z");
  host.add_crowd({.schedule = "0 * * * *"}, 5'000);
  ASSERT_TRUE(host.start_daemon());
  host.run_for(milliseconds(10));
  host.writes_take(milliseconds(1));
  host.clock.advance_to(utc("2026-03-01T01:00:00Z"));
  host.work_off([&] { return host.executed.size() > 1'000; });
  EXPECT_LT(host.executed.size(), 4'000U);
  std::vector<JobDefinition> edited = host.outside.jobs;
  for (JobDefinition& definition : edited) definition.action = jobs::Command{command_of(definition) + " --edited"};
  edited.push_back(job({.schedule = "30 * * * *"}, "new"));
  host.pass(Seconds(3));
  ASSERT_TRUE(host.reload(edited));
  ASSERT_TRUE(host.scheduler->trigger("new"));
  host.work_off();
  host.run_for(Seconds(1));
  EXPECT_EQ(host.executed.size(), 5'001U);
  EXPECT_TRUE(host.missed.empty());
  EXPECT_TRUE(host.scheduler->view("new")->known.periods.first_seen >= utc("2026-03-01T01:00:03Z"))
      << "not lowered to the beginning of the turn";
}

TEST(Turn, IsOverWhenTheClockGoesBackBehindIt) {
  SlowHost host("2026-03-01T00:30:00Z");
  host.add_crowd({.schedule = "0 * * * *"}, 5'000);
  ASSERT_TRUE(host.start_daemon());
  host.run_for(milliseconds(10));
  host.writes_take(milliseconds(1));
  host.clock.jump_to(utc("2036-03-01T00:30:00Z"));
  host.work_off([&] { return host.missed.size() > 1'000; });
  const std::size_t in_2036 = host.missed.size();
  EXPECT_LT(in_2036, 4'000U);
  host.clock.jump_to(utc("2026-03-01T00:31:00Z"));
  host.longest_tick = Nanoseconds(0);
  host.work_off();
  EXPECT_EQ(host.missed.size(), in_2036) << "nothing more is judged by the clock of 2036";
  EXPECT_LE(host.longest_tick, kLongestTick);
  host.run_until(utc("2026-03-01T01:00:30Z"));
  EXPECT_EQ(host.executed.size(), 5'000U) << "each job runs at its time of 2026";
}

TEST(Turn, ManyRunsThatEndTogetherAreRecordedASliceAtATime) {
  SlowHost host("2026-03-01T00:59:59Z");
  host.add_crowd({.schedule = "0 * * * *"}, 2'000);
  host.runner.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = Seconds(60)}; });
  ASSERT_TRUE(host.start_daemon());
  host.run_for(Seconds(10));
  ASSERT_EQ(host.scheduler->active_runs(), 2'000U);
  host.pass(Seconds(60));
  host.writes_take(milliseconds(1));
  host.work_off();
  EXPECT_EQ(host.scheduler->active_runs(), 0U);
  EXPECT_LE(host.longest_tick, kLongestTick);
}

// Runs that take no time, and records that take a millisecond of everybody's.
struct BriefRuns : SlowHost {
  explicit BriefRuns(int count) : SlowHost("2026-03-01T00:59:59Z") {
    add_crowd({.schedule = "0 * * * *"}, count);
    runner.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = milliseconds(1)}; });
    outside.observer = [this](const Event& event) {
      note(event);
      if (std::holds_alternative<RunStarted>(event)) last_start = clock.wall();
      if (std::holds_alternative<RunEnded>(event) && !first_end) first_end = clock.wall();
    };
  }

  void run() {
    ASSERT_TRUE(start_daemon());
    run_for(milliseconds(10));
    file_system->fail_when([this](const testing::CallRecord& call) {
      const bool is_record = call.call == testing::Call::create || call.call == testing::Call::overwrite;
      if (is_record) outside.pass(milliseconds(1));
      return testing::Fault::none;
    });
    clock.advance_to(utc("2026-03-01T01:00:00Z"));
    work_off();
    run_for(Seconds(1));
  }

  WallTime last_start;
  std::optional<WallTime> first_end;
};

TEST(Turn, ACrowdIsStartedBeforeAnythingIsWrittenAboutThoseThatHaveEnded) {
  BriefRuns host(600);
  host.run();
  EXPECT_EQ(host.executed.size(), 600U);
  EXPECT_EQ(host.scheduler->active_runs(), 0U);
  EXPECT_LT(host.last_start, utc("2026-03-01T01:00:00Z") + milliseconds(700));
  EXPECT_GE(host.first_end, host.last_start);
}

TEST(Turn, EndsDoNotWaitForALargeCrowdToBeStarted) {
  BriefRuns host(5'000);
  host.run();
  EXPECT_EQ(host.executed.size(), 5'000U);
  EXPECT_EQ(host.scheduler->active_runs(), 0U);
  EXPECT_LT(host.first_end, utc("2026-03-01T01:00:01Z") + milliseconds(500));
  EXPECT_LE(host.longest_tick, kLongestTick);
}

TEST(Turn, EndsGoFirstWhereAnotherHostWaitsForThem) {
  BriefRuns host(600);
  host.outside.ends_wait = Nanoseconds(0);
  host.run();
  EXPECT_EQ(host.executed.size(), 600U);
  EXPECT_LT(host.first_end, host.last_start);
}

TEST(Turn, WhatBecomesDueWhileAnOperatorsWordIsWrittenIsOnTime) {
  SlowHost host("2026-03-01T00:59:58Z");
  host.add_crowd({.schedule = "0 * * * *"}, 2);
  ASSERT_TRUE(host.start_daemon());
  host.run_for(milliseconds(10));
  host.writes_take(Seconds(5));
  ASSERT_TRUE(host.scheduler->trigger("crowd/0"));
  host.writes_take(Nanoseconds(0));
  host.run_for(Seconds(1));
  EXPECT_EQ(host.executed["crowd/1"], 1);
  EXPECT_TRUE(host.missed.empty());
}

TEST(Turn, APlannedRestartIsOnTimeSinceItBegan) {
  for (const bool is_planned : {true, false}) {
    SlowHost host("2026-03-01T00:59:50Z");
    host.add_crowd({.schedule = "0 * * * *"}, 3);
    ASSERT_TRUE(host.start_daemon());
    host.run_until(utc("2026-03-01T00:59:58Z"));
    host.scheduler->stop_starting();
    const Instant since = host.scheduler->behind_since();
    EXPECT_EQ(since, utc("2026-03-01T00:59:58Z"));
    host.kill_daemon();
    host.pass(Seconds(5));
    host.start_since = is_planned ? std::optional(since) : std::nullopt;
    ASSERT_TRUE(host.start_daemon());
    host.run_for(Seconds(1));
    EXPECT_EQ(host.executed.size(), is_planned ? 3U : 0U);
    EXPECT_EQ(host.missed.size(), is_planned ? 0U : 3U);
  }
}

TEST(Turn, ADaemonThatStopsInTheMiddleOfATurnIsBehindSinceThen) {
  SlowHost host("2026-03-01T00:59:59Z");
  host.add_crowd({.schedule = "0 * * * *"}, 5'000);
  ASSERT_TRUE(host.start_daemon());
  host.run_for(milliseconds(10));
  host.writes_take(milliseconds(1));
  host.clock.advance_to(utc("2026-03-01T01:00:00Z"));
  host.work_off([&] { return host.executed.size() > 3'000; });
  EXPECT_GT(now(host.clock), utc("2026-03-01T01:00:02Z"));
  EXPECT_EQ(host.scheduler->behind_since(), utc("2026-03-01T01:00:00Z"));
  host.work_off();
  host.run_for(Seconds(30));
  EXPECT_EQ(host.scheduler->behind_since(), now(host.clock));
}

}  // namespace
}  // namespace kron
