#include <array>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"
#include "kron/ledger/fake/shared_ledger.h"
#include "kron/scheduler/fake/host.h"
#include "kron/scheduler/write_thread.h"

// What operators ask for while the ledger is slow: the loop goes on, and they are answered when their records are
// durable.
namespace kron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::HeldWriter;
using testing::Host;
using testing::job;
using testing::utc;

constexpr Seconds kRequestPatience(60);  // only a test that fails waits for it

// Who asks, and what he has heard, in the order in which he heard it.
struct Asker {
  void trigger(Scheduler& scheduler, const std::string& name, const std::string& key = "") {
    scheduler.trigger(name, key, [this, name](const Result<Triggered>& triggered) {
      if (!triggered) return heard.push_back(name + ": " + triggered.error().message);
      static constexpr std::array kWords{" started", " waits", " known"};
      heard.push_back(name + kWords.at(static_cast<std::size_t>(triggered->how)));
      run_ids.push_back(triggered->run_id);
    });
  }
  void pause(Scheduler& scheduler, const std::string& name) {
    scheduler.suspend(name, std::nullopt, false, note(name + " paused"));
  }
  void resume(Scheduler& scheduler, const std::string& name, bool skip_missed = false) {
    scheduler.resume(name, skip_missed, note(name + " resumed"));
  }
  OperatorRequest::Done note(const std::string& what) {
    return [this, what](const Status& done) {
      heard.push_back(done ? what : "not " + what + ": " + done.error().message);
    };
  }

  std::vector<std::string> heard;
  std::vector<std::string> run_ids;
};

struct Requests : ::testing::Test, Host {
  Requests() : Host(utc("2026-03-01T00:00:00Z")) {
    outside.writer = &writer;
    outside.on_written = [this] { ++rung; };
    outside.observer = [this](const Event& event) {
      if (const auto* written = std::get_if<RecordsWritten>(&event)) batches.push_back(written->count);
    };
    runner.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = std::chrono::hours(1)}; });
    set_jobs({daily("a"), daily("b"), daily("c"), daily("many", Concurrency::allow)});
    EXPECT_TRUE(start_daemon());
    tick();
    batches.clear();
  }
  ~Requests() override { kill_daemon(); }  // before its writer

  static jobs::JobDefinition daily(std::string name, Concurrency concurrency = Concurrency::forbid) {
    return job({.schedule = "0 12 * * *", .concurrency = concurrency}, std::move(name));
  }
  void trigger(const std::string& name, const std::string& key = "") { asker.trigger(*scheduler, name, key); }
  void pause(const std::string& name) { asker.pause(*scheduler, name); }
  void resume(const std::string& name) { asker.resume(*scheduler, name); }
  Wakeup tick() { return scheduler->tick(); }
  // As the daemon does when it is woken.
  void see_it_written() {
    ASSERT_TRUE(writer.has_work());
    writer.finish();
    tick();
  }
  bool is_paused(const std::string& name) const { return scheduler->view(name)->known.periods.suspended.has_value(); }
  bool is_recorded_as_paused(const std::string& name) const {
    const auto record = ledger->read(name);
    return record && record->periods.suspended.has_value();
  }
  void fill_disk() {
    file_system->fail_when([](const testing::CallRecord& call) {
      const bool grows = call.call == testing::Call::create || call.call == testing::Call::write;
      return grows ? testing::Fault::no_space : testing::Fault::none;
    });
  }

  HeldWriter writer;
  Asker asker;
  std::vector<std::string>& heard = asker.heard;
  int rung = 0;
  std::vector<std::size_t> batches;
};

TEST_F(Requests, TheLoopGoesOnWhileARecordIsWritten) {
  trigger("a");
  for (int i = 0; i < 3; ++i) tick();
  EXPECT_TRUE(writer.has_work()) << "no tick has waited for it";
  EXPECT_TRUE(scheduler->view("b")) << "whoever looks is answered";
  EXPECT_THAT(heard, ElementsAre()) << "nothing is promised yet";
  EXPECT_THAT(runner.executed(), ElementsAre()) << "first the record, then the run";
  EXPECT_EQ(rung, 0);
  writer.finish();
  EXPECT_EQ(rung, 1) << "the loop is told";
  EXPECT_THAT(heard, ElementsAre()) << "answers come on the loop";
  tick();
  EXPECT_THAT(heard, ElementsAre("a started"));
  EXPECT_EQ(runner.executed(), asker.run_ids);
}

TEST_F(Requests, APauseAndItsEndAreAnsweredWhenTheyAreDurable) {
  pause("a");
  tick();
  EXPECT_THAT(heard, ElementsAre());
  EXPECT_FALSE(is_paused("a")) << "who looks sees what is durable";
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a paused"));
  EXPECT_TRUE(is_paused("a"));
  EXPECT_TRUE(is_recorded_as_paused("a"));
  resume("a");
  tick();
  EXPECT_TRUE(is_paused("a"));
  EXPECT_EQ(heard.size(), 1U);
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a paused", "a resumed"));
  EXPECT_FALSE(is_recorded_as_paused("a"));
}

TEST_F(Requests, WhatIsAskedMeanwhileIsOneBatch) {
  trigger("a");
  pause("b");
  trigger("c");
  tick();
  EXPECT_EQ(runner.alive(), 1U) << "they are judged when the ledger is free";
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a started"));
  EXPECT_TRUE(writer.has_work()) << "the tick that answers the one begins the others";
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a started", "b paused", "c started"));
  EXPECT_THAT(batches, ElementsAre(1U, 2U));
}

TEST_F(Requests, ThoseForOneJobAreJudgedInTheirOrderEachByWhatBecameOfTheOneBefore) {
  pause("a");
  resume("a");
  trigger("a");
  trigger("a");
  pause("a");
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a paused"));
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a paused", "a resumed"));
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a paused", "a resumed", "a started", HasSubstr("its policy forbids another")));
  see_it_written();
  ASSERT_EQ(heard.size(), 5U);
  EXPECT_EQ(heard[4], "a paused");
  EXPECT_TRUE(is_recorded_as_paused("a"));
  EXPECT_EQ(runner.executed().size(), 1U);
}

TEST_F(Requests, OneKeyStartsOneRunThoughItsRecordIsStillOnItsWay) {
  trigger("many", "key");
  EXPECT_EQ(runner.alive(), 0U) << "the ledger is asked first whether it knows the run, and nobody waits for that";
  trigger("many", "key");
  see_it_written();
  EXPECT_EQ(runner.alive(), 1U);
  EXPECT_THAT(heard, ElementsAre());
  EXPECT_THAT(batches, ElementsAre()) << "a question is no record";
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("many started", "many known"));
  EXPECT_EQ(runner.executed().size(), 1U);
  EXPECT_FALSE(writer.has_work());
}

TEST_F(Requests, AKeyThatOnlyTheLedgerKnowsStartsNothing) {
  runner.behave([](const RunSpec&) { return testing::Behaviour{.runs_for = Seconds(1)}; });
  writer.holds = false;
  trigger("a", "key");
  run_for(Seconds(5));
  ASSERT_TRUE(restart_daemon());
  writer.holds = true;
  trigger("a", "key");
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a started", "a known"));
  EXPECT_EQ(runner.executed().size(), 1U);
}

TEST_F(Requests, WhatNeedsNoRecordIsAnsweredAtOnce) {
  trigger("nobody");
  resume("nobody");
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_THAT(heard[0], HasSubstr("there is no job named"));
  EXPECT_THAT(heard[1], HasSubstr("there is no job named"));
  EXPECT_FALSE(writer.has_work());
}

TEST_F(Requests, ARecordThatCannotBeWrittenIsAnsweredSoAndNothingRan) {
  fill_disk();
  trigger("a");
  pause("b");
  see_it_written();
  see_it_written();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_THAT(heard[0], HasSubstr("could not be recorded, so it was not run"));
  EXPECT_THAT(heard[1], HasSubstr("could not be written; nothing has changed"));
  EXPECT_THAT(runner.executed(), ElementsAre());
  EXPECT_EQ(runner.alive(), 0U) << "nothing is left at its gate";
  EXPECT_EQ(scheduler->active_runs(), 0U);
  EXPECT_FALSE(is_paused("b"));
  file_system->fail_when(nullptr);
  trigger("a");
  see_it_written();
  EXPECT_EQ(heard.back(), "a started");
}

TEST_F(Requests, ALedgerThatBreaksAnswersThoseWhoWaitToo) {
  file_system->fail_when([](const testing::CallRecord& call) {
    const bool syncs = call.call == testing::Call::sync_file || call.call == testing::Call::sync_directory;
    return syncs ? testing::Fault::io_error : testing::Fault::none;
  });
  trigger("a");
  trigger("b");
  pause("c");
  see_it_written();
  EXPECT_TRUE(scheduler->broken());
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_THAT(heard[0], HasSubstr("so it was not run"));
  EXPECT_THAT(heard[1], HasSubstr("nothing is started any more"));
  EXPECT_THAT(heard[2], HasSubstr("not c paused"));
  EXPECT_THAT(runner.executed(), ElementsAre());
}

TEST_F(Requests, AReloadWaitsForThem) {
  trigger("a");
  pause("b");
  EXPECT_TRUE(reload({daily("c")}));
  EXPECT_THAT(heard, ElementsAre("a started", "b paused"));
  EXPECT_EQ(scheduler->active_runs(), 1U) << "its job is gone, and its run goes on";
}

TEST_F(Requests, SoDoJobsThatArePutOrDroppedOneByOne) {
  pause("a");
  EXPECT_TRUE(scheduler->put(daily("new")));
  EXPECT_THAT(heard, ElementsAre("a paused"));
  trigger("b");
  EXPECT_TRUE(scheduler->drop("b"));
  EXPECT_THAT(heard, ElementsAre("a paused", "b started"));
  trigger("a");
  trigger("c");  // behind it
  EXPECT_TRUE(scheduler->drop("c"));
  EXPECT_THAT(heard, ElementsAre("a paused", "b started", "a started", "c started"));
}

TEST_F(Requests, ACrowdOfThemIsWrittenInBatchesOfOneSize) {
  constexpr int kJobs = 300;
  std::vector<jobs::JobDefinition> jobs{daily("first")};
  for (int i = 0; i < kJobs; ++i) jobs.push_back(daily("crowd/" + std::to_string(i)));
  ASSERT_TRUE(scheduler->reload(jobs));
  batches.clear();
  trigger("first");
  for (int i = 0; i < kJobs; ++i) trigger("crowd/" + std::to_string(i));
  for (int written = 0; written < 4; ++written) see_it_written();
  EXPECT_THAT(batches, ElementsAre(1U, 128U, 128U, 44U));
  EXPECT_EQ(heard.size(), kJobs + 1U);
  EXPECT_EQ(heard.back(), "crowd/" + std::to_string(kJobs - 1) + " started");
}

// One round each would be quadratic for a crowd that asks for one job.
TEST_F(Requests, ThoseThatHaveNothingToWriteAreAnsweredInOneRound) {
  trigger("a");
  trigger("b");
  see_it_written();
  see_it_written();
  heard.clear();
  trigger("c");
  for (const char* name : {"a", "a", "b", "b"}) trigger(name);
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("c started", HasSubstr("a run of 'a' is active"), HasSubstr("a run of 'a' is active"),
                                 HasSubstr("a run of 'b' is active"), HasSubstr("a run of 'b' is active")));
}

TEST_F(Requests, ARecordIsBegunAnewWhenTheyAreAnswered) {
  trigger("a");
  EXPECT_EQ(scheduler->reset("a").error().code, Code::conflict) << "a run of it is active";
  EXPECT_THAT(heard, ElementsAre("a started"));
}

TEST_F(Requests, AnEndAnswersAllThatWait) {
  trigger("a");
  trigger("b");
  pause("c");
  scheduler->stop_starting();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0], "a started") << "its record was on its way";
  EXPECT_THAT(heard[1], HasSubstr("nothing is started any more"));
  EXPECT_EQ(heard[2], "c paused");
  EXPECT_TRUE(is_recorded_as_paused("c"));
  resume("c");
  scheduler->settle_requests();
  EXPECT_EQ(heard.back(), "c resumed") << "what starts nothing is done to the end";
}

TEST_F(Requests, ATurnWithRecordsOfItsOwnWaitsForTheWriteBeforeIt) {
  clock.advance_to(utc("2026-03-01T11:59:59Z"));
  tick();
  trigger("a");
  clock.advance_to(utc("2026-03-01T12:00:00Z"));
  tick();
  EXPECT_THAT(heard, ElementsAre("a started"));
  EXPECT_EQ(runner.executed().size(), 4U) << "a's run forbids its period; b, c and many are due";
  EXPECT_EQ(ledger->read("a")->last_outcome, Outcome::skipped);
}

TEST_F(Requests, AJobThatIsDueWhileItsPauseIsOnItsWayIsPausedFirst) {
  clock.advance_to(utc("2026-03-01T11:59:59Z"));
  tick();
  pause("a");
  clock.advance_to(utc("2026-03-01T12:00:00Z"));
  tick();
  EXPECT_THAT(heard, ElementsAre("a paused"));
  EXPECT_EQ(runner.executed().size(), 3U);
}

TEST_F(Requests, AJobThatIsDueWhenItsPauseIsRefusedRuns) {
  clock.advance_to(utc("2026-03-01T11:59:59Z"));
  tick();
  pause("a");
  fill_disk();
  writer.finish();
  file_system->fail_when(nullptr);
  clock.advance_to(utc("2026-03-01T12:00:00Z"));
  tick();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_THAT(heard[0], HasSubstr("nothing has changed"));
  run_for(Seconds(10));
  EXPECT_EQ(runner.executed().size(), 4U);
}

TEST_F(Requests, ADaemonThatDiesBeforeTheWriteLeavesNothingAndTheKeyIsFree) {
  trigger("a", "key");
  see_it_written();
  ASSERT_EQ(runner.alive(), 1U);
  writer.drop();
  ASSERT_TRUE(restart_daemon());
  EXPECT_THAT(runner.executed(), ElementsAre());
  trigger("a", "key");
  see_it_written();
  see_it_written();
  EXPECT_THAT(heard, ElementsAre("a started"));
  EXPECT_EQ(runner.executed().size(), 1U);
}

TEST_F(Requests, ADaemonThatDiesAfterTheWriteLeavesARunThatIsNotRunAgain) {
  trigger("a", "key");
  see_it_written();
  writer.finish();
  ASSERT_TRUE(restart_daemon());
  trigger("a", "key");
  scheduler->settle_requests();
  EXPECT_THAT(heard, ElementsAre("a known"));
  EXPECT_THAT(runner.executed(), ElementsAre());
}

TEST_F(Requests, WithoutAWriterTheyAreAnsweredBeforeTheirVerbsReturn) {
  kill_daemon();
  outside.writer = nullptr;
  ASSERT_TRUE(start_daemon());
  trigger("a", "key");
  pause("b");
  EXPECT_THAT(heard, ElementsAre("a started", "b paused"));
}

TEST_F(Requests, OneThatIsNotAnsweredIsDroppedWithTheScheduler) {
  auto operator_ = std::make_shared<int>(0);
  scheduler->suspend("a", std::nullopt, false, [operator_](const Status&) { ++*operator_; });
  kill_daemon();
  EXPECT_EQ(operator_.use_count(), 1);
  EXPECT_EQ(*operator_, 0);
  ASSERT_TRUE(start_daemon());
}

// One daemon of several, whose ledger gives every answer there is.
struct SharedRequests : ::testing::Test {
  SharedRequests() {
    scheduler = std::make_unique<Scheduler>(
        Scheduler::World{.clock = clock, .ledger = ledger, .runner = runner, .log = log, .writer = &writer},
        [](const jobs::JobDefinition& definition, const RunCause& cause) {
          return RunSpec{.run_id = cause.run_id, .command = {jobs::command_of(definition)}};
        });
    EXPECT_TRUE(
        scheduler->start({job({.schedule = "0 * * * *", .deadline = "2h", .concurrency = Concurrency::allow})}));
    scheduler->tick();
  }

  // Answers this to the next `count` steps.
  void answer(const Written& answer, int count = 1) {
    ledger.instead = [answer, count](const LedgerStep&) mutable {
      return count-- > 0 ? std::optional(answer) : std::nullopt;
    };
  }
  void trigger(const std::string& key = "") { asker.trigger(*scheduler, "job", key); }
  // Ticks as the daemon does, each time that something is written.
  int tick_until_written() {
    int ticks = 0;
    for (; writer.has_work(); ++ticks) {
      writer.finish();
      while (scheduler->tick().is_busy) {
      }
    }
    return ticks;
  }

  testing::FakeClock clock{utc("2026-03-01T00:30:00Z")};
  testing::SharedRecords records;
  testing::SharedLedger ledger{records, "a"};
  testing::FakeProcessRunner runner;
  testing::CapturingLog log;
  HeldWriter writer;
  Asker asker;
  std::unique_ptr<Scheduler> scheduler;
};

TEST_F(SharedRequests, EachAnswerOfTheLedger) {
  const std::pair<Written, std::string> cases[] = {
      {Written::held("of another"), "held by the run of another"},
      {Written::ran("the same"), "job known"},
      {Written::refused({Code::io, "no"}), "could not be recorded, so it was not run"},
      {Written::unknown({Code::io, "lost"}), "is not known, so it was not run"}};
  for (const auto& [given, heard] : cases) {
    answer(given);
    trigger();
    EXPECT_EQ(tick_until_written(), 1);
    EXPECT_THAT(asker.heard.back(), HasSubstr(heard));
    EXPECT_EQ(runner.alive(), 0U) << "nothing is left at its gate";
  }
  EXPECT_EQ(asker.heard.size(), 4U);
  EXPECT_THAT(runner.executed(), ElementsAre());
}

TEST_F(SharedRequests, OneThatOthersHaveOvertakenIsJudgedAgainThoughTheLoopTurnedMeanwhile) {
  answer(Written::newer(records.at("job").periods), 3);
  trigger("key");
  EXPECT_EQ(tick_until_written(), 5) << "a question, three that were too late, and one that was not";
  EXPECT_THAT(asker.heard, ElementsAre("job started"));
  EXPECT_EQ(runner.executed().size(), 1U);
  EXPECT_EQ(runner.alive(), 1U);
}

TEST_F(SharedRequests, OneThatOthersKeepOvertakingIsGivenUp) {
  answer(Written::newer(records.at("job").periods), 1000);
  trigger();
  EXPECT_LT(tick_until_written(), 20);
  ASSERT_EQ(asker.heard.size(), 1U);
  EXPECT_THAT(asker.heard[0], HasSubstr("others keep changing the record"));
  asker.pause(*scheduler, "job");
  EXPECT_LT(tick_until_written(), 20);
  EXPECT_THAT(asker.heard.back(), HasSubstr("not job paused"));
  EXPECT_EQ(runner.alive(), 0U);
}

TEST_F(SharedRequests, OneThatIsJudgedAgainStaysBeforeThoseThatCameLater) {
  answer(Written::newer(records.at("job").periods), 2);
  asker.pause(*scheduler, "job");
  asker.resume(*scheduler, "job");
  tick_until_written();
  EXPECT_THAT(asker.heard, ElementsAre("job paused", "job resumed"));
  EXPECT_FALSE(records.at("job").periods.suspended);
}

TEST_F(SharedRequests, AResumeThatSkipsSaysSoAgain) {
  writer.holds = false;
  asker.pause(*scheduler, "job");
  writer.holds = true;
  clock.advance(std::chrono::minutes(61));
  scheduler->tick();
  answer(Written::newer(records.at("job").periods), 2);
  asker.resume(*scheduler, "job", true);
  tick_until_written();
  EXPECT_THAT(asker.heard, ElementsAre("job paused", "job resumed"));
  EXPECT_EQ(records.at("job").outcomes.at(utc("2026-03-01T01:00:00Z")), Outcome::skipped);
  EXPECT_EQ(records.violation(), "");
  EXPECT_THAT(runner.executed(), ElementsAre());
}

TEST_F(SharedRequests, OfAPauseWhoseAnswerIsLostNothingIsSaid) {
  answer(Written::unknown({Code::io, "lost"}));
  asker.pause(*scheduler, "job");
  tick_until_written();
  EXPECT_THAT(asker.heard, ElementsAre(HasSubstr("is not known; look at it, and ask again")));
}

// The same with a thread that writes, as krond has it.
TEST(RequestsInAThread, AreWrittenWhileTheLoopGoesOn) {
  testing::FakeClock clock{utc("2026-03-01T00:30:00Z")};
  testing::SharedRecords records;
  testing::SharedLedger ledger{records, "a"};
  testing::FakeProcessRunner runner;
  testing::CapturingLog log;
  std::promise<void> disk_goes_on;
  std::promise<void> is_written;
  ledger.before_batch = [gate = disk_goes_on.get_future().share()] { gate.wait_for(kRequestPatience); };
  WriteThread writer;
  Scheduler scheduler({.clock = clock,
                       .ledger = ledger,
                       .runner = runner,
                       .log = log,
                       .writer = &writer,
                       .on_written = [&] { is_written.set_value(); }},
                      [](const jobs::JobDefinition&, const RunCause& cause) {
                        return RunSpec{.run_id = cause.run_id, .command = {"true"}};
                      });
  ASSERT_TRUE(scheduler.start({job({.schedule = "0 * * * *"}), job({.schedule = "0 * * * *"}, "other")}));
  scheduler.tick();
  Asker asker;
  asker.trigger(scheduler, "job");
  for (int i = 0; i < 3; ++i) scheduler.tick();
  EXPECT_TRUE(scheduler.view("other"));
  EXPECT_THAT(asker.heard, ElementsAre());
  EXPECT_THAT(runner.executed(), ElementsAre());
  disk_goes_on.set_value();
  ASSERT_EQ(is_written.get_future().wait_for(kRequestPatience), std::future_status::ready);
  scheduler.tick();
  EXPECT_THAT(asker.heard, ElementsAre("job started"));
  EXPECT_EQ(runner.executed().size(), 1U);
}

}  // namespace
}  // namespace kron
