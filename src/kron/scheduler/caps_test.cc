// krond --max-running and pools: what is due and finds no slot waits, as long as its deadline allows.
#include <gtest/gtest.h>
#include <map>

#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"

namespace kron {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::Behaviour;
using testing::Host;
using testing::kMidnight;

struct CappedSpec {
  std::string schedule = "0 0 * * *";
  std::string deadline = "1h";
  Concurrency concurrency = Concurrency::forbid;
  std::string pool = {};
  std::uint32_t slots = 1;
};

jobs::JobDefinition capped(const std::string& name, const CappedSpec& spec = {}) {
  jobs::JobDefinition definition =
      testing::job({.schedule = spec.schedule, .deadline = spec.deadline, .concurrency = spec.concurrency}, name);
  if (spec.pool.empty()) return definition;
  jobs::RunOptions options;
  options.pool = jobs::SlotPool{spec.pool, spec.slots};
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

// Jobs whose commands take as long as said, by name; ten minutes otherwise.
struct CappedHost : Host {
  CappedHost(std::vector<jobs::JobDefinition> definitions, std::size_t max_running,
             std::map<std::string, Seconds> lengths = {})
      : Host(kMidnight - minutes(1)), lengths_(std::move(lengths)) {
    runner.behave([this](const RunSpec& spec) {
      most_alive = std::max(most_alive, runner.alive() + 1);
      const auto known = lengths_.find(spec.command.front());
      return Behaviour{.runs_for = known == lengths_.end() ? Seconds(minutes(10)) : known->second};
    });
    outside.observer = [this](const Event& event) { note(event); };
    outside.max_running = max_running;
    set_jobs(std::move(definitions));
    EXPECT_TRUE(start_daemon());
  }

  void at(Seconds after_midnight) { run_until(kMidnight + after_midnight); }
  std::string violation() { return outside.witness.violation(); }

  // What became of each period, by job and minute: when it started, or its outcome and reason.
  std::map<std::string, std::string> fates = {};
  std::vector<ManualRunDropped> dropped = {};
  std::map<std::string, std::string> unscheduled = {};  // started by hand or by the boot
  std::size_t most_alive = 0;

 private:
  static std::string minute(Instant t) { return rfc3339(t).substr(11, 5); }
  void note(const Event& event) {
    if (const auto* start = std::get_if<RunStarted>(&event)) {
      const std::string text = "started " + rfc3339(start->run.started_at).substr(11, 8);
      if (start->period) fates[start->identity + " " + minute(start->period->nominal)] += text;
      if (!start->period) unscheduled[start->identity] += text;
    } else if (const auto* ended = std::get_if<PeriodEnded>(&event)) {
      fates[ended->identity + " " + minute(ended->period.nominal)] +=
          std::string(name_of(ended->outcome)) + " " + std::string(name_of(ended->reason));
    } else if (const auto* gone = std::get_if<ManualRunDropped>(&event)) {
      dropped.push_back(*gone);
    }
  }
  std::map<std::string, Seconds> lengths_;
};

using Fates = std::map<std::string, std::string>;

TEST(Caps, WhoFindsNoSlotWaitsAndTheFirstInLineGetsTheNext) {
  CappedHost host({capped("z"), capped("y", {.schedule = "1 0 * * *"}), capped("x", {.schedule = "1 0 * * *"})}, 1);
  host.at(minutes(2));
  EXPECT_EQ(host.fates, (Fates{{"z 00:00", "started 00:00:00"}}));
  ASSERT_EQ(host.log.lines_of("period_waits").size(), 2U);
  EXPECT_EQ(host.log.lines_of("period_waits")[0].field("waitsFor"), "max-running");
  EXPECT_EQ(host.log.lines_of("period_waits")[0].field("until"), "2026-03-01T01:01:00Z");
  const auto view = host.scheduler->view("x");
  EXPECT_EQ(view->known.periods.last_handled, std::nullopt) << "nothing is on record while it waits";
  EXPECT_EQ(view->queued->nominal, kMidnight + minutes(1));
  EXPECT_EQ(view->slot_wait->since, kMidnight + minutes(1));
  host.at(minutes(45));
  EXPECT_EQ(host.fates,
            (Fates{{"z 00:00", "started 00:00:00"}, {"x 00:01", "started 00:10:00"}, {"y 00:01", "started 00:20:00"}}));
  EXPECT_EQ(host.most_alive, 1U);
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, APoolLimitsItsOwnJobsOnly) {
  CappedHost host({capped("a", {.pool = "db", .slots = 2}), capped("b", {.pool = "db", .slots = 2}),
                   capped("c", {.pool = "db", .slots = 2}), capped("d"), capped("e")},
                  0);
  host.at(minutes(1));
  EXPECT_EQ(host.fates, (Fates{{"a 00:00", "started 00:00:00"},
                               {"b 00:00", "started 00:00:00"},
                               {"d 00:00", "started 00:00:00"},
                               {"e 00:00", "started 00:00:00"}}));
  EXPECT_EQ(host.log.lines_of("period_waits")[0].field("pool"), "db");
  const auto uses = host.scheduler->slot_uses();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].slots, (Slots::Use{"db", 2, 2, 1, kMidnight, uses[0].slots.longest}));
  EXPECT_EQ(uses[0].longest, "c");
  host.at(minutes(11));
  EXPECT_EQ(host.fates["c 00:00"], "started 00:10:00");
}

TEST(Caps, WhoWaitsIsMissedWhenItsDeadlineIsOver) {
  CappedHost host({capped("a"), capped("b", {.deadline = "5m"})}, 1);
  host.at(minutes(5));
  EXPECT_EQ(host.fates.count("b 00:00"), 0U);
  host.at(minutes(5) + Seconds(2));
  EXPECT_EQ(host.fates["b 00:00"], "missed no slot") << "by a timer: nothing else happens then";
  EXPECT_FALSE(host.scheduler->has_slot_waiters());
}

TEST(Caps, TheLastSecondOfTheDeadlineIsEnough) {
  CappedHost host({capped("a"), capped("b", {.deadline = "10m"})}, 1);
  host.at(minutes(11));
  EXPECT_EQ(host.fates["b 00:00"], "started 00:10:00");
}

TEST(Caps, WithADeadlineOfZeroItIsMissedAtOnce) {
  CappedHost host({capped("a"), capped("b", {.deadline = "0s"})}, 1);
  host.at(Seconds(0));
  host.run_for(Nanoseconds(1));
  EXPECT_EQ(host.fates["b 00:00"], "missed no slot");
  EXPECT_TRUE(host.log.lines_of("period_waits").empty());
}

TEST(Caps, ALaterPeriodTakesThePlaceOfTheOneThatWaits) {
  CappedHost host({capped("a"), capped("b", {.schedule = "*/4 * * * *"})}, 1, {{"b", minutes(1)}});
  host.at(minutes(13));
  EXPECT_EQ(host.fates["b 00:00"], "skipped superseded while waiting");
  EXPECT_EQ(host.fates["b 00:04"], "skipped superseded while waiting");
  EXPECT_EQ(host.fates["b 00:08"], "started 00:10:00");
}

TEST(Caps, TheSlotOfAReplacedRunIsForTheOneThatReplacesIt) {
  const CappedSpec replacing{.schedule = "*/4 * * * *", .concurrency = Concurrency::replace};
  CappedHost host({capped("a", replacing), capped("b", {.schedule = "1 0 * * *"})}, 1);
  host.at(minutes(6));
  EXPECT_EQ(host.fates, (Fates{{"a 00:00", "started 00:00:00"}, {"a 00:04", "started 00:04:00"}}))
      << "b waits since 00:01, and the slot that is freed at 00:04 is not for it";
  EXPECT_EQ(host.most_alive, 1U);
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, WhatReplacesARunInAPoolThatHasShrunkWaitsForASlot) {
  const auto jobs_with = [](std::uint32_t slots) {
    return std::vector{
        capped("a", {.schedule = "*/4 * * * *", .concurrency = Concurrency::replace, .pool = "db", .slots = slots}),
        capped("b", {.pool = "db", .slots = slots})};
  };
  CappedHost host(jobs_with(2), 0);
  host.at(minutes(1));
  ASSERT_TRUE(host.reload(jobs_with(1)));
  host.at(minutes(5));
  EXPECT_EQ(host.fates.count("a 00:04"), 0U) << "b has the one slot";
  EXPECT_EQ(host.runner.alive(), 1U);
  host.at(minutes(11));
  EXPECT_EQ(host.fates["a 00:08"], "started 00:10:00");
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, AQueuedPeriodNeedsASlotWhenItsRunHasEnded) {
  const CappedSpec queued{.schedule = "*/4 * * * *", .concurrency = Concurrency::queue};
  CappedHost host({capped("a", queued), capped("b", {.schedule = "1 0 * * *"})}, 1, {{"a", minutes(5)}});
  host.at(minutes(6));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:05:00") << "it was chosen before";
  EXPECT_TRUE(host.scheduler->view("a")->slot_wait);
  host.at(minutes(17));
  EXPECT_EQ(host.fates["a 00:12"], "started 00:15:00");
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, RunsOfAnEarlierDaemonHaveTheirSlots) {
  CappedHost host({capped("a"), capped("b", {.schedule = "1 0 * * *"})}, 1);
  host.at(minutes(2));
  ASSERT_TRUE(host.restart_daemon());
  host.at(minutes(3));
  EXPECT_EQ(host.runner.alive(), 1U);
  EXPECT_EQ(host.log.lines_of("period_waits").size(), 2U) << "it is judged anew, and waits again";
  host.at(minutes(11));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:10:00");
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, WhoWaitedIsJudgedAnewAfterAKill) {
  CappedHost host(
      {capped("a"), capped("b", {.schedule = "1 0 * * *"}), capped("c", {.schedule = "1 0 * * *", .deadline = "5m"})},
      1);
  host.at(minutes(2));
  host.kill_daemon();
  host.pass(minutes(20));
  ASSERT_TRUE(host.start_daemon());
  host.run_for(minutes(1));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:22:00");
  EXPECT_EQ(host.fates["c 00:01"], "missed deadline") << "krond was not there: it had no slot, and nobody looked";
}

TEST(Caps, ALoweredCapEndsNoRunAndLetsNobodyStartUntilEnoughHaveEnded) {
  const auto jobs_with = [](std::uint32_t slots) {
    std::vector<jobs::JobDefinition> all;
    for (const char* name : {"a", "b", "c", "d"}) all.push_back(capped(name, {.pool = "db", .slots = slots}));
    return all;
  };
  CappedHost host(jobs_with(3), 0, {{"a", minutes(10)}, {"b", minutes(20)}, {"c", minutes(30)}});
  host.at(minutes(1));
  EXPECT_EQ(host.runner.alive(), 3U);
  ASSERT_TRUE(host.reload(jobs_with(1)));
  host.at(minutes(25));
  EXPECT_EQ(host.runner.alive(), 1U);
  EXPECT_EQ(host.fates.count("d 00:00"), 0U);
  host.at(minutes(31));
  EXPECT_EQ(host.fates["d 00:00"], "started 00:30:00");
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, ARaisedCapStartsThoseWhoWaitAtOnce) {
  const auto jobs_with = [](std::uint32_t slots) {
    return std::vector{capped("a", {.pool = "db", .slots = slots}), capped("b", {.pool = "db", .slots = slots})};
  };
  CappedHost host(jobs_with(1), 0);
  host.at(minutes(3));
  ASSERT_TRUE(host.reload(jobs_with(2)));
  host.at(minutes(4));
  EXPECT_EQ(host.fates["b 00:00"], "started 00:03:00");
}

TEST(Caps, AJobThatIsGoneOrPausedLeavesTheLine) {
  const auto later = [](const char* name) { return capped(name, {.schedule = "1 0 * * *"}); };
  CappedHost host({capped("a"), later("b"), later("c"), later("d")}, 1);
  host.at(minutes(2));
  ASSERT_TRUE(host.scheduler->suspend("b", std::nullopt));
  ASSERT_TRUE(host.reload({capped("a"), later("b"), later("d")}));
  host.at(minutes(12));
  EXPECT_EQ(host.fates["d 00:01"], "started 00:10:00");
  EXPECT_EQ(host.fates.count("b 00:01") + host.fates.count("c 00:01"), 0U);
  ASSERT_TRUE(host.scheduler->resume("b"));
  host.at(minutes(13));
  EXPECT_TRUE(host.scheduler->view("b")->slot_wait) << "the late rule, and no slot";
  host.at(minutes(21));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:20:00");
}

TEST(Caps, ARunOfAJobThatIsGoneKeepsItsSlotUntilItEnds) {
  CappedHost host({capped("a", {.pool = "db"}), capped("b", {.schedule = "1 0 * * *", .pool = "db"})}, 0);
  host.at(Seconds(30));
  ASSERT_TRUE(host.reload({capped("b", {.schedule = "1 0 * * *", .pool = "db"})}));
  host.at(minutes(2));
  EXPECT_TRUE(host.scheduler->view("b")->slot_wait);
  host.at(minutes(11));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:10:00");
}

TEST(Caps, AJobThatLeavesItsPoolTakesItsRunWithIt) {
  CappedHost host({capped("a", {.pool = "db"}), capped("b", {.schedule = "1 0 * * *", .pool = "db"})}, 0);
  host.at(minutes(2));
  ASSERT_TRUE(host.reload({capped("a"), capped("b", {.schedule = "1 0 * * *", .pool = "db"})}));
  host.at(minutes(3));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:02:00");
}

TEST(Caps, WhatWaitsIsLeftToTheNextDaemonWhenThisOneStops) {
  CappedHost host({capped("a"), capped("b", {.schedule = "1 0 * * *"})}, 1);
  host.at(minutes(2));
  host.scheduler->stop_starting();
  host.at(minutes(12));
  EXPECT_EQ(host.fates.count("b 00:01"), 0U);
  ASSERT_TRUE(host.restart_daemon());
  host.at(minutes(13));
  EXPECT_EQ(host.fates["b 00:01"], "started 00:12:00");
}

TEST(Caps, ADiskThatIsFullKeepsTheSlotOfARunWhoseEndIsNotOnRecord) {
  CappedHost host({capped("a"), capped("b", {.schedule = "1 0 * * *"})}, 1);
  host.at(minutes(9));
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.at(minutes(12));
  EXPECT_EQ(host.fates.count("b 00:01"), 0U);
  host.file_system->fail_when(nullptr);
  host.at(minutes(13));
  EXPECT_EQ(host.fates["b 00:01"].substr(0, 13), "started 00:12");
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, ARunByHandWaitsToo) {
  CappedHost host({capped("a"), capped("b", {.schedule = "0 5 * * *"})}, 1);
  host.at(minutes(1));
  EXPECT_EQ(host.scheduler->trigger("b", "key")->how, Triggered::How::waiting);
  EXPECT_EQ(host.scheduler->trigger("b", "key")->how, Triggered::How::already_known);
  EXPECT_EQ(host.scheduler->trigger("b").error().code, Code::conflict) << "at most one waits";
  ASSERT_EQ(host.log.lines_of("run_waits").size(), 1U);
  host.at(minutes(11));
  EXPECT_EQ(host.unscheduled["b"], "started 00:10:00");
  EXPECT_TRUE(host.dropped.empty());
}

TEST(Caps, ARunByHandWaitsNoLongerThanTheDeadline) {
  CappedHost host({capped("a"), capped("b", {.schedule = "0 5 * * *", .deadline = "3m"})}, 1);
  host.at(minutes(1));
  const auto promised = host.scheduler->trigger("b");
  host.at(minutes(5));
  ASSERT_EQ(host.dropped.size(), 1U);
  EXPECT_EQ(host.dropped[0].run_id, promised->run_id);
  EXPECT_EQ(host.dropped[0].reason, Reason::no_slot);
  EXPECT_EQ(host.dropped[0].at, kMidnight + minutes(4));
}

TEST(Caps, ARunByHandThatMayNotWaitIsRefused) {
  CappedHost host({capped("a"), capped("b", {.schedule = "0 5 * * *", .deadline = "0s"})}, 1);
  host.at(minutes(1));
  const auto refused = host.scheduler->trigger("b");
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("--max-running"), std::string::npos);
  host.at(minutes(11));
  EXPECT_EQ(host.scheduler->trigger("b")->how, Triggered::How::started);
}

TEST(Caps, APeriodThatIsDueTakesThePlaceOfARunByHand) {
  CappedHost host({capped("a"), capped("b", {.schedule = "5 0 * * *"})}, 1);
  host.at(minutes(1));
  ASSERT_EQ(host.scheduler->trigger("b")->how, Triggered::How::waiting);
  host.at(minutes(12));
  ASSERT_EQ(host.dropped.size(), 1U);
  EXPECT_EQ(host.dropped[0].reason, Reason::superseded_while_waiting);
  EXPECT_EQ(host.fates["b 00:05"], "started 00:10:00");
  EXPECT_TRUE(host.unscheduled.empty());
}

TEST(Caps, ARunByHandThatWaitsIsGivenUpWhenKrondStops) {
  CappedHost host({capped("a"), capped("b", {.schedule = "0 5 * * *"})}, 1);
  host.at(minutes(1));
  ASSERT_EQ(host.scheduler->trigger("b")->how, Triggered::How::waiting);
  host.scheduler->stop_starting();
  ASSERT_EQ(host.dropped.size(), 1U);
}

TEST(Caps, AnEditMovesARunByHandToAnotherLine) {
  CappedHost host({capped("a", {.pool = "x"}), capped("b", {.schedule = "0 5 * * *", .pool = "x"})}, 0);
  host.at(minutes(1));
  ASSERT_EQ(host.scheduler->trigger("b")->how, Triggered::How::waiting);
  ASSERT_TRUE(host.reload({capped("a", {.pool = "x"}), capped("b", {.schedule = "0 5 * * *", .pool = "y"})}));
  host.at(minutes(2));
  EXPECT_EQ(host.unscheduled["b"], "started 00:01:00");
  ASSERT_TRUE(host.reload({capped("a", {.pool = "x"}), capped("b", {.schedule = "0 5 * * *"})}));
  EXPECT_EQ(host.scheduler->slot_uses().size(), 1U) << "y is gone";
}

TEST(Caps, AJobOfTheBootWaitsToo) {
  CappedHost host({capped("a", {.schedule = "@reboot"}), capped("b", {.schedule = "@reboot"}),
                   capped("c", {.schedule = "@reboot", .deadline = "0s"})},
                  1);
  host.at(minutes(1));
  EXPECT_EQ(host.fates, (Fates{{"c 23:59", "missed no slot"}}));
  EXPECT_EQ(host.unscheduled, (Fates{{"a", "started 23:59:00"}}));
  host.at(minutes(10));
  ASSERT_TRUE(host.restart_daemon());
  host.at(minutes(30));
  EXPECT_EQ(host.unscheduled, (Fates{{"a", "started 23:59:00"}, {"b", "started 00:09:00"}}))
      << "none has run twice in a boot";
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, AJobOfTheBootThatWaitsIsNotForgottenByARestart) {
  CappedHost host({capped("a", {.schedule = "@reboot"}), capped("b", {.schedule = "@reboot"})}, 1);
  host.at(minutes(1));
  host.kill_daemon();
  host.pass(minutes(20));
  ASSERT_TRUE(host.start_daemon());
  host.run_for(minutes(1));
  EXPECT_EQ(host.unscheduled["b"], "started 00:21:00");
}

TEST(Caps, AClockThatGoesBackStartsThePeriodAtItsTime) {
  CappedHost host({capped("a"), capped("b", {.schedule = "5 0 * * *"})}, 1);
  host.at(minutes(6));
  host.clock.jump(-minutes(5));  // 00:01; the run ends at 00:05 by this clock
  host.run_for(minutes(5));
  EXPECT_EQ(host.fates["b 00:05"], "started 00:05:00");
}

TEST(Caps, WhatIsFoundLateStandsInLineByItsChosenTime) {
  CappedHost host({capped("a", {.schedule = "30 0 * * *"}), capped("b", {.schedule = "5 0 * * *"}),
                   capped("c", {.schedule = "4 0 * * *"})},
                  1);
  host.kill_daemon();
  host.pass(minutes(31));  // 00:30
  ASSERT_TRUE(host.start_daemon());
  host.at(minutes(62));
  EXPECT_EQ(host.most_alive, 1U);
  EXPECT_LT(host.fates["c 00:04"], host.fates["b 00:05"]);
}

// Each freed slot looks at one of them; if it looked at all, this would take minutes.
TEST(Caps, TenThousandGoThroughFourSlotsOneByOne) {
  constexpr int kJobs = 10'000;
  std::vector<jobs::JobDefinition> all;
  for (int i = 0; i < kJobs; ++i) {
    all.push_back(capped("job/" + std::to_string(10'000 + i), {.deadline = "10h", .pool = "db", .slots = 4}));
  }
  CappedHost host(std::move(all), 0);
  host.runner.behave([&host](const RunSpec&) {
    host.most_alive = std::max(host.most_alive, host.runner.alive() + 1);
    return Behaviour{.runs_for = Seconds(10)};
  });
  host.at(Seconds(5));
  EXPECT_EQ(host.scheduler->slot_uses()[0].slots.waiting, kJobs - 4U);
  host.at(hours(8));
  EXPECT_EQ(host.fates.size(), static_cast<std::size_t>(kJobs));
  for (const auto& [job, fate] : host.fates) ASSERT_EQ(fate.substr(0, 8), "started ") << job;
  EXPECT_EQ(host.most_alive, 4U);
  EXPECT_EQ(host.fates["job/10004 00:00"], "started 00:00:10");
  EXPECT_EQ(host.fates["job/19999 00:00"], "started 06:56:30");
  EXPECT_EQ(host.violation(), "");
}

TEST(Caps, TheDeadlinesOfManyWhoWaitAreOverOnTime) {
  constexpr int kJobs = 2000;
  std::vector<jobs::JobDefinition> all;
  for (int i = 0; i < kJobs; ++i) all.push_back(capped("job/" + std::to_string(i), {.deadline = "5m"}));
  CappedHost host(std::move(all), 4);
  host.at(minutes(5) + Seconds(3));
  EXPECT_EQ(host.fates.size(), static_cast<std::size_t>(kJobs));
  EXPECT_FALSE(host.scheduler->has_slot_waiters());
}

}  // namespace
}  // namespace kron
