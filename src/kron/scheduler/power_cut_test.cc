// Every crash point of the daemon's life, and what a power cut may leave of its disk at each.
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>

#include "kron/core/sample_jobs.h"
#include "kron/env/durable.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/fake/sweep.h"
#include "kron/scheduler/fake/daemon.h"
#include "kron/state/names.h"
#include "kron/testing/scale.h"

namespace kron::testing {
namespace {

using namespace std::chrono_literals;
using jobs::JobDefinition;

JobDefinition job(JobSpec spec, std::string name) {
  spec.identity = name;
  JobDefinition definition;
  definition.job = make_job(spec);
  definition.action = jobs::Command{std::move(name)};
  return definition;
}

// Due every minute, and with so long a deadline that a forgotten period runs again.
JobDefinition minutely(std::string name, Concurrency concurrency = Concurrency::forbid) {
  return job({.schedule = "* * * * *", .deadline = "1h", .concurrency = concurrency}, std::move(name));
}

struct Scenario {
  std::string name;
  std::vector<JobDefinition> jobs;
  std::function<void(Daemon&, Outside&)> story = [](Daemon& daemon, Outside&) { daemon.run_for(100s); };
  // Executed twice in each run, and 3 is fine: nothing that a run's own record says may be lost from the job's.
  Behaviour behaviour = {.runs_for = 20s, .exit_code = 3, .attempts = 2, .failed = false};
  std::size_t survivors = 400;  // tried at each crash point
  std::size_t again = 0;        // tried at each crash point of the recovery; 0: it is not cut off
  std::map<std::string, std::string> planted = {};
  Nanoseconds write_takes{0};  // of what operators ask for, while the daemon goes on
  std::function<void(Daemon&, Outside&)> after_recovery = {};
};

void restart(Outside& outside, PowerCutFileSystem& file_system, Mutation mutation,
             const std::function<void(Daemon&)>& use) {
  SilentLog log;
  const auto daemon = Daemon::start(outside, file_system, log, mutation);
  if (!daemon) return outside.witness.accuse("the daemon does not start: " + daemon.error().message);
  use(**daemon);
  (*daemon)->report_executed();
}

void recover(Outside& outside, PowerCutFileSystem& file_system, Crash crash, Mutation mutation,
             const std::function<void(Daemon&, Outside&)>& then) {
  outside.writer = nullptr;
  if (crash == Crash::power_cut) {
    outside.lose_power(20s);
  } else {
    outside.runner.daemon_dies();
    outside.pass(5s);
  }
  restart(outside, file_system, mutation, [&](Daemon& daemon) {
    if (then) then(daemon, outside);
    daemon.run_for(65s);
    static_cast<void>(daemon.scheduler().tick());  // what ended or fell due in the last instant
  });
}

std::string check(Outside& outside, PowerCutFileSystem& file_system, Mutation mutation) {
  auto files = files_of(file_system.disk(), Daemon::kStateDirectory);
  // Spare files, and writes that were cut off: the next start removes them.
  std::erase_if(files, [](const auto& file) { return file.first.starts_with(kTemporaryPrefix); });
  for (const auto& [name, text] : files) {
    const auto parsed = parse_state_name(name);
    if (!parsed || parsed->corrupt) continue;
    const Result<StateRecord> record = state::parse(text);
    if (!record) return name + ": " + record.error().message;
    if (sha256({record->identity}) != parsed->identity_hash) return name + " holds another job";
    for (const HistoryEntry& entry : record->history) {
      const bool is_whole = entry.exit_code != 3 || (entry.attempts == 2U && entry.failed == false);
      if (!is_whole) return name + " has lost how a run ended";
    }
    outside.witness.found(*record, jobs::kDefaultHistory);
  }
  outside.runner.daemon_dies();
  restart(outside, file_system, mutation, [](Daemon&) {});
  if (!outside.witness.violation().empty()) return outside.witness.violation();
  auto after = files_of(file_system.disk(), Daemon::kStateDirectory);
  return after == files ? "" : "a second recovery changes what the first has left";
}

SweepCounts sweep(const Scenario& scenario, Sabotage sabotage = Sabotage::none, Mutation mutation = Mutation::none) {
  Outside outside(utc("2026-03-01T00:00:30Z"));
  outside.jobs = scenario.jobs;
  HeldWriter writer;
  if (scenario.write_takes > 0s) outside.writer = &writer;
  outside.write_takes = scenario.write_takes;
  outside.runner.behave([behaviour = scenario.behaviour](const RunSpec&) { return behaviour; });
  PowerCutFileSystem disk;
  if (!scenario.planted.empty()) disk.plant_directory(Daemon::kStateDirectory);
  for (const auto& [name, text] : scenario.planted) {
    disk.plant_file(entry_path(Daemon::kStateDirectory, name), text);
  }
  SweepOptions options{.most_survivors = {scenario.survivors}, .sabotage = sabotage};
  if (scenario.again != 0) options.most_survivors.push_back(scenario.again);
  Sweep<Outside> run(
      [&](Outside& world, PowerCutFileSystem& file_system) {
        restart(world, file_system, mutation, [&](Daemon& daemon) { scenario.story(daemon, world); });
      },
      [&](Outside& world, PowerCutFileSystem& file_system, Crash crash) {
        recover(world, file_system, crash, mutation, scenario.after_recovery);
      },
      [&](Outside& world, PowerCutFileSystem& file_system) { return check(world, file_system, mutation); }, options);
  return run(outside, disk.disk());
}

// Of a second crash in the recovery there are as many as crash points squared: fewer survivors of each are tried.
Scenario cut_off_twice(Scenario scenario) {
  scenario.name += ", cut off again in the recovery";
  scenario.survivors = 2;
  scenario.again = 1;
  return scenario;
}

bool is_full_run() { return scaled(1) > 1; }

Scenario starts_and_ends() { return {.name = "starts and ends", .jobs = {minutely("a")}}; }

Scenario starts() {
  return {.name = "starts", .jobs = {minutely("a")}, .story = [](Daemon& daemon, Outside&) { daemon.run_for(55s); }};
}

Scenario skips() { return {.name = "skips", .jobs = {minutely("a")}, .behaviour = {.runs_for = 80s}}; }

Scenario misses() {
  return {.name = "misses and passes over",
          .jobs = {job({.schedule = "* * * * *"}, "a")},
          .story = [](Daemon& daemon, Outside& outside) {
            daemon.run_for(40s);
            outside.pass(200s);  // stopped, or the machine was asleep
            daemon.run_for(10s);
          }};
}

Scenario unschedulable() {
  JobDefinition never = minutely("a");
  never.job.window = {WindowMode::after, 5s};
  EXPECT_TRUE(add_clause(never.job.constraints.only, "date", "2020-01-01"));
  return {.name = "unschedulable", .jobs = {never}};
}

Scenario replaces() {
  return {.name = "replaces",
          .jobs = {minutely("a", Concurrency::replace)},
          .story = [](Daemon& daemon, Outside&) { daemon.run_for(175s); },
          .behaviour = {.runs_for = 1h, .ignores_term = true}};
}

// The third failure in a row pauses; in the recovery, which may be cut off again, the count goes on.
Scenario pauses_after_failures() {
  JobDefinition failing = minutely("a");
  failing.job.policy.pause_after = 3;
  return {.name = "pauses after failures",
          .jobs = {failing},
          .story = [](Daemon& daemon, Outside&) { daemon.run_for(280s); },
          .survivors = 60};
}

// Runs of more than a minute: each period waits for the one before it, and none ends when another is due.
Scenario waits() {
  return {.name = "waits for the run before",
          .jobs = {minutely("a", Concurrency::queue)},
          .story = [](Daemon& daemon, Outside&) { daemon.run_for(200s); },
          .behaviour = {.runs_for = 73s},
          .survivors = 60};
}

// Found late by more than ten seconds after the crash, and within its deadline.
Scenario spreads_what_is_late() {
  JobDefinition late = minutely("a");
  late.job.policy.catch_up_spread = 30s;
  return {.name = "spreads what is late", .jobs = {late}, .story = [](Daemon& daemon, Outside& outside) {
            daemon.run_for(40s);
            outside.pass(200s);
            daemon.run_for(40s);
          }};
}

Scenario runs_side_by_side() {
  return {.name = "runs side by side", .jobs = {minutely("a", Concurrency::allow)}, .behaviour = {.runs_for = 90s}};
}

void trigger(Daemon& daemon, Outside& outside, const std::string& job, const std::string& key) {
  outside.witness.asked(job);
  daemon.scheduler().trigger(
      job, key, [&outside, job](const Result<Triggered>& triggered) { outside.witness.answered(job, triggered); });
}

void set_paused(Daemon& daemon, Outside& outside, const std::string& job, bool is_paused, bool skip_missed = false) {
  outside.witness.asked(job);
  const auto answer = [&outside, job, is_paused](const Status& done) {
    outside.witness.answered(job, done, is_paused);
  };
  if (is_paused) return daemon.scheduler().suspend(job, std::nullopt, false, answer);
  daemon.scheduler().resume(job, skip_missed, answer);
}

Scenario suspends_and_resumes() {
  return {.name = "suspends and resumes", .jobs = {minutely("a")}, .story = [](Daemon& daemon, Outside& outside) {
            daemon.run_for(35s);
            set_paused(daemon, outside, "a", true);
            EXPECT_EQ(outside.witness.facts("a")->is_paused, true);
            daemon.run_for(130s);
            set_paused(daemon, outside, "a", false);
            EXPECT_EQ(outside.witness.facts("a")->is_paused, false);
            daemon.run_for(10s);
            EXPECT_EQ(outside.witness.facts("a")->unanswered, 0);
          }};
}

Scenario edits() {
  return {.name = "edits",
          .jobs = {minutely("a"), minutely("b")},
          .story =
              [](Daemon& daemon, Outside&) {
                daemon.run_for(40s);
                EXPECT_TRUE(daemon.reload({job({.schedule = "*/2 * * * *", .deadline = "1h"}, "a"), minutely("c")}));
                daemon.run_for(60s);
                EXPECT_TRUE(daemon.reload({minutely("a"), minutely("b"), minutely("c")}));
                daemon.run_for(60s);
              },
          .survivors = 60};
}

Scenario overlapping_windows() {
  return {.name = "overlapping windows",
          .jobs = {job({.schedule = "* * * * *", .window = "4m", .deadline = "1h"}, "a")},
          .story = [](Daemon& daemon, Outside&) { daemon.run_for(6min); },
          .behaviour = {.runs_for = 5s},
          .survivors = 60};
}

Scenario reboot_and_manual_runs() {
  return {.name = "@reboot and manual runs",
          .jobs = {job({.schedule = "@reboot"}, "a")},
          .story = [](Daemon& daemon, Outside&) {
            daemon.run_for(30s);
            EXPECT_TRUE(daemon.scheduler().trigger("a"));
            daemon.run_for(30s);
          }};
}

// Who is not answered asks again, by the same key.
Scenario requests_beside_the_loop() {
  return {.name = "requests beside the loop",
          .jobs = {minutely("a", Concurrency::allow), minutely("b")},
          .story =
              [](Daemon& daemon, Outside& outside) {
                daemon.run_for(10s);
                trigger(daemon, outside, "a", "key");
                set_paused(daemon, outside, "b", true);
                trigger(daemon, outside, "a", "key");
                trigger(daemon, outside, "a", "");
                daemon.run_for(17s);
                set_paused(daemon, outside, "b", false, true);
                set_paused(daemon, outside, "b", true);
                daemon.run_for(5s);  // both jobs are due meanwhile
                set_paused(daemon, outside, "b", false);
                daemon.scheduler().stop_starting();
                EXPECT_EQ(outside.witness.facts("a")->unanswered, 0);
                EXPECT_EQ(outside.witness.facts("b")->unanswered, 0);
              },
          .survivors = 60,
          .write_takes = 3s,
          .after_recovery = [](Daemon& daemon, Outside& outside) { trigger(daemon, outside, "a", "key"); }};
}

Scenario quarantine() {
  return {.name = "quarantine",
          .jobs = {minutely("a"), minutely("b")},
          .survivors = 60,
          .planted = {{state_file_name(sha256({"a"})), "{\"Version\":"}, {"first-seen.json", "\0\0\0"}}};
}

Scenario batch_of(int jobs) {
  Scenario scenario{.name = "a batch of " + std::to_string(jobs), .jobs = {}};
  for (int i = 0; i < jobs; ++i) scenario.jobs.push_back(minutely("job-" + std::to_string(i)));
  scenario.survivors = static_cast<std::size_t>(jobs > 5 ? std::max(2, scaled(1) / 2) : scaled(8));
  return scenario;
}

void expect_nothing_broken(const Scenario& scenario) {
  const SweepCounts counts = sweep(scenario);
  std::cout << scenario.name << ": " << counts << "\n";
  EXPECT_EQ(counts.violations, 0U);
  EXPECT_GE(counts.power_cuts, counts.crash_points);
}

TEST(PowerCut, OfADaemonWithOneJobBreaksNoRule) {
  for (const Scenario& scenario :
       {starts_and_ends(), cut_off_twice(starts()), skips(), misses(), unschedulable(), replaces(), waits(),
        pauses_after_failures(), spreads_what_is_late(), runs_side_by_side(), suspends_and_resumes(),
        overlapping_windows(), reboot_and_manual_runs()}) {
    expect_nothing_broken(scenario);
    if (is_full_run() && scenario.again == 0) expect_nothing_broken(cut_off_twice(scenario));
  }
}

TEST(PowerCut, WhileOperatorsAskBreaksNoRuleAndNoPromise) { expect_nothing_broken(requests_beside_the_loop()); }

TEST(PowerCut, WhileTheSetOfJobsChangesBreaksNoRule) { expect_nothing_broken(edits()); }

TEST(PowerCut, WhileACorruptFileIsSetAsideBreaksNoRule) { expect_nothing_broken(quarantine()); }

TEST(PowerCut, InABatchOfOneToTwentyJobsBreaksNoRule) {
  for (int jobs = 1; jobs <= 20; ++jobs) {
    const bool in_a_quick_run = jobs <= 3 || jobs == 20;
    if (in_a_quick_run || is_full_run()) expect_nothing_broken(batch_of(jobs));
    if (is_full_run() && jobs <= 3) expect_nothing_broken(cut_off_twice(batch_of(jobs)));
  }
}

// The sweep is worth something only if it notices a daemon that does not keep the procedure.
struct Mutant {
  std::string_view name;
  Sabotage sabotage;
  Mutation mutation;
};

class PowerCutMutants : public ::testing::TestWithParam<Mutant> {};

TEST_P(PowerCutMutants, AreNoticed) {
  Scenario scenario = starts_and_ends();
  scenario.survivors = 50;
  const SweepCounts counts = sweep(scenario, GetParam().sabotage, GetParam().mutation);
  std::cout << GetParam().name << ": " << counts << "\n";
  EXPECT_GT(counts.violations, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, PowerCutMutants,
    ::testing::Values(Mutant{"no_file_sync", Sabotage::no_file_sync, Mutation::none},
                      Mutant{"no_directory_sync", Sabotage::no_directory_sync, Mutation::none},
                      Mutant{"rename_before_sync", Sabotage::file_sync_after_rename, Mutation::none},
                      Mutant{"gate_before_record", Sabotage::none, Mutation::gate_opens_at_start},
                      Mutant{"last_handled_moves_back", Sabotage::none, Mutation::last_handled_moves_back}),
    [](const auto& mutant) { return std::string(mutant.param.name); });

// Notifications: the alarm is in the record, the queue is beside it, and the daemon carries messages from one to the
// other. Whatever dies, and whenever, the queue has exactly the tasks that the outcomes in the record call for.

constexpr std::string_view kAlarmed = "a";

// How a careless daemon would do it, to see that the sweep notices.
enum class Courier : std::uint8_t { careful, pays_before_it_submits, forgets_what_is_owed_at_start };

JobDefinition with_alarm(JobDefinition definition) {
  jobs::RunOptions options = *definition.options;
  options.notify = AlarmTerms{.on = all_alarm_kinds(), .to = {"ops"}};
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

void carry_messages(Daemon& daemon, Outside& outside, Courier courier) {
  for (const MessageOwed& owed : std::exchange(outside.owed, {})) {
    const std::string task = notify_task_id(owed.identity, owed.message, "ops");
    if (courier != Courier::pays_before_it_submits) outside.queue.insert(task);
    daemon.scheduler().note_alarm(owed.identity, {.paid = {key_of(owed.message)}});
    static_cast<void>(daemon.scheduler().tick());
    if (courier == Courier::pays_before_it_submits) outside.queue.insert(task);
  }
}

void live(Outside& outside, PowerCutFileSystem& file_system, Courier courier, Seconds length) {
  SilentLog log;
  outside.owed.clear();
  bool is_starting = true;
  outside.observer = [&outside, &is_starting, courier](const Event& event) {
    const auto* owed = std::get_if<MessageOwed>(&event);
    if (owed != nullptr && !(is_starting && courier == Courier::forgets_what_is_owed_at_start)) {
      outside.owed.push_back(*owed);
    }
  };
  const auto daemon = Daemon::start(outside, file_system, log);
  is_starting = false;
  if (!daemon) return outside.witness.accuse("the daemon does not start: " + daemon.error().message);
  for (Seconds at{0}; at < length; at += 5s) {
    carry_messages(**daemon, outside, courier);
    (*daemon)->run_for(5s);
  }
  carry_messages(**daemon, outside, courier);
  (*daemon)->report_executed();
  outside.observer = {};
}

// By the words of the contract, out of the record's history alone.
std::set<std::string> tasks_called_for(const StateRecord& record) {
  std::set<std::string> tasks;
  std::optional<AlarmMessage> open;
  for (const HistoryEntry& entry : record.history) {
    const bool is_good = entry.outcome == Outcome::executed && entry.exit_code == 0;
    const bool is_bad = entry.outcome == Outcome::missed || (entry.outcome == Outcome::executed && !is_good);
    if (is_bad && !open) {
      open.emplace();
      open->first = *entry.period;
      open->sign.kind = entry.outcome == Outcome::missed ? AlarmKind::missed : AlarmKind::failed;
      tasks.insert(notify_task_id(record.identity, *open, "ops"));
    } else if (is_good && open) {
      open->sign.kind = AlarmKind::recovered;
      open->sign.period = *entry.period;
      tasks.insert(notify_task_id(record.identity, *open, "ops"));
      open.reset();
    }
  }
  return tasks;
}

std::string check_tasks(Outside& outside, PowerCutFileSystem& file_system) {
  if (!outside.witness.violation().empty()) return outside.witness.violation();
  const auto files = files_of(file_system.disk(), Daemon::kStateDirectory);
  const auto file = files.find(state_file_name(sha256({kAlarmed})));
  const Result<StateRecord> record = file == files.end() ? StateRecord{} : state::parse(file->second);
  if (!record) return record.error().message;
  if (record->alarm && !record->alarm->owed.empty()) return "a message is still owed";
  const std::set<std::string> wanted = tasks_called_for(*record);
  for (const std::string& task : wanted) {
    if (!outside.queue.contains(task)) return "a message is not in the queue";
  }
  for (const std::string& task : outside.queue) {
    if (!wanted.contains(task)) return "the queue has a message that no outcome calls for";
  }
  return "";
}

SweepCounts sweep_of_messages(Courier courier, std::vector<std::size_t> survivors) {
  Outside outside(utc("2026-03-01T00:00:30Z"));
  outside.jobs = {with_alarm(minutely(std::string(kAlarmed)))};
  // Two of three fail, whoever runs them.
  outside.runner.behave([](const RunSpec& spec) {
    return Behaviour{.runs_for = 20s, .exit_code = std::stoi(spec.run_id.substr(0, 4), nullptr, 16) % 3 == 0 ? 0 : 3};
  });
  PowerCutFileSystem disk;
  Sweep<Outside> run([&](Outside& world, PowerCutFileSystem& file_system) { live(world, file_system, courier, 8min); },
                     [&](Outside& world, PowerCutFileSystem& file_system, Crash crash) {
                       if (crash == Crash::power_cut) {
                         world.lose_power(20s);
                       } else {
                         world.runner.daemon_dies();
                         world.pass(5s);
                       }
                       live(world, file_system, courier, 65s);
                     },
                     check_tasks, {.most_survivors = std::move(survivors)});
  return run(outside, disk.disk());
}

TEST(PowerCut, EachAlarmIsExactlyOneTaskWhateverDies) {
  const SweepCounts counts = sweep_of_messages(Courier::careful, {static_cast<std::size_t>(scaled(4))});
  std::cout << "messages: " << counts << "\n";
  EXPECT_EQ(counts.violations, 0U);
  EXPECT_GE(counts.power_cuts, counts.crash_points);
  if (!is_full_run()) return;
  EXPECT_EQ(sweep_of_messages(Courier::careful, {2, 1}).violations, 0U);
}

TEST(PowerCut, ACarelessCourierIsNoticed) {
  EXPECT_GT(sweep_of_messages(Courier::pays_before_it_submits, {2}).violations, 0U);
  EXPECT_GT(sweep_of_messages(Courier::forgets_what_is_owed_at_start, {2}).violations, 0U);
}

}  // namespace
}  // namespace kron::testing
