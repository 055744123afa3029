#include "kron/core/open_periods.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <set>
#include <vector>

#include "kron/core/evaluate.h"
#include "kron/core/sample_jobs.h"
#include "kron/testing/scale.h"

namespace kron {
namespace {

using testing::make_job;
using testing::utc;

constexpr Seconds kHour{3600};
constexpr Seconds kDay{86400};

// A scheduler reduced to its rules: settles, evaluates until it waits, and remembers everything it ever did.
class Loop {
 public:
  Loop(Job job, Instant first_seen) : job_(std::move(job)) { state_.first_seen = first_seen; }

  // One turn; returns when to wake, and checks what must hold at every turn.
  std::optional<Instant> turn(Instant now, bool active = false) {
    settle(job_, state_, now);
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
      mark_handled(job_, state_, period.nominal, Turn::at(now));
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

  Job job_;
  JobState state_;
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

// Random walks of the clock, downtime, suspension, edits and crashes that lose what was not persisted. Loop::turn
// checks at each step that no period is handled twice.
RC_GTEST_PROP(OpenPeriods, AHandledPeriodIsNeverStartedAgainWhateverTheClockDoes, ()) {
  Instant now = utc("2026-03-01T00:00:00Z") + Seconds(*rc::gen::inRange(0, 86400 * 400));
  Loop loop(random_job(), now);
  std::optional<Instant> wake = now;
  for (int step = 0; step < testing::scaled(60); ++step) {
    switch (*rc::gen::inRange(0, 12)) {
      case 0:
        now += random_jump();
        break;
      case 1:
        now -= random_jump();
        break;
      case 2: {  // an edit; the identity stays
        Job edited = random_job();
        edited.identity = loop.job_.identity;
        loop.job_ = edited;
        drop_unknown_periods(loop.job_, loop.state_);
        break;
      }
      case 3:
        loop.job_.policy.suspend = !loop.job_.policy.suspend;
        break;
      default:
        now = wake && *wake > now ? *wake : now + Seconds(60);
    }
    now = std::clamp(now, utc("2010-01-01T00:00:00Z"), utc("2090-01-01T00:00:00Z"));
    wake = loop.turn(now, *rc::gen::arbitrary<bool>());
    RC_ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace kron
