#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "kron/env/fake/sweep.h"
#include "kron/queue/queue_rig.h"
#include "kron/testing/scale.h"

// Every moment at which the power can go, or the process die, in a history of all verbs; and in the recovery from it.
namespace kron::testing {
namespace {

// What the outside was told.
struct World {
  FakeClock clock{kQueueStart};
  std::set<std::string> accepted;
  std::set<std::string> committed;
  std::set<std::string> cancelled;
  std::set<std::string> retrying;  // asked for; may or may not have happened
  std::set<std::string> retried;
  std::set<std::string> waiting;  // retried, and not leased since: they must run
  std::set<std::string> pruned;   // asked for; may or may not be gone
  std::uint64_t highest_token = 0;
  std::string problem;
};

// What the commit of a task called `id` brings.
CommitRequest commit_of(const std::string& id, const LeaseKey& key) {
  return {.key = key,
          .result = "result of " + id,
          .follow_ups = {task_named(id + "-f1"), task_named(id + "-f2")},
          .files = {{"out.txt", "output of " + id}, {"sub/more.txt", "more of " + id}}};
}
bool has_follow_ups(const std::string& id) { return id.size() == 1; }

// One process, from its start to its end: verbs that tell the world when they are answered.
class Process {
 public:
  Process(World& world, PowerCutFileSystem& disk) : world_(world) {
    auto opened = FileQueue::open(disk, world.clock, log_, kQueuePath, {.token_block = 4});
    if (opened) {
      queue_ = *std::move(opened);
    } else {
      error_ = opened.error().message;
    }
  }

  FileQueue* queue() { return queue_.get(); }
  const std::string& error() const { return error_; }
  const CapturingLog& log() const { return log_; }

  void submit(const std::vector<std::string>& ids) {
    std::vector<NewTask> tasks;
    for (const std::string& id : ids) tasks.push_back(task_named(id));
    const auto answers = queue_->submit(tasks);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (answers[i]) world_.accepted.insert(ids[i]);
    }
  }

  std::vector<Lease> lease(std::size_t count, bool starts) {
    auto leases = queue_->lease({.worker = "w", .count = count, .starts = starts});
    if (!leases) return {};
    for (const Lease& lease : *leases) world_.highest_token = std::max(world_.highest_token, lease.key.token);
    return *std::move(leases);
  }

  void commit(const std::vector<Lease>& leases) {
    std::vector<CommitRequest> requests;
    for (const Lease& lease : leases) {
      requests.push_back(has_follow_ups(lease.task_id) ? commit_of(lease.task_id, lease.key)
                                                       : CommitRequest{.key = lease.key, .result = "plain"});
    }
    const auto answers = queue_->commit(requests);
    for (std::size_t i = 0; i < leases.size(); ++i) {
      if (answers[i] && answers[i]->outcome == LeaseOutcome::accepted) world_.committed.insert(leases[i].task_id);
    }
  }

 private:
  World& world_;
  CapturingLog log_;
  std::unique_ptr<FileQueue> queue_;
  std::string error_;
};

void submit_lease_start_commit(World& world, PowerCutFileSystem& disk) {
  Process process(world, disk);
  process.submit({"a"});
  process.submit({"b", "c"});
  const auto leases = process.lease(2, false);
  for (const Lease& lease : leases) static_cast<void>(process.queue()->start(lease.key));
  process.commit(leases);
  const auto rest = process.lease(2, true);
  process.commit(rest);
}

void commit_one(World& world, PowerCutFileSystem& disk) {
  Process process(world, disk);
  process.submit({"a"});
  process.commit(process.lease(1, true));
}

// Commits that are one write beside one that is not, in the same group; and what is left of them is pruned.
void commit_with_and_without_redo(World& world, PowerCutFileSystem& disk) {
  Process process(world, disk);
  process.submit({"plain-1", "a", "plain-2"});
  process.commit(process.lease(3, true));
  world.clock.advance(Seconds(1000));
  world.pruned.insert({"plain-1", "plain-2", "a"});
  static_cast<void>(process.queue()->prune({.over_before = now(world.clock), .limit = 1}));
  process.commit(process.lease(2, true));
}

void fail_retry_cancel_expire_prune(World& world, PowerCutFileSystem& disk) {
  Process process(world, disk);
  FileQueue* queue = process.queue();
  process.submit({"a", "b", "c"});
  const auto leases = process.lease(2, true);
  if (leases.size() != 2) return;
  static_cast<void>(queue->fail_attempt({leases[0].key, "boom"}));
  world.clock.advance(Seconds(60));
  static_cast<void>(queue->expire());
  if (queue->cancel("c") == CancelOutcome::cancelled) world.cancelled.insert("c");
  if (queue->cancel("b") == CancelOutcome::cancelled) world.cancelled.insert("b");
  world.retrying.insert("c");
  if (queue->retry("c", 1) == RetryOutcome::retried) world.retried.insert("c");
  const auto third = process.lease(1, true);
  process.commit(third);
  world.clock.advance(Seconds(1000));
  for (const Lease& lease : third) world.pruned.insert(lease.task_id);
  static_cast<void>(queue->prune({.over_before = now(world.clock), .limit = 1}));
}

// What failed while it ran has left a name in running/ whose removal nobody waited for.
void retry_what_failed_while_running(World& world, PowerCutFileSystem& disk) {
  Process process(world, disk);
  FileQueue* queue = process.queue();
  NewTask once = task_named("a");
  once.retry.max_attempts = 1;
  if (queue->submit(once)) world.accepted.insert("a");
  const auto leases = process.lease(1, true);
  if (leases.size() != 1) return;
  const auto failed = queue->fail_attempt({leases[0].key, "boom"});
  if (!failed || failed->state != TaskState::failed) return;
  world.retrying.insert("a");
  if (queue->retry("a", 1) != RetryOutcome::retried) return;
  world.retried.insert("a");
  world.waiting.insert("a");
}

void restart(World& world, PowerCutFileSystem& disk, Crash crash) {
  if (crash == Crash::power_cut) world.clock.reboot(Seconds(30));
  Process process(world, disk);
  if (process.queue() == nullptr) {
    world.problem = "no start: " + process.error();
  } else if (process.queue()->recovery().set_aside != 0) {
    world.problem =
        "a crash left a file that is no task: " + process.log().lines_of("task.set_aside")[0].field("problem");
  }
}

class Checker {
 public:
  Checker(World& world, PowerCutFileSystem& disk) : world_(world), disk_(disk), process_(world, disk) {}

  std::string run() {
    if (!world_.problem.empty()) return world_.problem;
    if (process_.queue() == nullptr) return "no second start: " + process_.error();
    for (const char* place : {"pending", "running", "completed"}) {
      const auto directory = disk_.disk().find_path("/data/tasks/" + std::string(place));
      for (const auto& [name, inode] : disk_.disk().at(*directory).entries) {
        if (name.starts_with('.')) return "a leftover: " + name;
        const std::string id = name.substr(0, name.size() - 5);
        if (!places_.emplace(id, place).second) return id + " is in two states";
      }
    }
    for (const auto& [id, place] : places_) {
      if (std::string broken = check_task(id); !broken.empty()) return broken;
    }
    for (const auto* ids : {&world_.accepted, &world_.committed}) {
      for (const std::string& id : *ids) {
        if (!places_.contains(id) && !world_.pruned.contains(id)) return "the accepted task " + id + " is lost";
      }
    }
    return check_leases();
  }

 private:
  bool exists(const std::string& path) const { return disk_.disk().find_path("/data/" + path).has_value(); }

  std::string check_task(const std::string& id) {
    const auto found = process_.queue()->get(id);
    if (!found) return id + " cannot be read: " + found.error().message;
    const TaskState state = state_of(*found);
    const bool is_done = state == TaskState::succeeded;
    if (world_.committed.contains(id) && !is_done) return "the commit of " + id + " is lost";
    if (is_done && has_follow_ups(id)) {
      if (!exists("effects/" + id + "/out.txt") || !exists("effects/" + id + "/sub/more.txt")) {
        return "the output of " + id + " is lost";
      }
      const auto file = disk_.disk().find_path("/data/effects/" + id + "/out.txt");
      if (disk_.disk().at(*file).data != "output of " + id) return "the output of " + id + " is torn";
      if (!places_.contains(id + "-f1") || !places_.contains(id + "-f2")) return "a follow-up of " + id + " is lost";
      if (found->result != "result of " + id) return "the result of " + id + " is lost";
    }
    if (!is_done && (exists("effects/" + id) || places_.contains(id + "-f1") || places_.contains(id + "-f2"))) {
      return id + " has an effect without being done";
    }
    if (is_done && exists("staging/" + found->executions.back().exec_id)) return "staged output of " + id + " is left";
    const bool must_be_failed = world_.cancelled.contains(id) && !world_.retrying.contains(id);
    if (must_be_failed && state != TaskState::failed) return "the cancel of " + id + " is lost";
    if (world_.retried.contains(id) && state == TaskState::failed) return "the retry of " + id + " is lost";
    return {};
  }

  // Everything that still can run, once: nothing that is done, and with tokens never seen.
  std::string check_leases() {
    world_.clock.advance(Seconds(3700));
    if (!process_.queue()->expire()) return "cannot expire";
    world_.clock.advance(Seconds(3700));
    const std::uint64_t highest = world_.highest_token;
    std::set<std::string> leased;
    for (const Lease& lease : process_.lease(100, true)) {
      if (!leased.insert(lease.task_id).second) return lease.task_id + " is leased twice";
      if (world_.committed.contains(lease.task_id)) return "the completed task " + lease.task_id + " runs again";
      if (lease.key.token <= highest) return "the token " + std::to_string(lease.key.token) + " is handed out again";
    }
    for (const std::string& id : world_.waiting) {
      if (!leased.contains(id)) return "the retry of " + id + " is lost: it does not run again";
    }
    for (const auto& [id, place] : places_) {
      const TaskState state = state_of(process_.queue()->get(id).value());
      if (state == TaskState::pending) return id + " waits and is not leased";
      if ((state == TaskState::running) != leased.contains(id)) return id + " is not as it was leased";
    }
    return {};
  }

  World& world_;
  PowerCutFileSystem& disk_;
  Process process_;
  std::map<std::string, std::string> places_;
};

std::string check(World& world, PowerCutFileSystem& disk) { return Checker(world, disk).run(); }

SweepCounts swept(Sweep<World>::Step history, SweepOptions options) {
  return Sweep<World>(std::move(history), restart, check, std::move(options))({});
}

std::size_t scaled_size(int count) { return static_cast<std::size_t>(scaled(count)); }

TEST(QueuePowerCut, SubmitLeaseStartAndCommitSurviveACutAtEveryMoment) {
  const auto counts = swept(submit_lease_start_commit, {.most_survivors = {scaled_size(8)}});
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.crash_points, 100U);
}

TEST(QueuePowerCut, CommitsWithAndWithoutRedoSurviveACutAtEveryMoment) {
  const auto counts = swept(commit_with_and_without_redo, {.most_survivors = {scaled_size(8)}});
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.crash_points, 80U);
}

TEST(QueuePowerCut, FailRetryCancelExpireAndPruneSurviveACutAtEveryMoment) {
  const auto counts = swept(fail_retry_cancel_expire_prune, {.most_survivors = {scaled_size(8)}});
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.crash_points, 80U);
}

TEST(QueuePowerCut, ARetryOfWhatFailedWhileItRanSurvivesACutAtEveryMoment) {
  const auto counts = swept(retry_what_failed_while_running, {.most_survivors = {scaled_size(16)}});
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.crash_points, 30U);
}

TEST(QueuePowerCut, ACutDuringRecoveryIsSurvivedToo) {
  // Crash points squared: a full run tries a few more survivors of each, not all of them.
  const std::size_t most = std::min<std::size_t>(scaled_size(1), 4);
  const auto counts = swept(commit_one, {.most_survivors = {2 * most, most}});
  EXPECT_EQ(counts.violations, 0U) << counts;
  EXPECT_GT(counts.crash_points, 300U);
}

// The sweep must notice when a step of the durable write is missing; otherwise its silence means nothing.
TEST(QueuePowerCut, TheSweepNoticesAMissingSync) {
  for (const Sabotage sabotage :
       {Sabotage::no_file_sync, Sabotage::no_directory_sync, Sabotage::file_sync_after_rename}) {
    const auto counts =
        swept(submit_lease_start_commit, {.most_survivors = {4}, .process_deaths = false, .sabotage = sabotage});
    EXPECT_GT(counts.violations, 0U) << static_cast<int>(sabotage);
  }
}

}  // namespace
}  // namespace kron::testing
