#include "kron/core/open_periods.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <vector>

#include "kron/core/evaluate.h"
#include "kron/core/sample_jobs.h"
#include "kron/testing/scale.h"

namespace kron::open_periods_test {
namespace {

using testing::make_job;
using testing::utc;

constexpr Seconds kHour{3600};
constexpr Seconds kDay{86400};

// A scheduler reduced to its rules: settles, evaluates until it waits, and remembers everything it ever did.
class Loop {
 public:
  Loop(Job job, Instant first_seen) : job_(std::move(job)) {
    state_.first_seen = first_seen;
    notice_schedule(job_, state_, first_seen);
    durable_ = state_;
  }

  // One turn; returns when to wake, and checks what must hold at every turn. A long turn is still being worked off when
  // the clock is `ahead` of its now.
  std::optional<Instant> turn(Instant now, bool active = false, Seconds ahead = Seconds(0)) {
    closed_ += settle(job_, state_, now + ahead).closed.value_or(PassedOver{}).count;
    for (int actions = 0;; ++actions) {
      EXPECT_LE(actions, 5000) << "a turn that does not end";
      const Evaluation evaluation = evaluate(job_, state_, active, Turn::at(now));
      if (evaluation.passed_over) passed_over_ += evaluation.passed_over->count;
      if (const auto* wait = std::get_if<Wait>(&evaluation.action)) {
        EXPECT_GT(wait->until.value_or(kLastInstant), now);
        return wait->until;
      }
      const auto* start = std::get_if<Start>(&evaluation.action);
      const Decision& period = start != nullptr ? start->period : std::get<Record>(evaluation.action).period;
      EXPECT_TRUE(ever_handled_.insert(period.nominal).second) << "handled twice: " << period_id(period.nominal);
      EXPECT_LE(period.due(), now);
      if (start != nullptr) {
        EXPECT_LE(now - *period.chosen, job_.policy.deadline);
        started_.emplace_back(period.nominal, now);
      }
      const auto last = state_.last_handled;
      closed_ += mark_handled(job_, state_, period.nominal, Turn::at(now)).value_or(PassedOver{}).count;
      durable_ = state_;
      EXPECT_GE(state_.last_handled, last) << "L moved back";
      EXPECT_TRUE(is_closed(state_, decide(job_, period.nominal), Turn::at(now)));
      EXPECT_LE(state_.passed_over.size(), kMostSpans);
      EXPECT_LE(state_.open_periods.size(), kMostOpenPeriods);
    }
  }

  // Wakes when told to, from `now` until `end`, as a daemon that is never late.
  void run_quietly(Instant now, Instant end) {
    for (std::optional<Instant> wake = now; wake && *wake <= end;) wake = turn(*wake);
  }

  // The definition is read, as at a start or by a reload.
  std::optional<PassedOver> edit(Job job, Instant now) {
    job.identity = job_.identity;
    job_ = std::move(job);
    drop_unknown_periods(job_, state_);
    const std::optional<PassedOver> late = notice_schedule(job_, state_, now);
    durable_ = state_;
    return late;
  }

  // A crash: what was not made durable is forgotten.
  void crash() { state_ = durable_; }

  Job job_;
  JobState state_;
  JobState durable_;
  std::uint64_t closed_ = 0;
  std::set<Instant> ever_handled_;
  std::vector<std::pair<Instant, Instant>> started_;
  std::uint64_t passed_over_ = 0;
};

std::vector<Instant> nominal_times(const Job& job, Instant first, Instant last) {
  std::vector<Instant> times;
  for (auto p = job.schedule.next_after(first - Seconds(1), job.zone); p && *p <= last;
       p = job.schedule.next_after(*p, job.zone)) {
    times.push_back(*p);
  }
  return times;
}

// Every period due in (from, to] was handled, and started exactly at its time.
void expect_each_at_its_own_time(const Loop& loop, Instant from, Instant to) {
  std::set<std::pair<Instant, Instant>> started(loop.started_.begin(), loop.started_.end());
  std::size_t expected = 0;
  for (const Instant p : nominal_times(loop.job_, from - 40 * kDay, to + 40 * kDay)) {
    const Decision d = decide(loop.job_, p);
    if (d.due() <= from || d.due() > to) continue;
    ++expected;
    EXPECT_TRUE(started.contains({p, d.due()})) << period_id(p) << " due " << rfc3339(d.due());
  }
  EXPECT_GT(expected, 0U);
}

TEST(OpenPeriods, AQuietLoopRunsEveryPeriodAtItsOwnTime) {
  const struct {
    const char* schedule;
    const char* window;
    WindowMode mode;
  } cases[] = {
      {"0 * * * *", "0s", WindowMode::after},      {"0 * * * *", "30m", WindowMode::after},
      {"0 * * * *", "6h", WindowMode::after},      {"0 * * * *", "6h", WindowMode::before},
      {"0 * * * *", "7h", WindowMode::around},     {"0 0 * * *", "36h", WindowMode::around},
      {"*/10 * * * *", "1d", WindowMode::after},   {"@every 90s", "17m", WindowMode::around},
      {"*/7 * * * * *", "3s", WindowMode::before},
  };
  for (const auto& c : cases) {
    const Job job = make_job({.schedule = c.schedule, .window = c.window, .mode = c.mode});
    const Instant start = utc("2026-03-01T10:20:30Z");
    const Seconds length = c.schedule[4] == '/' || c.schedule[0] == '@' ? Seconds(8000) : Seconds(3 * kDay);
    Loop loop(job, start);
    loop.run_quietly(start, start + length);
    SCOPED_TRACE(std::string(c.schedule) + " " + c.window);
    expect_each_at_its_own_time(loop, start, start + length);
    EXPECT_EQ(loop.passed_over_, 0U);
  }
}

TEST(OpenPeriods, HourlyWithASixHourWindowKeepsEarlierPeriodsOpen) {
  const Job job = make_job({.schedule = "0 * * * *", .window = "6h"});
  Loop loop(job, utc("2026-03-01T00:00:00Z"));
  std::size_t most_open = 0;
  std::optional<Instant> wake = utc("2026-03-01T00:00:00Z");
  for (int i = 0; i < 200 && wake; ++i) {
    wake = loop.turn(*wake);
    most_open = std::max(most_open, loop.state_.open_periods.size());
  }
  EXPECT_GE(most_open, 2U);
  EXPECT_LE(most_open, 7U);
}

TEST(OpenPeriods, FirstSightInTheMiddleOfAWindowRunsWhatIsToComeAndNothingThatIsOver) {
  const Job job = make_job({.schedule = "0 0 * * *",
                            .window = "3h",
                            .deadline = "1h",
                            .identity = "prod/db-backup",
                            .salt = "backup"});  // chosen 02:32:20
  Loop early(job, utc("2026-03-01T02:00:00Z"));
  EXPECT_EQ(early.turn(utc("2026-03-01T02:00:00Z")), utc("2026-03-01T02:32:20Z"));
  Loop late(job, utc("2026-03-01T02:40:00Z"));
  EXPECT_GT(late.turn(utc("2026-03-01T02:40:00Z")), utc("2026-03-02T00:00:00Z") - Seconds(1));
  EXPECT_TRUE(late.ever_handled_.empty());
  Loop exact(job, utc("2026-03-01T02:32:20Z"));
  exact.turn(utc("2026-03-01T02:32:20Z"));
  EXPECT_EQ(exact.started_.size(), 1U);
}

TEST(OpenPeriods, LookAheadFindsTimesBeforeTheNominalTime) {
  const Job job = make_job({.schedule = "0 0 * * *", .window = "12h", .mode = WindowMode::before});
  const Instant now = utc("2026-03-01T12:00:00Z");
  const auto next = next_open_period(job, {}, now);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->nominal, utc("2026-03-02T00:00:00Z"));
  EXPECT_LT(*next->chosen, next->nominal);
}

TEST(OpenPeriods, ADayOfDowntimeOfAMinutelyJobRunsAtMostOnePeriod) {
  Loop loop(make_job({.schedule = "* * * * *", .deadline = "10m"}), utc("2026-03-01T00:00:00Z"));
  loop.run_quietly(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T00:10:00Z"));
  const std::size_t before = loop.started_.size();
  loop.turn(utc("2026-03-02T00:10:30Z"));
  EXPECT_EQ(loop.started_.size(), before + 1);
  EXPECT_EQ(loop.started_.back().first, utc("2026-03-02T00:10:00Z"));
  EXPECT_EQ(loop.passed_over_, 24U * 60U - 1);
}

TEST(OpenPeriods, AClockThatReads2036ForAMinuteDoesNotSilenceAJob) {
  for (const char* window : {"0s", "30m", "5h"}) {
    for (const WindowMode mode : {WindowMode::after, WindowMode::before, WindowMode::around}) {
      const Job job = make_job({.schedule = "0 * * * *", .window = window, .mode = mode});
      const Instant start = utc("2026-03-01T00:00:00Z");
      const Instant glitch = start + 2 * kDay + Seconds(1234);
      Loop loop(job, start);
      loop.run_quietly(start, glitch);
      loop.run_quietly(utc("2036-05-05T05:05:05Z"), utc("2036-05-05T05:06:05Z"));
      SCOPED_TRACE(std::string(window) + " " + std::string(name_of(mode)));
      EXPECT_GT(loop.passed_over_, 80000U);
      loop.run_quietly(glitch + Seconds(60), glitch + 5 * kDay);
      expect_each_at_its_own_time(loop, glitch + Seconds(60), glitch + 5 * kDay);
    }
  }
}

// Windows that overlap much leave a patchwork of handled, open and passed-over periods behind the jump.
TEST(OpenPeriods, AClockThatReads2036DoesNotSilenceAJobWhoseWindowsOverlapMuch) {
  const struct {
    const char* schedule;
    const char* window;
    WindowMode mode;
  } cases[] = {
      {"* * * * * *", "180s", WindowMode::after},   {"* * * * * *", "1h", WindowMode::after},
      {"*/3 * * * * *", "12s", WindowMode::around}, {"* * * * *", "3h", WindowMode::after},
      {"* * * * *", "3h", WindowMode::before},      {"*/10 * * * * *", "20m", WindowMode::before},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.schedule) + " " + c.window + " " + std::string(name_of(c.mode)));
    const Job job = make_job({.schedule = c.schedule,
                              .window = c.window,
                              .mode = c.mode,
                              .deadline = "1h",
                              .concurrency = Concurrency::allow});
    const Instant start = utc("2026-03-01T00:00:00Z");
    const Instant wrong = utc("2036-05-05T05:05:05Z");
    Loop loop(job, start);
    loop.run_quietly(start, start + Seconds(5));
    loop.run_quietly(wrong, wrong + Seconds(5));
    const Instant back = start + Seconds(10);
    loop.run_quietly(back, back + Seconds(400));
    for (const Instant p : nominal_times(job, back - kHour, back + 4 * kHour)) {
      const Decision d = decide(job, p);
      if (d.due() <= back || d.due() > back + Seconds(400)) continue;
      EXPECT_TRUE(loop.ever_handled_.contains(p)) << period_id(p) << " due " << rfc3339(d.due());
    }
  }
}

TEST(OpenPeriods, ManyDowntimesInAWrongEraDoNotSilenceAJob) {
  const Job job = make_job({.schedule = "*/2 * * * * *"});
  const Instant start = utc("2026-03-01T00:00:00Z");
  Loop loop(job, start);
  loop.run_quietly(start, start + Seconds(10));
  Instant wrong = utc("2036-03-01T00:00:00Z");
  for (int downtime = 0; downtime < 200; ++downtime) {
    loop.run_quietly(wrong, wrong + Seconds(4));
    wrong += Seconds(60);
  }
  EXPECT_EQ(loop.state_.passed_over.size(), kMostSpans);
  EXPECT_GT(loop.closed_, 0U) << "what the limit closes is told";
  const Instant back = start + Seconds(30);
  loop.run_quietly(back, back + kHour);
  expect_each_at_its_own_time(loop, back, back + kHour);
}

TEST(OpenPeriods, BeyondTheLimitTheSpanWithTheFewestPeriodsBehindUsGoes) {
  const Job job = make_job({.schedule = "* * * * *"});
  const Instant now = utc("2026-03-01T00:00:00Z");
  JobState state;
  state.last_handled = now + 90 * kDay;
  // Behind us one hour each, but for the tenth with half of it; ahead of us one with a single period; and one across.
  for (int i = 0; i < static_cast<int>(kMostSpans) - 2; ++i) {
    const Instant first = now - 80 * kDay + i * kDay;
    state.passed_over.push_back({first, first + (i == 10 ? kHour / 2 : kHour)});
  }
  state.passed_over.push_back({now - kHour, now + 2 * kHour});
  state.passed_over.push_back({now + 10 * kDay, now + 10 * kDay});
  const std::optional<PassedOver> closed = mark_handled(job, state, now + 90 * kDay + Seconds(120), Turn::at(now));
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->count, 31U);
  EXPECT_EQ(closed->first, now - 70 * kDay);
  EXPECT_EQ(state.passed_over.size(), kMostSpans);
}

TEST(OpenPeriods, WhenAllSpansAreAheadThePresentIsKept) {
  const Job job = make_job({.schedule = "0 * * * *"});
  const Instant now = utc("2026-03-01T00:30:00Z");
  JobState state;
  state.last_handled = now + 900 * kDay;
  state.passed_over.push_back({now - kHour, now + kHour});  // two periods, the fewest of all
  for (int i = 1; i < static_cast<int>(kMostSpans); ++i) {
    const Instant first = now + i * 10 * kDay;
    state.passed_over.push_back({first, first + (i == 7 ? 3 : 5) * kHour});
  }
  const std::optional<PassedOver> closed = mark_handled(job, state, now + 901 * kDay, Turn::at(now));
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->count, 3U);
  EXPECT_EQ(closed->first, now + 70 * kDay);
  EXPECT_EQ(next_open_period(job, state, now)->nominal, utc("2026-03-01T01:00:00Z"));
}

TEST(OpenPeriods, AJobFirstSeenAndRunByAClockIn2036RunsOnceTheClockIsRight) {
  for (const char* window : {"0s", "30m", "5h"}) {
    const Job job = make_job({.schedule = "0 * * * *", .window = window});
    Loop loop(job, utc("2036-01-01T00:00:30Z"));
    loop.run_quietly(utc("2036-01-01T00:00:30Z"), utc("2036-01-01T08:00:00Z"));
    EXPECT_FALSE(loop.ever_handled_.empty());
    // Back in two steps: first sight moves back twice.
    const Instant halfway = utc("2030-07-01T00:00:01Z");
    loop.run_quietly(halfway, halfway + kDay);
    expect_each_at_its_own_time(loop, halfway + 5 * kHour, halfway + kDay);
    const Instant back = utc("2026-03-01T00:00:01Z");
    loop.run_quietly(back, back + kDay);
    expect_each_at_its_own_time(loop, back + 5 * kHour, back + kDay);
  }
}

TEST(OpenPeriods, WhatWasHandledUnderALongerWindowIsNotReopenedWhenFirstSightMovesBack) {
  const Instant first_seen = utc("2036-01-01T12:00:00Z");
  Loop loop(make_job({.schedule = "0 * * * *", .window = "10h"}), first_seen);
  loop.run_quietly(first_seen, first_seen + 3 * kHour);
  ASSERT_FALSE(loop.ever_handled_.empty());
  EXPECT_LT(*loop.ever_handled_.begin(), first_seen - kHour) << "a nominal time long before first sight";
  loop.edit(make_job({.schedule = "0 * * * *", .deadline = "1d"}), first_seen + 3 * kHour);
  loop.run_quietly(utc("2036-01-01T00:00:00Z"), first_seen + 20 * kHour);  // checks that none is handled twice
}

TEST(OpenPeriods, AnEditOfTheScheduleStartsNothingThatLayInThePast) {
  Loop loop(make_job({.schedule = "0 * * * *", .deadline = "1d"}), utc("2026-03-01T00:00:00Z"));
  loop.run_quietly(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T09:00:00Z"));
  const std::size_t before = loop.started_.size();
  const auto late = loop.edit(make_job({.schedule = "*/20 * * * *", .deadline = "1d"}), utc("2026-03-01T09:50:00Z"));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->count, 2U);
  EXPECT_EQ(late->first, utc("2026-03-01T09:20:00Z"));
  EXPECT_EQ(late->last, utc("2026-03-01T09:40:00Z"));
  EXPECT_EQ(loop.turn(utc("2026-03-01T09:50:00Z")), utc("2026-03-01T10:00:00Z"));
  EXPECT_EQ(loop.started_.size(), before);
  EXPECT_EQ(loop.passed_over_, 0U) << "told once, by the edit";
  // Late after that is late as ever.
  loop.turn(utc("2026-03-01T10:30:00Z"));
  ASSERT_EQ(loop.started_.size(), before + 1);
  EXPECT_EQ(loop.started_.back().first, utc("2026-03-01T10:20:00Z"));
  EXPECT_EQ(loop.passed_over_, 1U);
}

TEST(OpenPeriods, AnEditOfTheZoneOrTheDstRuleIsAnEditOfTheSchedule) {
  const Job paris = make_job({.schedule = "30 2 * * *", .zone = "Europe/Paris"});
  Job other_rule = paris;
  other_rule.schedule.dst.gap = DstRule::Gap::skip;
  EXPECT_NE(schedule_hash(paris), schedule_hash(make_job({.schedule = "30 2 * * *"})));
  EXPECT_NE(schedule_hash(paris), schedule_hash(other_rule));
  // The same three in other words, and other terms of the job, are no change.
  Job same = make_job({.schedule = "30 2-2 * * *", .window = "1h", .deadline = "5m", .zone = "Europe/Paris"});
  EXPECT_EQ(schedule_hash(paris), schedule_hash(same));
  // On disk for ever.
  EXPECT_EQ(schedule_hash(make_job({.schedule = "0 0 * * *"})), 13198534658827765048U);
}

TEST(OpenPeriods, AStateThatKnowsNoScheduleTakesTheOneItMeets) {
  Loop loop(make_job({.schedule = "0 * * * *", .deadline = "1d"}), utc("2026-03-01T00:00:00Z"));
  loop.run_quietly(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T03:00:00Z"));
  loop.state_.schedule.reset();
  EXPECT_FALSE(loop.edit(make_job({.schedule = "0 * * * *", .deadline = "1d"}), utc("2026-03-01T04:30:00Z")));
  loop.turn(utc("2026-03-01T04:30:00Z"));
  EXPECT_EQ(loop.started_.back().first, utc("2026-03-01T04:00:00Z"));
}

TEST(OpenPeriods, AnEditSeenByAClockIn2036HoldsFromNowOnceTheClockIsRight) {
  Loop loop(make_job({.schedule = "0 * * * *"}), utc("2026-03-01T00:00:00Z"));
  loop.run_quietly(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T03:00:00Z"));
  loop.edit(make_job({.schedule = "30 * * * *"}), utc("2036-03-01T03:10:00Z"));
  loop.run_quietly(utc("2036-03-01T03:10:00Z"), utc("2036-03-01T05:00:00Z"));
  loop.run_quietly(utc("2026-03-01T03:10:00Z"), utc("2026-03-01T12:00:00Z"));
  expect_each_at_its_own_time(loop, utc("2026-03-01T03:10:00Z"), utc("2026-03-01T12:00:00Z"));
}

TEST(OpenPeriods, AJobFirstSeenByAClockIn2036RunsOnceTheClockIsRight) {
  Loop loop(make_job({.schedule = "0 * * * *"}), utc("2036-01-01T00:00:30Z"));
  loop.turn(utc("2036-01-01T00:00:30Z"));
  loop.run_quietly(utc("2026-03-01T00:00:01Z"), utc("2026-03-01T12:00:00Z"));
  EXPECT_EQ(loop.started_.size(), 12U);
}

TEST(OpenPeriods, AfterAQuarantineFirstSightIsAFloorWhateverTheClockDoes) {
  Loop loop(make_job({.schedule = "0 * * * *"}), utc("2026-03-01T06:00:01Z"));
  loop.state_.first_seen_is_floor = true;
  loop.run_quietly(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T12:00:00Z"));
  EXPECT_EQ(loop.started_.size(), 6U);
  EXPECT_EQ(loop.started_.front().first, utc("2026-03-01T07:00:00Z"));
}

TEST(OpenPeriods, AClockThatJumpsBackNeverReopensAHandledPeriod) {
  Loop loop(make_job({.schedule = "*/5 * * * *", .deadline = "1h"}), utc("2026-03-01T00:00:00Z"));
  loop.run_quietly(utc("2026-03-01T00:00:00Z"), utc("2026-03-01T03:00:00Z"));
  const std::size_t before = loop.started_.size();
  loop.run_quietly(utc("2026-03-01T01:00:00Z"), utc("2026-03-01T03:00:00Z"));
  EXPECT_EQ(loop.started_.size(), before);
  loop.run_quietly(utc("2026-03-01T03:00:00Z"), utc("2026-03-01T03:10:00Z"));
  EXPECT_EQ(loop.started_.size(), before + 2);
}

TEST(OpenPeriods, ReopenedPeriodsSurviveALateWakeUp) {
  const Job job = make_job({.schedule = "0 * * * *", .deadline = "10m"});
  Loop loop(job, utc("2026-03-01T00:00:00Z"));
  loop.turn(utc("2036-01-01T00:30:00Z"));
  ASSERT_EQ(loop.turn(utc("2026-03-01T00:30:00Z")), utc("2026-03-01T01:00:00Z"));
  loop.turn(utc("2026-03-01T01:00:07Z"));
  ASSERT_FALSE(loop.started_.empty());
  EXPECT_EQ(loop.started_.back().first, utc("2026-03-01T01:00:00Z"));
}

TEST(OpenPeriods, AnEditDropsOpenPeriodsTheNewScheduleDoesNotProduce) {
  JobState state;
  state.last_handled = utc("2026-03-01T06:00:00Z");
  state.open_periods = {utc("2026-03-01T03:00:00Z"), utc("2026-03-01T04:30:00Z")};
  state.passed_over = {{utc("2026-02-01T00:10:00Z"), utc("2026-02-01T00:20:00Z")},
                       {utc("2026-02-02T00:10:00Z"), utc("2026-02-02T09:20:00Z")}};
  const auto dropped = drop_unknown_periods(make_job({.schedule = "0 * * * *"}), state);
  EXPECT_EQ(dropped, (std::vector{utc("2026-03-01T04:30:00Z"), utc("2026-02-01T00:10:00Z")}));
  EXPECT_EQ(state.open_periods, std::vector{utc("2026-03-01T03:00:00Z")});
  EXPECT_EQ(state.passed_over.size(), 1U);
  EXPECT_EQ(state.last_handled, utc("2026-03-01T06:00:00Z"));
}

TEST(OpenPeriods, TenYearsOfSecondsAreCountedNotScanned) {
  Loop loop(make_job({.schedule = "@every 1s"}), utc("2026-01-01T00:00:00Z"));
  loop.turn(utc("2026-01-01T00:00:00Z"));
  loop.turn(utc("2036-01-01T00:00:00Z"));
  EXPECT_EQ(loop.passed_over_, 315532799U);
}

// The due periods by brute force over every nominal time, from the contract's words.
OpenPeriods by_the_words(const Job& job, const JobState& state, Instant now, Instant from, Instant to) {
  OpenPeriods result;
  std::optional<Decision> latest;
  for (const Instant p : nominal_times(job, from, to)) {
    const Decision d = decide(job, p);
    if (is_closed(state, d, Turn::at(now)) || (state.first_seen && d.due() < *state.first_seen)) continue;
    if (d.due() > now) {
      if (!result.next || std::pair(d.due(), p) < std::pair(result.next->due(), result.next->nominal)) result.next = d;
    } else if (d.due() == now) {
      result.due.push_back(d);
    } else if (!latest || std::pair(d.due(), p) > std::pair(latest->due(), latest->nominal)) {
      latest = d;
    }
  }
  if (result.due.empty() && latest) result.due.push_back(*latest);
  return result;
}

Job random_job() {
  static const char* const kSchedules[] = {"0 * * * *",   "*/10 * * * *", "0 0 * * *", "30 2 * * *",
                                           "0 9 * * 1-5", "@every 37m",   "0 0 1 * *", "17,48 */3 * * *"};
  static const char* const kWindows[] = {"0s", "90s", "30m", "3h", "10h", "2d"};
  static const char* const kDeadlines[] = {"0s", "30s", "10m", "6h"};
  static const char* const kZones[] = {"UTC", "America/New_York", "Australia/Lord_Howe"};
  const auto pick = [](const auto& from) { return from[*rc::gen::inRange<std::size_t>(0, std::size(from))]; };
  return make_job({.schedule = pick(kSchedules),
                   .window = pick(kWindows),
                   .mode = static_cast<WindowMode>(*rc::gen::inRange(0, 3)),
                   .deadline = pick(kDeadlines),
                   .concurrency = static_cast<Concurrency>(*rc::gen::inRange(0, 3)),
                   .identity = "walk/" + std::to_string(*rc::gen::inRange(0, 100)),
                   .zone = pick(kZones)});
}

Seconds random_jump() {
  static constexpr std::int64_t kScales[] = {1, 60, 3600, 86400, 86400 * 30, 86400 * 365};
  const std::int64_t scale = kScales[*rc::gen::inRange<std::size_t>(0, std::size(kScales))];
  return Seconds(scale * *rc::gen::inRange<std::int64_t>(1, 11));
}

RC_GTEST_PROP(OpenPeriods, AgreeWithTheWordsOfTheContract, ()) {
  const Job job = random_job();
  const Instant now = utc("2026-03-08T00:00:00Z") + Seconds(*rc::gen::inRange(0, 86400 * 3));
  JobState state;
  if (*rc::gen::inRange(0, 4) != 0) {
    state.last_handled = job.schedule.at_or_before(now - random_jump() % (20 * kDay), job.zone);
    if (const auto earlier = job.schedule.at_or_before(*state.last_handled - kHour, job.zone)) {
      if (*rc::gen::inRange(0, 2) != 0) state.open_periods = {*earlier};
    }
  }
  if (*rc::gen::inRange(0, 2) != 0) state.first_seen = now - random_jump() % (5 * kDay);
  if (!state.last_handled && !state.first_seen) state.first_seen = now - kDay;
  const OpenPeriods expected = by_the_words(job, state, now, now - 80 * kDay, now + 80 * kDay);
  const OpenPeriods found = open_periods(job, state, Turn::at(now));
  RC_ASSERT(found.due == expected.due);
  RC_ASSERT(found.next == expected.next);
}

// Random walks of the clock, downtime, suspension, long turns, edits and crashes that lose what was not persisted.
// Loop::turn checks at each step that no period is handled twice.
RC_GTEST_PROP(OpenPeriods, AHandledPeriodIsNeverStartedAgainWhateverTheClockDoes, ()) {
  Instant now = utc("2026-03-01T00:00:00Z") + Seconds(*rc::gen::inRange(0, 86400 * 400));
  Loop loop(random_job(), now + (*rc::gen::arbitrary<bool>() ? random_jump() : Seconds(0)));
  std::optional<Instant> wake = now;
  for (int step = 0; step < testing::scaled(60); ++step) {
    Seconds ahead{0};
    switch (*rc::gen::inRange(0, 14)) {
      case 0:
        now += random_jump();
        break;
      case 1:
        now -= random_jump();
        break;
      case 2:  // the identity stays
        loop.edit(random_job(), now);
        break;
      case 3:
        loop.job_.policy.suspend = !loop.job_.policy.suspend;
        break;
      case 4:
        loop.crash();
        break;
      case 5:
        ahead = Seconds(*rc::gen::inRange(1, 4000));
        break;
      default:
        now = wake && *wake > now ? *wake : now + Seconds(60);
    }
    now = std::clamp(now, utc("2010-01-01T00:00:00Z"), utc("2090-01-01T00:00:00Z"));
    wake = loop.turn(now, *rc::gen::arbitrary<bool>(), ahead);
    RC_ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

// However the clock wandered: when it is right again, every period that was not handled comes at its own time.
RC_GTEST_PROP(OpenPeriods, NoJourneyOfTheClockSilencesAJob, ()) {
  const Instant start = utc("2026-03-01T00:00:00Z") + Seconds(*rc::gen::inRange(0, 86400 * 400));
  Loop loop(random_job(), start);
  Instant now = start;
  std::optional<Instant> wake = now;
  for (int step = 0; step < testing::scaled(40); ++step) {
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        now += random_jump();
        break;
      case 1:
        now = start + (now - start) / *rc::gen::inRange(1, 50);
        break;
      case 2:
        loop.crash();
        break;
      default:
        now = wake && *wake > now ? *wake : now + Seconds(60);
    }
    now = std::clamp(now, start, utc("2090-01-01T00:00:00Z"));
    wake = loop.turn(now);
  }
  RC_PRE(loop.closed_ == 0U);
  loop.turn(now);
  const std::set<Instant> handled_before = loop.ever_handled_;
  const Instant end = now + 3 * kDay;
  loop.run_quietly(now, end);
  for (const Instant p : nominal_times(loop.job_, now - 3 * kDay, end + 3 * kDay)) {
    const Decision d = decide(loop.job_, p);
    if (d.due() <= now || d.due() > end || handled_before.contains(p)) continue;
    RC_ASSERT(loop.ever_handled_.contains(p));
  }
  RC_ASSERT_FALSE(::testing::Test::HasFailure());
}

}  // namespace
}  // namespace kron::open_periods_test
