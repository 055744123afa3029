#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "kron/core/sample_jobs.h"
#include "kron/scheduler/fake/host.h"

// What an operator asks of a scheduler, and what it tells.
namespace kron {
namespace {

using jobs::JobDefinition;
using std::chrono::minutes;
using testing::Behaviour;
using ::testing::ElementsAre;
using testing::Host;
using testing::utc;
using How = Scheduler::Triggered::How;

JobDefinition hourly(std::string name, Concurrency concurrency = Concurrency::allow) {
  JobDefinition definition;
  definition.job = testing::make_job({.schedule = "0 * * * *", .concurrency = concurrency, .identity = name});
  definition.action = jobs::Command{std::move(name)};
  return definition;
}

struct OperatedHost : Host {
  explicit OperatedHost(std::vector<JobDefinition> definitions) : Host(utc("2026-03-01T00:10:00Z")) {
    set_jobs(std::move(definitions));
    outside.observer = [this](const Event& event) { told.push_back(event); };
    EXPECT_TRUE(start_daemon());
  }

  template <class Kind>
  std::vector<Kind> told_of() const {
    std::vector<Kind> found;
    for (const Event& event : told) {
      if (const auto* kind = std::get_if<Kind>(&event)) found.push_back(*kind);
    }
    return found;
  }

  std::vector<Event> told;
};

TEST(Operator, OneKeyStartsOneRunHoweverOftenItIsSent) {
  OperatedHost host({hourly("a"), hourly("b")});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(1), .exit_code = 0}; });
  const auto first = host.scheduler->trigger("a", "key").value();
  EXPECT_EQ(first.how, How::started);
  const auto again = host.scheduler->trigger("a", "key").value();
  EXPECT_EQ(again.how, How::already_known) << "while it runs";
  EXPECT_EQ(again.run_id, first.run_id);
  host.run_for(minutes(2));
  EXPECT_EQ(host.scheduler->trigger("a", "key").value().how, How::already_known) << "when it has ended";
  ASSERT_TRUE(host.restart_daemon());
  EXPECT_EQ(host.scheduler->trigger("a", "key").value().how, How::already_known) << "after a restart";
  EXPECT_EQ(host.scheduler->trigger("a", "other").value().how, How::started);
  EXPECT_EQ(host.scheduler->trigger("b", "key").value().how, How::started) << "another job";
  EXPECT_EQ(host.scheduler->trigger("a").value().how, How::started) << "without a key";
}

TEST(Operator, WhatIsAskedForIsToldWithWhoAskedAndWhatHeSaid) {
  OperatedHost host({hourly("a"), hourly("b", Concurrency::replace)});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(90), .exit_code = 0}; });
  const Attribution ada{"ada", "a try"};
  const auto ignore = [](const auto&) {};
  host.scheduler->trigger("a", "key", ignore, ada);
  host.scheduler->trigger("a", "key", ignore, ada);
  host.scheduler->trigger("b", "", ignore, ada);
  host.scheduler->settle_requests();
  host.scheduler->trigger("b", "", ignore, {"bob"});
  host.scheduler->settle_requests();
  const auto requested = host.told_of<RunRequested>();
  ASSERT_EQ(requested.size(), 3U) << "a repetition is none";
  EXPECT_EQ(requested[0].identity, "a");
  EXPECT_EQ(requested[0].from, ada);
  EXPECT_EQ(requested[0].how, How::started);
  EXPECT_EQ(requested[2].how, How::waiting);
  EXPECT_EQ(requested[2].from, Attribution{"bob"});
  const auto is_of_a = [](const Event& event) {
    const auto* request = std::get_if<RunRequested>(&event);
    const auto* start = std::get_if<RunStarted>(&event);
    return (request != nullptr && request->identity == "a") || (start != nullptr && start->identity == "a");
  };
  const auto first = std::ranges::find_if(host.told, is_of_a);
  ASSERT_NE(first, host.told.end());
  EXPECT_TRUE(std::holds_alternative<RunRequested>(*first)) << "it is asked for before it starts";
  ASSERT_TRUE(host.scheduler->terminate(requested[0].run_id, ada));
  ASSERT_TRUE(host.scheduler->kill(requested[0].run_id, {"bob"}));
  EXPECT_FALSE(host.scheduler->kill("nobody", ada));
  const auto signalled = host.told_of<RunSignalled>();
  ASSERT_EQ(signalled.size(), 2U);
  EXPECT_EQ(signalled[0].signal + signalled[0].identity + signalled[0].from.by, "TERMaada");
  EXPECT_EQ(signalled[1].signal + signalled[1].from.by, "KILLbob");
}

TEST(Operator, APauseKeepsWhoAskedForItOverARestartAndIsToldOnce) {
  OperatedHost host({hourly("a")});
  const auto ignore = [](const auto&) {};
  host.scheduler->suspend("a", std::nullopt, false, ignore, {"ada", "disk is full"});
  host.scheduler->settle_requests();
  const Suspension first = host.scheduler->view("a")->known.periods.suspended.value();
  EXPECT_EQ(first.by + ": " + first.note, "ada: disk is full");
  host.run_for(minutes(5));
  host.scheduler->suspend("a", std::nullopt, false, ignore, {"ada", "disk is full"});
  host.scheduler->settle_requests();
  EXPECT_EQ(host.scheduler->view("a")->known.periods.suspended, first) << "as if the first answer was lost";
  EXPECT_EQ(host.told_of<JobPaused>().size(), 1U);
  host.scheduler->suspend("a", std::nullopt, true, ignore, {"bob", ""});
  host.scheduler->settle_requests();
  ASSERT_TRUE(host.restart_daemon());
  const Suspension second = host.scheduler->view("a")->known.periods.suspended.value();
  EXPECT_EQ(second, (Suspension{first.since, std::nullopt, true, "bob", ""})) << "paused all the time";
  ASSERT_EQ(host.told_of<JobPaused>().size(), 2U);
  EXPECT_EQ(host.told_of<JobPaused>()[1].pause, second);
  for (int i = 0; i < 2; ++i) host.scheduler->resume("a", false, ignore, {"ada", "done"});
  host.scheduler->settle_requests();
  ASSERT_EQ(host.told_of<JobResumed>().size(), 1U) << "there was nothing left to resume";
  EXPECT_EQ(host.told_of<JobResumed>()[0].from, (Attribution{"ada", "done"}));
}

TEST(Operator, APauseThatHasEndedByItselfIsFollowedByAnotherOne) {
  OperatedHost host({hourly("a")});
  ASSERT_TRUE(host.scheduler->suspend("a", utc("2026-03-01T00:20:00Z")));
  host.run_until(utc("2026-03-01T00:30:00Z"));
  ASSERT_TRUE(host.scheduler->suspend("a", std::nullopt));
  EXPECT_EQ(host.scheduler->view("a")->known.periods.suspended->since, utc("2026-03-01T00:30:00Z"));
}

TEST(Operator, APauseThatIsNotDurableIsNotTold) {
  OperatedHost host({hourly("a")});
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  EXPECT_FALSE(host.scheduler->suspend("a", std::nullopt));
  EXPECT_FALSE(host.scheduler->trigger("a"));
  EXPECT_TRUE(host.told_of<JobPaused>().empty());
  EXPECT_TRUE(host.told_of<RunRequested>().empty());
}

TEST(OneJob, ThatIsPutRunsFromNowOnAndOthersAreNotTouched) {
  OperatedHost host({hourly("a")});
  ASSERT_TRUE(host.scheduler->put(hourly("b")));
  EXPECT_EQ(host.scheduler->job_count(), 2U);
  host.run_for(minutes(60));
  std::vector<std::string> started;
  for (const RunStarted& run : host.told_of<RunStarted>()) started.push_back(run.identity);
  EXPECT_THAT(started, ::testing::UnorderedElementsAre("a", "b"));
}

TEST(OneJob, ThatIsPutAgainIsAnotherOne) {
  OperatedHost host({hourly("a")});
  JobDefinition suspended = hourly("a");
  suspended.job.policy.suspend = true;
  ASSERT_TRUE(host.scheduler->put(suspended));
  host.run_for(minutes(60));
  EXPECT_TRUE(host.told_of<RunStarted>().empty());
  ASSERT_TRUE(host.scheduler->put(hourly("a")));
  host.run_for(minutes(60));
  EXPECT_EQ(host.told_of<RunStarted>().size(), 1U);
  EXPECT_EQ(host.scheduler->job_count(), 1U);
}

TEST(OneJob, ThatIsDroppedDoesNotRunAndItsRunGoesOn) {
  OperatedHost host({hourly("a"), hourly("b")});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(90), .exit_code = 0}; });
  host.run_for(minutes(55));
  ASSERT_EQ(host.scheduler->active_runs(), 2U);
  ASSERT_TRUE(host.scheduler->drop("a"));
  EXPECT_EQ(host.scheduler->drop("a").error().code, Code::not_found);
  EXPECT_EQ(host.scheduler->active_runs(), 2U);
  host.run_for(minutes(90));
  EXPECT_EQ(host.told_of<RunEnded>().size(), 2U) << "the first runs of both";
  std::size_t of_a = 0;
  for (const RunStarted& run : host.told_of<RunStarted>()) of_a += run.identity == "a" ? 1 : 0;
  EXPECT_EQ(of_a, 1U);
  ASSERT_TRUE(host.scheduler->put(hourly("a")));
  EXPECT_EQ(host.scheduler->job_count(), 2U);
}

TEST(SomeJobs, ThatComeLateAreOnTimeSinceTheirListWasRead) {
  OperatedHost host({hourly("a"), hourly("b"), hourly("c")});
  host.run_until(utc("2026-03-01T01:30:00Z"));
  ASSERT_EQ(host.told_of<RunStarted>().size(), 3U);
  const std::vector<std::string> names = {"b", "unknown", "c"};
  ASSERT_TRUE(host.scheduler->drop(names));
  EXPECT_EQ(host.scheduler->job_count(), 1U);
  host.run_until(utc("2026-03-01T02:00:03Z"));
  ASSERT_TRUE(host.scheduler->put({hourly("a"), hourly("b")}, utc("2026-03-01T01:59:58Z")));
  ASSERT_TRUE(host.scheduler->put({hourly("c")}, utc("2026-03-01T02:00:02Z")));
  host.run_for(minutes(1));
  std::multiset<std::string> started;
  for (const RunStarted& run : host.told_of<RunStarted>()) started.insert(run.identity);
  EXPECT_THAT(started, ElementsAre("a", "a", "b", "b", "c")) << "c has missed a period before its list was read";
  EXPECT_EQ(host.scheduler->job_count(), 3U);
}

TEST(OneJob, HasRunIdsOfItsScope) {
  OperatedHost plain({hourly("a")});
  OperatedHost scoped({hourly("a")});
  scoped.kill_daemon();
  scoped.outside.scope = [](const JobDefinition& definition) { return definition.job.identity + "\nh1"; };
  ASSERT_TRUE(scoped.start_daemon());
  const Instant period = utc("2026-03-01T01:00:00Z");
  plain.run_until(period + Seconds(1));
  scoped.run_until(period + Seconds(1));
  ASSERT_EQ(plain.told_of<RunStarted>().size(), 1U);
  ASSERT_EQ(scoped.told_of<RunStarted>().size(), 1U);
  EXPECT_EQ(plain.told_of<RunStarted>()[0].run.run_id, run_id_of("a", period));
  EXPECT_EQ(scoped.told_of<RunStarted>()[0].run.run_id, run_id_of("a\nh1", period));
  EXPECT_EQ(scoped.scheduler->trigger("a", "key")->run_id, requested_run_id("a\nh1", "key"));
}

TEST(Operator, AKeyWhoseRunWaitsToReplaceAnotherIsKnown) {
  OperatedHost host({hourly("a", Concurrency::replace)});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(30), .exit_code = 0}; });
  ASSERT_TRUE(host.scheduler->trigger("a"));
  EXPECT_EQ(host.scheduler->trigger("a", "key").value().how, How::waiting);
  EXPECT_EQ(host.scheduler->trigger("a", "key").value().how, How::already_known);
}

// What becomes of a manual run that was promised and never starts: its job's record tells of it, by its run id.
struct ReplacingHost : OperatedHost {
  ReplacingHost() : OperatedHost({hourly("a", Concurrency::replace)}) {
    runner.behave([this](const RunSpec&) { return behaviour; });
    EXPECT_TRUE(scheduler->trigger("a"));
    const auto promised = scheduler->trigger("a", "key");
    EXPECT_EQ(promised->how, How::waiting);
    run_id = promised->run_id;
  }

  void expect_given_up(Reason reason) {
    const auto dropped = told_of<ManualRunDropped>();
    ASSERT_EQ(dropped.size(), 1U);
    EXPECT_EQ(dropped[0].run_id, run_id);
    EXPECT_EQ(dropped[0].reason, reason);
    ASSERT_EQ(log.lines_of("manual_run_dropped").size(), 1U);
    EXPECT_EQ(log.lines_of("manual_run_dropped")[0].field("runId"), run_id);
    const StateRecord record = ledger->read("a").value();
    const auto entry = std::ranges::find(record.history, run_id, &HistoryEntry::run_id);
    ASSERT_NE(entry, record.history.end());
    EXPECT_EQ(entry->outcome, Outcome::skipped);
    EXPECT_EQ(entry->reason, reason);
    EXPECT_EQ(entry->trigger, Trigger::manual);
    EXPECT_EQ(entry->period, std::nullopt);
  }

  Behaviour behaviour{.runs_for = minutes(90), .ignores_term = true};
  std::string run_id;
};

TEST(Operator, APromisedRunOutlivesAnEditOfItsJob) {
  ReplacingHost host;
  JobDefinition edited = hourly("a", Concurrency::replace);
  edited.action = jobs::Command{"other"};
  ASSERT_TRUE(host.reload({edited}));
  host.run_for(minutes(1));
  ASSERT_EQ(host.told_of<RunStarted>().size(), 2U);
  EXPECT_EQ(host.told_of<RunStarted>()[1].run.run_id, host.run_id);
}

TEST(Operator, APromisedRunOfAJobThatIsRemovedIsGivenUp) {
  ReplacingHost host;
  ASSERT_TRUE(host.reload({}));
  host.expect_given_up(Reason::start_failed);
}

TEST(Operator, APromisedRunOfAJobWithoutRunsThatIsRemovedIsGivenUp) {
  ReplacingHost host;
  host.behaviour.ignores_term = false;
  host.outside.pass(minutes(100));  // what it was to replace has ended, and nobody has looked yet
  ASSERT_TRUE(host.reload({}));
  host.run_for(minutes(1));
  host.expect_given_up(Reason::start_failed);
}

TEST(Operator, APromisedRunIsGivenUpWhenTheDaemonEnds) {
  ReplacingHost host;
  host.scheduler->stop_starting();
  host.expect_given_up(Reason::start_failed);
}

TEST(Operator, APromisedRunIsGivenUpWhenAPeriodTakesItsPlace) {
  ReplacingHost host;
  host.clock.jump_to(utc("2026-03-01T00:59:58Z"));
  host.run_for(minutes(1));
  host.expect_given_up(Reason::replaced_before_start);
}

TEST(Operator, APromisedRunIsGivenUpWhenItCannotStart) {
  ReplacingHost host;
  host.runner.fail_next_start({Code::io, "no more processes"});
  host.run_for(minutes(1));
  host.expect_given_up(Reason::start_failed);
}

TEST(Operator, APromisedRunIsGivenUpWhenTheOthersCannotBeStopped) {
  OperatedHost host({hourly("a", Concurrency::replace)});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(90), .unkillable = true}; });
  ASSERT_TRUE(host.scheduler->trigger("a"));
  const auto promised = host.scheduler->trigger("a", "key");
  host.run_for(minutes(1));
  ASSERT_EQ(host.told_of<ManualRunDropped>().size(), 1U);
  EXPECT_EQ(host.told_of<ManualRunDropped>()[0].reason, Reason::could_not_stop);
  EXPECT_EQ(host.scheduler->trigger("a", "key").value().how, How::already_known) << "its record tells of it";
}

TEST(Operator, IsToldOfEveryRunAndEveryPeriodThatDidNotRunOnceItIsDurable) {
  OperatedHost host({hourly("a", Concurrency::forbid)});
  host.runner.behave([](const RunSpec&) { return Behaviour{.runs_for = minutes(90), .exit_code = 4}; });
  host.run_until(utc("2026-03-01T02:50:00Z"));
  const auto started = host.told_of<RunStarted>();
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].identity, "a");
  EXPECT_EQ(started[0].run.period, utc("2026-03-01T01:00:00Z"));
  const auto skipped = host.told_of<PeriodEnded>();
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].period.nominal, utc("2026-03-01T02:00:00Z"));
  EXPECT_EQ(skipped[0].reason, Reason::concurrency_forbid);
  const auto ended = host.told_of<RunEnded>();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].exit.code, 4);
  EXPECT_EQ(ended[0].run.run_id, started[0].run.run_id);
  EXPECT_EQ(host.told_of<RecordsWritten>().size(), 3U);
}

TEST(Operator, HearsNothingOfWhatCouldNotBeRecorded) {
  OperatedHost host({hourly("a")});
  host.file_system->fail_when([](const testing::CallRecord& call) {
    return call.call == testing::Call::write ? testing::Fault::no_space : testing::Fault::none;
  });
  host.run_until(utc("2026-03-01T01:10:00Z"));
  EXPECT_TRUE(host.told_of<RunStarted>().empty());
}

TEST(Operator, SeesTheJobsAStretchAtATime) {
  OperatedHost host({hourly("a/1"), hourly("b/1"), hourly("a/2"), hourly("a/3")});
  const auto names = [](const Scheduler::Views& views) {
    std::vector<std::string> found;
    for (const auto& view : views.views) found.push_back(view.definition.job.identity);
    return found;
  };
  const auto begins_with_a = [](std::string_view name) { return name.starts_with("a/"); };
  auto views = host.scheduler->views({.most_views = 2, .has_name = begins_with_a});
  EXPECT_THAT(names(views), ElementsAre("a/1", "a/2"));
  EXPECT_EQ(views.views[0].next->nominal, utc("2026-03-01T01:00:00Z"));
  views = host.scheduler->views({.first = views.next.value(), .most_views = 2, .has_name = begins_with_a});
  EXPECT_THAT(names(views), ElementsAre("a/3"));
  EXPECT_FALSE(views.next);
  views = host.scheduler->views({.most_looks = 1, .has_name = [](std::string_view name) { return name == "b/1"; }});
  EXPECT_TRUE(views.views.empty());
  EXPECT_EQ(views.next, 1U) << "no more looks than it may take";
  ASSERT_TRUE(host.scheduler->suspend("b/1", std::nullopt));
  views = host.scheduler->views(
      {.is_wanted = [](const Scheduler::View& view) { return view.known.periods.suspended.has_value(); }});
  EXPECT_THAT(names(views), ElementsAre("b/1"));
}

}  // namespace
}  // namespace kron
