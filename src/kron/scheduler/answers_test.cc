#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

#include "kron/core/decision_count.h"
#include "kron/core/sample_jobs.h"
#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/fake_process_runner.h"
#include "kron/ledger/fake/shared_ledger.h"
#include "kron/scheduler/fake/host.h"
#include "kron/scheduler/log_events.h"
#include "kron/scheduler/write_thread.h"

// What a scheduler does with each of a ledger's answers.
namespace kron {
namespace {

using jobs::JobDefinition;
using std::chrono::milliseconds;
using testing::Behaviour;
using ::testing::ElementsAre;
using testing::job;
using testing::SharedLedger;
using testing::SharedRecords;
using testing::utc;
using Answer = Written::How;

// One daemon of several that share a clock and the records.
struct Member {
  Member(testing::FakeClock& its_clock, SharedRecords& records, std::string name, bool writes_aside = false)
      : clock(its_clock), ledger(records, std::move(name)) {
    scheduler = std::make_unique<Scheduler>(
        Scheduler::World{.clock = clock,
                         .ledger = ledger,
                         .runner = runner,
                         .log = log,
                         .writer = writes_aside ? &writer : nullptr,
                         .observers = {[this](const Event& event) { note(event); }, logging_to(log)}},
        [](const JobDefinition& definition, const RunCause& cause) {
          return RunSpec{.run_id = cause.run_id, .command = {jobs::command_of(definition)}};
        });
  }

  void note(const Event& event) {
    if (std::holds_alternative<RunStarted>(event)) ++started;
    if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      outcomes.push_back(std::string(name_of(ended->outcome)) + " " + std::string(name_of(ended->reason)));
    }
  }

  // Answers this to the next `count` steps.
  void answer(const Written& answer, int count = 1) {
    ledger.instead = [answer, count](const LedgerStep&) mutable {
      return count-- > 0 ? std::optional(answer) : std::nullopt;
    };
  }
  Wakeup tick() { return scheduler->tick(); }
  std::size_t executed() const { return runner.executed().size(); }
  KnownJob known(const char* name = "job") const { return scheduler->view(name)->known; }

  testing::FakeClock& clock;
  SharedLedger ledger;
  testing::FakeProcessRunner runner;
  testing::CapturingLog log;
  WriteThread writer;
  std::unique_ptr<Scheduler> scheduler;
  std::atomic<std::size_t> started = 0;
  std::vector<std::string> outcomes;
};

// Two daemons with the same jobs, one second before 01:00.
struct Answers : ::testing::Test {
  void start(std::vector<JobDefinition> jobs) {
    for (Member* member : {&a, &b}) {
      ASSERT_TRUE(member->scheduler->start(jobs));
      member->tick();
    }
    clock.advance_to(utc("2026-03-01T01:00:00Z"));
  }
  void pass(Nanoseconds time) {
    clock.advance(time);
    a.runner.advance(time);
    b.runner.advance(time);
  }
  SharedRecords::Record& record() { return records.at("job"); }

  testing::FakeClock clock{utc("2026-03-01T00:59:59Z")};
  SharedRecords records;
  Member a{clock, records, "a"};
  Member b{clock, records, "b"};
};

JobDefinition hourly_job(Concurrency concurrency = Concurrency::forbid, const char* deadline = "0s") {
  return job({.schedule = "0 * * * *", .deadline = deadline, .concurrency = concurrency});
}

TEST_F(Answers, NewerMeansThatAnotherDaemonRunsThePeriod) {
  start({hourly_job()});
  a.tick();
  b.tick();
  EXPECT_EQ(a.executed(), 1U);
  EXPECT_EQ(b.executed(), 0U);
  EXPECT_EQ(b.runner.alive(), 0U) << "the process that waited at its gate is gone";
  EXPECT_EQ(b.known().periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_TRUE(b.known().active.empty());
  EXPECT_EQ(b.scheduler->active_runs(), 0U);
  EXPECT_TRUE(b.log.lines_of("record_failed").empty());
  EXPECT_EQ(b.scheduler->view("job")->next->nominal, utc("2026-03-01T02:00:00Z"));
}

TEST_F(Answers, AJobThatIsJudgedAgainIsJudgedInItsOwnTurn) {
  start({hourly_job()});
  // Each write takes seconds: a turn of its own would call the period late, and with this deadline it would be missed.
  a.ledger.before_batch = [this] { clock.advance(Seconds(3)); };
  a.answer(Written::newer(record().periods), 2);
  while (a.tick().is_busy) {
  }
  EXPECT_EQ(a.executed(), 1U);
  EXPECT_TRUE(a.outcomes.empty());
  EXPECT_EQ(a.ledger.answers[Answer::newer], 2U);
  EXPECT_GE(clock.wall(), utc("2026-03-01T01:00:09Z"));
}

TEST_F(Answers, AJobIsJudgedAgainAtMostEightTimesAndThenLater) {
  start({hourly_job(Concurrency::forbid, "1m")});
  a.answer(Written::newer(record().periods), 100);
  const Wakeup wakeup = a.tick();
  EXPECT_FALSE(wakeup.is_busy);
  EXPECT_EQ(wakeup.at, utc("2026-03-01T01:00:05Z"));
  EXPECT_EQ(a.ledger.answers[Answer::newer], 9U);
  EXPECT_EQ(a.log.lines_of("record_failed").size(), 1U);
  a.ledger.instead = nullptr;
  pass(Seconds(5));
  a.tick();
  EXPECT_EQ(a.executed(), 1U);
}

TEST_F(Answers, AHeldLockSkipsThePeriodAndOnlyIt) {
  start({job({.schedule = "0 * * * *"}), job({.schedule = "0 * * * *"}, "other")});
  record().lock = records.at("other").lock = "lock";
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60)}; });
  a.tick();
  EXPECT_EQ(a.executed(), 1U) << "the first has the lock";
  EXPECT_THAT(a.outcomes, ElementsAre("skipped lock_held"));
  EXPECT_EQ(records.at("other").outcomes.at(utc("2026-03-01T01:00:00Z")), Outcome::skipped);
  b.tick();
  EXPECT_THAT(b.outcomes, ElementsAre()) << "it is recorded once";
  EXPECT_EQ(a.known("other").periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(a.ledger.answers[Answer::held], 1U);
  EXPECT_EQ(a.runner.alive(), 1U);
}

TEST_F(Answers, WhatAStepSaidBesideTheStartThatWasHeldIsSaidAgain) {
  // Two late periods: one passed over, one started.
  start({job({.schedule = "* * * * *", .deadline = "1h"})});
  pass(Seconds(130));
  a.answer(Written::held("another's"));
  a.tick();
  EXPECT_THAT(a.outcomes, ElementsAre("skipped lock_held"));
  ASSERT_EQ(record().history.size(), 2U);
  EXPECT_EQ(record().history[0].passed_over->count, 2U);
  EXPECT_EQ(record().history[1].reason, Reason::lock_held);
  EXPECT_EQ(a.log.lines_of("passed_over").size(), 1U);
}

TEST_F(Answers, ARunThatHasBeenBeforeMakesItsPeriodExecuted) {
  start({hourly_job()});
  a.tick();
  records.put_periods("job", {});
  b.tick();
  EXPECT_EQ(b.executed(), 0U);
  EXPECT_EQ(b.ledger.answers[Answer::ran], 1U);
  EXPECT_EQ(b.known().periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(record().periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_TRUE(b.known().active.empty());
  EXPECT_EQ(b.log.lines_of("already_run").size(), 1U);
}

TEST_F(Answers, RefusedIsTriedAgainAtItsTime) {
  start({hourly_job(Concurrency::forbid, "1m")});
  a.answer(Written::refused({Code::unreachable, "away"}, utc("2026-03-01T01:00:20Z")));
  EXPECT_EQ(a.tick().at, utc("2026-03-01T01:00:20Z"));
  EXPECT_EQ(a.executed(), 0U);
  EXPECT_FALSE(a.known().periods.last_handled);
  EXPECT_EQ(a.log.lines_of("record_failed")[0].field("reason"), "away");
  pass(Seconds(20));
  a.tick();
  EXPECT_EQ(a.executed(), 1U);
}

TEST_F(Answers, LookAgainTriesAtOnceWhatWasRefused) {
  start({hourly_job(Concurrency::forbid, "1m"), job({.schedule = "0 * * * *", .deadline = "1m"}, "other")});
  a.answer(Written::refused({Code::unreachable, "away"}, utc("2026-03-01T01:00:50Z")), 2);
  a.tick();
  pass(Seconds(1));
  a.tick();
  EXPECT_EQ(a.executed(), 0U);
  a.scheduler->look_again();
  a.tick();
  EXPECT_EQ(a.executed(), 2U);
}

TEST_F(Answers, LookAgainRecordsEndsAtOnce) {
  start({hourly_job()});
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(10)}; });
  a.tick();
  pass(Seconds(10));
  a.answer(Written::refused({Code::unreachable, "away"}));
  a.tick();
  EXPECT_EQ(a.scheduler->active_runs(), 1U);
  a.scheduler->look_again();
  a.tick();
  EXPECT_EQ(a.scheduler->active_runs(), 0U);
  EXPECT_EQ(record().history.size(), 1U);
}

TEST_F(Answers, AnUnknownStepIsNotRunAndFoundOutLater) {
  start({hourly_job(Concurrency::forbid, "1m")});
  a.ledger.loses_answer = [](const LedgerStep&) { return true; };
  a.tick();
  EXPECT_EQ(a.executed(), 0U);
  EXPECT_EQ(record().outcomes.at(utc("2026-03-01T01:00:00Z")), Outcome::executed) << "so it happened";
  a.ledger.loses_answer = nullptr;
  pass(Seconds(5));
  a.tick();
  EXPECT_EQ(a.executed(), 0U) << "it may have been run";
  EXPECT_EQ(a.known().periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(a.ledger.answers[Answer::newer], 1U);
}

TEST_F(Answers, DoneMayTellThatOthersHaveMovedOn) {
  start({hourly_job()});
  JobState later = record().periods;
  later.last_handled = utc("2026-03-01T02:00:00Z");
  Written done;
  done.periods = later;
  a.answer(done);
  EXPECT_FALSE(a.tick().is_busy);
  EXPECT_EQ(a.executed(), 1U);
  EXPECT_EQ(a.known().periods.last_handled, utc("2026-03-01T02:00:00Z"));
  EXPECT_EQ(a.scheduler->view("job")->next->nominal, utc("2026-03-01T03:00:00Z"));
}

// If one step said both, and had to be judged again, the run that has ended would forbid the next.
TEST_F(Answers, TheEndOfARunIsNotOneStepWithTheNextStart) {
  start({job({.schedule = "* * * * *"})});
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60)}; });
  a.tick();
  pass(Seconds(60));
  a.ledger.instead = [newer = true, this](const LedgerStep& step) mutable {
    EXPECT_TRUE(step.started.empty() || step.history.empty());
    const bool is_first_start = !step.started.empty() && std::exchange(newer, false);
    return is_first_start ? std::optional(Written::newer(record().periods)) : std::nullopt;
  };
  a.tick();
  EXPECT_EQ(a.executed(), 2U);
  EXPECT_TRUE(a.outcomes.empty());
  EXPECT_EQ(a.scheduler->active_runs(), 1U);
}

TEST_F(Answers, AnEndThatHasToBeRepeatedComesBeforeTheNextStart) {
  start({job({.schedule = "* * * * *"})});
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60)}; });
  a.tick();
  pass(Seconds(60));
  a.answer(Written::newer(record().periods));  // to the step that tells of the end
  a.tick();
  EXPECT_EQ(a.executed(), 2U);
  EXPECT_TRUE(a.outcomes.empty()) << "concurrency forbids nothing";
  EXPECT_EQ(a.scheduler->active_runs(), 1U);
}

TEST_F(Answers, AnEndIsRepeatedWhenNothingIsStartedAnyMore) {
  start({job({.schedule = "* * * * *"})});
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(60)}; });
  a.tick();
  a.scheduler->stop_starting();
  pass(Seconds(60));
  a.answer(Written::newer(record().periods), 3);
  a.tick();
  EXPECT_EQ(a.executed(), 1U);
  EXPECT_EQ(a.scheduler->active_runs(), 0U);
  EXPECT_EQ(record().history.size(), 1U);
}

TEST_F(Answers, ARunThatWaitedForItsTurnIsNotJudgedAgain) {
  start({hourly_job(Concurrency::replace)});
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .ignores_term = true}; });
  a.tick();
  pass(std::chrono::hours(1));
  a.tick();
  pass(Seconds(10));  // the grace
  a.ledger.instead = [newer = true, this](const LedgerStep& step) mutable {
    const bool is_first_start = !step.started.empty() && std::exchange(newer, false);
    return is_first_start ? std::optional(Written::newer(record().periods)) : std::nullopt;
  };
  while (a.tick().is_busy) {
  }
  EXPECT_EQ(a.executed(), 2U) << "its deadline is over, but it was judged when it was due";
  EXPECT_TRUE(a.outcomes.empty());
}

TEST_F(Answers, ARunThatWaitsIsGivenUpWhenAnotherDaemonHasRunItsPeriod) {
  start({hourly_job(Concurrency::replace)});
  a.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = std::chrono::hours(2), .ignores_term = true}; });
  a.tick();
  pass(std::chrono::hours(1));
  a.tick();
  b.tick();
  EXPECT_EQ(b.executed(), 1U) << "of 02:00";
  pass(Seconds(10));
  while (a.tick().is_busy) {
  }
  EXPECT_EQ(a.executed(), 1U);
  EXPECT_EQ(a.ledger.answers[Answer::ran], 0U) << "it is not even tried";
  EXPECT_EQ(a.known().periods.last_handled, utc("2026-03-01T02:00:00Z"));
}

TEST_F(Answers, EachAnswerToATrigger) {
  start({hourly_job(Concurrency::allow)});
  a.tick();
  const std::size_t before = a.executed();
  a.answer(Written::newer(record().periods), 3);
  EXPECT_EQ(a.scheduler->trigger("job", "one")->how, Scheduler::Triggered::How::started);
  EXPECT_EQ(a.executed(), before + 1);
  a.answer(Written::held("of another"));
  const auto held = a.scheduler->trigger("job", "two");
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Code::conflict);
  EXPECT_NE(held.error().message.find("of another"), std::string::npos);
  a.answer(Written::ran("the same"));
  EXPECT_EQ(a.scheduler->trigger("job", "three")->how, Scheduler::Triggered::How::already_known);
  for (const Written& answer : {Written::refused({Code::io, "no"}), Written::unknown({Code::io, "lost"})}) {
    a.answer(answer);
    EXPECT_EQ(a.scheduler->trigger("job", "four").error().code, Code::io);
  }
  a.answer(Written::newer(record().periods), 100);
  EXPECT_EQ(a.scheduler->trigger("job", "five").error().code, Code::conflict);
  EXPECT_EQ(a.executed(), before + 1);
  EXPECT_EQ(a.runner.alive(), before + 1) << "nothing is left at its gate";
  a.tick();
  EXPECT_EQ(a.executed(), before + 1);
}

TEST_F(Answers, APauseIsSetOnWhatAnotherDaemonHasWritten) {
  start({hourly_job()});
  b.tick();  // runs 01:00, which a has not heard of
  EXPECT_TRUE(a.scheduler->suspend("job", std::nullopt));
  EXPECT_TRUE(record().periods.suspended);
  EXPECT_EQ(record().periods.last_handled, utc("2026-03-01T01:00:00Z"));
  EXPECT_EQ(a.executed(), 0U);
  EXPECT_TRUE(a.scheduler->resume("job"));
  EXPECT_FALSE(record().periods.suspended);
}

TEST_F(Answers, AResumeThatSkipsSaysSoAgain) {
  start({hourly_job(Concurrency::forbid, "2h")});
  EXPECT_TRUE(a.scheduler->suspend("job", std::nullopt));
  pass(std::chrono::minutes(61));
  a.answer(Written::newer(record().periods));
  EXPECT_TRUE(a.scheduler->resume("job", true));
  EXPECT_FALSE(record().periods.suspended);
  EXPECT_EQ(record().outcomes.at(utc("2026-03-01T02:00:00Z")), Outcome::skipped);
  a.tick();
  EXPECT_EQ(a.executed(), 0U);
  EXPECT_THAT(a.outcomes, ElementsAre("skipped paused"));
}

TEST_F(Answers, APauseWhoseAnswerIsNotDoneHasFailed) {
  start({hourly_job()});
  EXPECT_TRUE(a.scheduler->suspend("job", utc("2026-03-01T05:00:00Z")));
  // The record says just what was asked for, and yet nobody knows whether it was this daemon that said so.
  a.answer(Written::unknown({Code::io, "lost"}));
  EXPECT_FALSE(a.scheduler->suspend("job", utc("2026-03-01T05:00:00Z")));
  a.answer(Written::refused({Code::io, "no"}));
  EXPECT_FALSE(a.scheduler->suspend("job", utc("2026-03-01T05:00:00Z")));
}

TEST_F(Answers, AnEditThatOthersHaveNotHeardOfStartsNothingThatLayInThePast) {
  start({job({.schedule = "30 * * * *", .deadline = "2h"})});
  clock.advance_to(utc("2026-03-01T01:30:00Z"));
  b.tick();
  EXPECT_EQ(b.executed(), 1U);
  pass(std::chrono::minutes(5));
  // Its step tells of the edit and is judged by what b has not written yet.
  ASSERT_TRUE(a.scheduler->reload({job({.schedule = "32 * * * *", .deadline = "2h"})}));
  a.tick();
  EXPECT_GE(a.ledger.answers[Answer::newer], 1U);
  EXPECT_EQ(a.known().periods.last_handled, utc("2026-03-01T01:30:00Z"));
  EXPECT_EQ(a.executed(), 0U) << "01:32 lay in the past";
  EXPECT_EQ(a.scheduler->view("job")->next->nominal, utc("2026-03-01T02:32:00Z"));
}

// Others are heard between: a slice, and the batches at which it ended.
TEST_F(Answers, ManyJobsThatAreJudgedAgainTakeSeveralTicksAndOneTurn) {
  std::vector<JobDefinition> jobs;
  for (int i = 0; i < 2'000; ++i) jobs.push_back(job({.schedule = "0 * * * *"}, std::to_string(i)));
  start(jobs);
  std::set<std::string> overtaken;
  a.ledger.instead = [&](const LedgerStep& step) {
    const bool is_first = overtaken.insert(step.identity).second;
    return is_first ? std::optional(Written::newer(records.at(step.identity).periods)) : std::nullopt;
  };
  a.ledger.before_batch = [this] { clock.advance(milliseconds(50)); };
  Nanoseconds longest{0};
  int ticks = 0;
  for (bool is_busy = true; is_busy; ++ticks) {
    const Nanoseconds begun = clock.monotonic();
    is_busy = a.tick().is_busy;
    longest = std::max(longest, clock.monotonic() - begun);
  }
  EXPECT_EQ(a.executed(), 2'000U);
  EXPECT_TRUE(a.outcomes.empty()) << "nothing is late";
  EXPECT_GT(clock.wall(), utc("2026-03-01T01:00:01Z"));
  EXPECT_GT(ticks, 5);
  EXPECT_LE(longest, milliseconds(100 + 3 * 50));
}

// The period that is due, when it is judged, and the one after it, when that is planned.
TEST_F(Answers, ATurnDecidesAPeriodOnce) {
  for (const char* window : {"0s", "20m"}) {
    SCOPED_TRACE(window);
    testing::FakeClock its_clock{utc("2026-03-01T00:59:59Z")};
    SharedRecords its_records;
    Member member{its_clock, its_records, "a"};
    std::vector<JobDefinition> jobs;
    for (int i = 0; i < 10; ++i) {
      jobs.push_back(
          job({.schedule = "0 * * * *", .window = window, .concurrency = Concurrency::allow}, std::to_string(i)));
    }
    ASSERT_TRUE(member.scheduler->start(jobs));
    member.tick();
    const std::uint64_t before = decisions_made();
    for (its_clock.advance_to(utc("2026-03-01T01:00:00Z")); its_clock.wall() < utc("2026-03-01T01:21:00Z");
         its_clock.advance(Seconds(1))) {
      member.tick();
    }
    EXPECT_EQ(member.executed(), 10U);
    EXPECT_EQ(decisions_made() - before, 20U);
  }
}

// The answers to one batch are acted on while the next is written.
TEST(AnswersAside, GatesOpenWhileTheNextBatchIsWritten) {
  testing::FakeClock clock{utc("2026-03-01T00:59:59Z")};
  SharedRecords records;
  Member member{clock, records, "a", true};
  std::vector<JobDefinition> jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(job({.schedule = "0 * * * *"}, std::to_string(i)));
  ASSERT_TRUE(member.scheduler->start(jobs));
  member.tick();
  clock.advance_to(utc("2026-03-01T01:00:00Z"));
  std::size_t started_by_second = 0;
  member.ledger.before_batch = [&] {
    if (member.ledger.batches.size() != 2) return;
    const auto limit = std::chrono::steady_clock::now() + Seconds(30);
    while (member.started < 16 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    started_by_second = member.started;
  };
  member.tick();
  EXPECT_EQ(started_by_second, 16U);
  EXPECT_EQ(member.executed(), 60U);
}

}  // namespace
}  // namespace kron
