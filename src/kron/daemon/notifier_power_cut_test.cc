// The real Notifier between the real ledger and the real file queue, on one disk: whatever dies, and whenever, the
// queue has exactly one task of each message for each destination.
#include <algorithm>
#include <gtest/gtest.h>
#include <iostream>

#include "kron/core/sample_jobs.h"
#include "kron/daemon/notifier.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/fake/sweep.h"
#include "kron/queue/file_queue.h"
#include "kron/scheduler/fake/daemon.h"
#include "kron/testing/scale.h"

namespace kron::daemon::notifier_power_cut_test {
namespace {

using namespace std::chrono_literals;
using kron::testing::Behaviour;
using kron::testing::Crash;
using kron::testing::Outside;
using kron::testing::PowerCutFileSystem;
using kron::testing::Sweep;
using kron::testing::SweepCounts;

constexpr std::string_view kQueuePath = "/queue";
constexpr Seconds kLate{30};
constexpr Seconds kBetweenTurns{5};

// Due every minute; it tells three of all that there is to tell, and again while it lasts.
jobs::JobDefinition telling_job() {
  kron::testing::JobSpec spec{.schedule = "* * * * *", .deadline = "1h"};
  spec.identity = "a";
  jobs::JobDefinition definition;
  definition.job = kron::testing::make_job(spec);
  definition.action = jobs::Command{"a"};
  jobs::RunOptions options;
  options.notify = AlarmTerms{
      .on = all_alarm_kinds(), .after = 1, .repeat = Seconds(1min), .late = kLate, .to = {"ops", "pager", "team"}};
  definition.options = std::make_shared<const jobs::RunOptions>(std::move(options));
  return definition;
}

// A krond, from its start to its end: its scheduler, its queue, and the notifier between them.
class Life {
 public:
  Life(Outside& outside, PowerCutFileSystem& disk) : outside_(outside) {
    auto opened = FileQueue::open(disk, outside.clock, log_, kQueuePath, {.token_block = 4});
    if (!opened) {
      outside.witness.accuse("the queue does not open: " + opened.error().message);
      return;
    }
    queue_ = *std::move(opened);
    outside.observer = [this](const Event& event) { notifier_.take(event); };
    notifier_.prepare(outside.jobs);
    auto started = kron::testing::Daemon::start(outside, disk, log_);
    if (!started) {
      outside.witness.accuse("the daemon does not start: " + started.error().message);
      return;
    }
    daemon_ = *std::move(started);
  }
  Life(const Life&) = delete;
  ~Life() { outside_.observer = {}; }

  void go_on(Seconds length) {
    for (Seconds at{0}; daemon_ && at < length; at += kBetweenTurns) {
      daemon_->run_for(kBetweenTurns);
      turn();
    }
    // What the last turn has noted is written, and what that owes is submitted and paid.
    for (int i = 0; daemon_ && i < 3; ++i) {
      static_cast<void>(daemon_->scheduler().tick());
      turn();
    }
    if (daemon_) daemon_->report_executed();
  }

 private:
  void turn() {
    for (const auto& work : std::exchange(posted_, {})) work();
    static_cast<void>(notifier_.tick());
  }

  Outside& outside_;
  kron::testing::SilentLog log_;
  std::unique_ptr<FileQueue> queue_;
  std::vector<std::function<void()>> posted_;
  std::unique_ptr<kron::testing::Daemon> daemon_;
  Notifier notifier_{{.clock = outside_.clock,
                      .log = log_,
                      .submit = [this](std::vector<NewTask> tasks,
                                       const Notifier::Submitted& answered) { answered(queue_->submit(tasks)); },
                      .on_loop = [this](std::function<void()> work) { posted_.push_back(std::move(work)); },
                      .note = [this](const std::string& job,
                                     AlarmNotes notes) { daemon_->scheduler().note_alarm(job, std::move(notes)); },
                      .view = [this](const std::string& job) { return daemon_->scheduler().view(job); },
                      .host = "db1"}};
};

std::vector<Task> tasks_on(PowerCutFileSystem& disk, const Outside& outside) {
  kron::testing::SilentLog log;
  auto queue = FileQueue::open(disk, outside.clock, log, kQueuePath, {.token_block = 4});
  if (!queue) return {};
  auto page = (*queue)->list({.type = std::string(kNotifyTaskType), .limit = 1000});
  return page ? *page : std::vector<Task>();
}

// What outcomes call for is told by a witness of all steps, with a model of its own.
std::string check(Outside& outside, PowerCutFileSystem& disk) {
  if (!outside.witness.violation().empty()) return outside.witness.violation();
  kron::testing::SilentLog log;
  {
    const auto ledger = FileLedger::open(disk, kron::testing::Daemon::kStateDirectory, log);
    const auto record = ledger ? (*ledger)->read("a") : fail(ledger.error());
    if (!record) return record.error().message;
    if (record->alarm && !record->alarm->owed.empty()) return "a message stays owed";
  }
  std::set<std::string> called_for;
  if (const auto* facts = outside.witness.facts("a")) called_for = facts->called_for;
  std::set<std::string> submitted;
  for (const Task& task : tasks_on(disk, outside)) submitted.insert(task.spec.id);
  if (submitted == called_for) return "";
  return "the queue has " + std::to_string(submitted.size()) + " messages, and " + std::to_string(called_for.size()) +
         " are called for";
}

// Most runs fail, some are late, whoever runs them.
Outside telling_world() {
  Outside outside(instant_of(1'772'323'230));  // half a minute past midnight
  outside.jobs = {telling_job()};
  outside.runner.behave([](const RunSpec& spec) {
    const int drawn = std::stoi(spec.run_id.substr(0, 4), nullptr, 16);
    return Behaviour{.runs_for = drawn / 16 % 3 == 0 ? kLate + 15s : 10s, .exit_code = drawn % 4 == 0 ? 0 : 3};
  });
  return outside;
}

SweepCounts sweep_of_lives(std::vector<std::size_t> survivors, Seconds length) {
  Sweep<Outside> run([&](Outside& world, PowerCutFileSystem& disk) { Life(world, disk).go_on(length); },
                     [&](Outside& world, PowerCutFileSystem& disk, Crash crash) {
                       if (crash == Crash::power_cut) {
                         world.lose_power(20s);
                       } else {
                         world.runner.daemon_dies();
                         world.pass(5s);
                       }
                       Life(world, disk).go_on(65s);
                     },
                     check, {.most_survivors = std::move(survivors)});
  return run(telling_world());
}

TEST(NotifierPowerCut, EveryKindOfMessageIsInTheStoryThatIsCutOff) {
  Outside outside = telling_world();
  PowerCutFileSystem disk;
  Life(outside, disk).go_on(12min);
  EXPECT_EQ(check(outside, disk), "");
  std::map<std::string, int> found;
  for (const Task& task : tasks_on(disk, outside)) {
    for (const char* what : {R"("kind":"failed")", R"("kind":"late")", R"("kind":"recovered")", R"("number":1)",
                             R"("destination":"team")"}) {
      found[what] += task.spec.data.find(what) != std::string::npos ? 1 : 0;
    }
  }
  for (const auto& [what, count] : found) EXPECT_GT(count, 0) << what;
}

TEST(NotifierPowerCut, EachMessageIsOneTaskForEachDestinationWhateverDies) {
  const bool is_full = kron::testing::scaled(1) >= 20;
  const SweepCounts counts = sweep_of_lives({is_full ? std::size_t{16} : std::size_t{1}}, is_full ? 12min : 3min);
  std::cout << "notifier: " << counts << "\n";
  EXPECT_EQ(counts.violations, 0U);
  EXPECT_GT(counts.crash_points, 50U);
}

}  // namespace
}  // namespace kron::daemon::notifier_power_cut_test
