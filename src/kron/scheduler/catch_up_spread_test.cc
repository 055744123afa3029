// catchUpSpread: periods that are found late do not all start at once.
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "kron/core/catch_up.h"
#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"

namespace kron {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::Behaviour;
using testing::Host;
using testing::job;
using testing::kMidnight;
using testing::utc;

struct LateHost : Host {
  explicit LateHost(std::vector<jobs::JobDefinition> jobs) : Host(kMidnight) {
    runner.behave([](const RunSpec&) { return Behaviour{.runs_for = Seconds(5)}; });
    outside.observer = [this](const Event& event) {
      if (const auto* start = std::get_if<RunStarted>(&event)) starts[start->identity].push_back(start->run.started_at);
      if (const auto* ended = std::get_if<PeriodEnded>(&event)) outcomes.push_back(ended->outcome);
    };
    set_jobs(std::move(jobs));
    EXPECT_TRUE(start_daemon());
    run_until(kMidnight + minutes(1));
  }

  // Nobody is there from 00:01 until `time`.
  void be_down_until(Instant time) {
    kill_daemon();
    pass(time - clock.wall());
    starts.clear();
    ASSERT_TRUE(start_daemon());
  }

  std::map<std::string, std::vector<Instant>> starts;
  std::vector<Outcome> outcomes;
};

jobs::JobDefinition hourly(const std::string& name, std::optional<Seconds> spread,
                           const std::string& deadline = "50m") {
  jobs::JobDefinition definition = job({.schedule = "0 * * * *", .deadline = deadline}, name);
  definition.job.policy.catch_up_spread = spread;
  return definition;
}

// When it has to start, if it is found late at `now`.
Instant expected(const jobs::JobDefinition& definition, Instant nominal, Seconds spread, Instant now) {
  return catch_up_start(decide(definition.job, nominal), definition.job.policy.deadline, spread, now);
}

TEST(CatchUpSpread, WhatIsLateAtTheStartIsSpreadBySeed) {
  std::vector<jobs::JobDefinition> definitions;
  for (int i = 0; i < 30; ++i) definitions.push_back(hourly("job/" + std::to_string(i), minutes(10)));
  LateHost host(definitions);
  const Instant back = kMidnight + hours(3) + minutes(20);
  host.be_down_until(back);
  host.run_for(minutes(11));
  std::set<Instant> times;
  for (const auto& definition : definitions) {
    const std::vector<Instant>& starts = host.starts[definition.job.identity];
    ASSERT_EQ(starts.size(), 1U) << definition.job.identity;
    EXPECT_EQ(starts[0], expected(definition, kMidnight + hours(3), minutes(10), back));
    times.insert(starts[0]);
  }
  EXPECT_GT(times.size(), 20U);
  EXPECT_TRUE(host.outcomes.empty());
  EXPECT_GT(host.log.lines_of("start_spread").size(), 20U);
}

TEST(CatchUpSpread, WhatIsSpreadIsHeldUpUntilItStartsOrItsJobIsPaused) {
  const jobs::JobDefinition definition = hourly("a", minutes(10));
  LateHost host({definition});
  const Instant back = kMidnight + hours(3) + minutes(10);
  const Instant start = expected(definition, kMidnight + hours(3), minutes(10), back);
  ASSERT_GT(start, back);
  EXPECT_FALSE(host.scheduler->view("a")->held_up);
  host.be_down_until(back);
  host.run_until(start - Seconds(1));
  ASSERT_TRUE(host.scheduler->view("a")->held_up);
  EXPECT_EQ(host.scheduler->view("a")->held_up->nominal, kMidnight + hours(3));
  ASSERT_TRUE(host.scheduler->suspend("a", std::nullopt));
  EXPECT_FALSE(host.scheduler->view("a")->held_up);
  ASSERT_TRUE(host.scheduler->resume("a"));
  host.run_for(Seconds(1));
  EXPECT_TRUE(host.scheduler->view("a")->held_up) << "it is found late once more";
  host.run_for(minutes(11));
  EXPECT_EQ(host.starts["a"].size(), 1U);
  EXPECT_FALSE(host.scheduler->view("a")->held_up);
}

TEST(CatchUpSpread, TheDaemonSaysItWhereThePolicyDoesNot) {
  const jobs::JobDefinition plain = hourly("a", std::nullopt);
  const jobs::JobDefinition at_once = hourly("b", Seconds(0));
  LateHost host({plain, at_once});
  host.outside.catch_up_spread = minutes(30);
  const Instant back = kMidnight + hours(2) + minutes(5);
  host.be_down_until(back);
  host.run_for(minutes(31));
  EXPECT_EQ(host.starts["a"], std::vector{expected(plain, kMidnight + hours(2), minutes(30), back)});
  EXPECT_GT(host.starts["a"].at(0), back);
  EXPECT_EQ(host.starts["b"], std::vector{back});
}

TEST(CatchUpSpread, TheDeadlineBoundsIt) {
  for (int i = 0; i < 10; ++i) {
    LateHost host({hourly("job/" + std::to_string(i), hours(10), "20m")});
    host.be_down_until(kMidnight + hours(1) + minutes(15));
    host.run_for(minutes(10));
    EXPECT_EQ(host.starts.size(), 1U);
    EXPECT_TRUE(host.outcomes.empty()) << "nothing is missed for the sake of the spread";
  }
}

TEST(CatchUpSpread, WhatIsOnTimeOrFoundSoonStartsAtOnce) {
  LateHost host({hourly("a", minutes(10))});
  host.be_down_until(kMidnight + hours(1) + Seconds(10));
  host.run_for(minutes(1));
  EXPECT_EQ(host.starts["a"], std::vector{kMidnight + hours(1) + Seconds(10)});
  host.run_until(kMidnight + hours(2) + minutes(1));
  EXPECT_EQ(host.starts["a"].back(), kMidnight + hours(2));
}

TEST(CatchUpSpread, AResumeAndAJumpOfTheClockSpreadToo) {
  const jobs::JobDefinition definition = hourly("a", minutes(10));
  LateHost host({definition});
  ASSERT_TRUE(host.scheduler->suspend("a", std::nullopt));
  host.run_until(kMidnight + hours(2) + minutes(7));
  host.starts.clear();
  ASSERT_TRUE(host.scheduler->resume("a"));
  host.run_for(minutes(11));
  EXPECT_EQ(host.starts["a"],
            std::vector{expected(definition, kMidnight + hours(2), minutes(10), kMidnight + hours(2) + minutes(7))});
  host.starts.clear();
  host.clock.jump(hours(2));
  const Instant then = now(host.clock);
  host.run_for(minutes(11));
  EXPECT_EQ(host.starts["a"], std::vector{expected(definition, kMidnight + hours(4), minutes(10), then)});
}

TEST(CatchUpSpread, ALaterPeriodIsJudgedInItsStead) {
  // Found at 01:50 with a spread until 02:40; at 02:00 the next is due, and on time.
  jobs::JobDefinition late;
  for (int i = 0;; ++i) {
    late = hourly("job/" + std::to_string(i), minutes(50), "100m");
    const Instant found = kMidnight + hours(1) + minutes(50);
    if (expected(late, kMidnight + hours(1), minutes(50), found) > kMidnight + hours(2) + minutes(1)) break;
  }
  LateHost host({late});
  host.be_down_until(kMidnight + hours(1) + minutes(50));
  host.run_for(minutes(60));
  EXPECT_EQ(host.starts[late.job.identity], std::vector{kMidnight + hours(2)});
  EXPECT_EQ(host.log.lines_of("passed_over").size(), 1U);
}

TEST(CatchUpSpread, ARestartDrawsAgainWithinWhatIsLeft) {
  const jobs::JobDefinition definition = hourly("a", minutes(40));
  LateHost host({definition});
  host.be_down_until(kMidnight + hours(1) + minutes(5));
  const Instant first = expected(definition, kMidnight + hours(1), minutes(40), now(host.clock));
  ASSERT_GT(first, now(host.clock) + minutes(1));
  host.run_for(minutes(1));
  EXPECT_TRUE(host.starts.empty());
  ASSERT_TRUE(host.restart_daemon());
  const Instant second = expected(definition, kMidnight + hours(1), minutes(40), now(host.clock));
  host.run_for(minutes(50));
  EXPECT_EQ(host.starts["a"].at(0), second);
}

TEST(CatchUpSpread, NothingThatIsSpreadStartsWhilePausedOrRemoved) {
  const jobs::JobDefinition definition = hourly("a", minutes(40));
  LateHost host({definition});
  host.be_down_until(kMidnight + hours(1) + minutes(5));
  host.run_for(Seconds(10));
  ASSERT_TRUE(host.scheduler->suspend("a", std::nullopt));
  host.run_for(minutes(50));
  EXPECT_TRUE(host.starts.empty());
  ASSERT_TRUE(host.reload({}));
  host.run_for(minutes(50));
  EXPECT_TRUE(host.starts.empty());
}

// A run before it made it wait; it was found in time.
TEST(CatchUpSpread, WhatHasWaitedForARunStartsAtItsEnd) {
  jobs::JobDefinition definition = hourly("a", minutes(10));
  definition.job.policy.concurrency = Concurrency::queue;
  LateHost host({definition});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(65)}; });
  host.run_until(kMidnight + hours(2) + minutes(6));
  EXPECT_EQ(host.starts["a"].back(), kMidnight + hours(2) + minutes(5));
}

TEST(CatchUpSpread, AFullDiskDoesNotSpreadItTwice) {
  const jobs::JobDefinition definition = hourly("a", minutes(10));
  LateHost host({definition});
  host.be_down_until(kMidnight + hours(1) + minutes(5));
  const Instant start = expected(definition, kMidnight + hours(1), minutes(10), now(host.clock));
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(start + Seconds(12));
  EXPECT_TRUE(host.starts.empty());
  host.file_system->fail_when(nullptr);
  host.run_for(Seconds(6));
  EXPECT_EQ(host.starts["a"].size(), 1U);
}

}  // namespace
}  // namespace kron
