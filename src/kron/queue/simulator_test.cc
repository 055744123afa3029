#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

#include "kron/env/fake/survivors.h"
#include "kron/queue/queue_rig.h"
#include "kron/testing/scale.h"

// Three workers, one queue, and everything that can go wrong between them: pauses beyond the lease, lost replies, jumps
// of the clock, the owner's death, power cuts. KRON_SIM_SEED=n replays one history.
namespace kron::testing {
namespace {

constexpr int kStepsPerSeed = 400;

// A worker remembers what it holds; whether it still does is the queue's to say.
struct Worker {
  std::string name;
  std::optional<Lease> lease;
  bool has_started = false;
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed), disk_(std::make_unique<PowerCutFileSystem>()) {
    for (const char* name : {"w1", "w2", "w3"}) workers_.push_back({name, {}});
    open();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      step();
      if (i % 50 == 0) check();
    }
    finish_everything();
    check();
    for (const auto& [id, data] : accepted_) {
      EXPECT_EQ(state_of(queue_->get(id).value()), TaskState::succeeded) << id;
    }
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  Worker& any_worker() { return workers_[random_() % workers_.size()]; }

  void open() {
    queue_.reset();
    auto opened = FileQueue::open(*disk_, clock_, log_, kQueuePath, {.token_block = 5});
    ASSERT_TRUE(opened) << opened.error().message;
    queue_ = *std::move(opened);
    EXPECT_EQ(queue_->recovery().set_aside, 0U);
  }

  void step() {
    const auto draw = random_() % 100;
    if (draw < 12) return submit();
    if (draw < 72) return work(any_worker());
    if (draw < 84) return clock_.advance(Seconds(random_() % 20));
    if (draw < 90) return expire();
    if (draw < 93) return clock_.jump(Seconds(static_cast<std::int64_t>(random_() % 7200) - 3600));
    if (draw < 95) return die(false);
    if (draw < 97) return die(true);
    if (draw < 98) return clock_.sleep(Seconds(random_() % 300));  // everyone is paused
    any_worker().lease.reset();                                    // a worker dies
  }

  void submit() {
    // Sometimes an old one, as someone does who did not hear the answer.
    const auto number = chance(20) && next_task_ > 0 ? random_() % next_task_ : next_task_++;
    NewTask task = task_named("t" + std::to_string(number), number % 2 == 0 ? "EVEN" : "ODD");
    task.retry = {kMostAttempts, Seconds(1), Seconds(4)};
    task.priority = static_cast<int>(number % 5);
    const auto answer = queue_->submit(task);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_NE(answer->outcome, SubmitOutcome::conflict);
    accepted_.emplace(task.id, task.data);
  }

  void work(Worker& worker) {
    if (!worker.lease) return lease(worker);
    if (!worker.has_started) return start(worker);
    const auto draw = random_() % 10;
    if (draw < 5) return commit(worker);
    if (draw < 7) return heard(worker, queue_->renew(worker.lease->key));
    if (draw < 8) fail(worker);
  }

  void lease(Worker& worker) {
    auto leases = queue_->lease({.worker = worker.name, .term = Seconds(30), .starts = chance(30)});
    ASSERT_TRUE(leases) << leases.error().message;
    if (leases->empty()) return;
    const Lease& lease = leases->front();
    EXPECT_GT(lease.key.token, highest_token_) << "a token was handed out again";
    highest_token_ = std::max(highest_token_, lease.key.token);
    EXPECT_FALSE(committed_.contains(lease.task_id)) << lease.task_id << " runs again";
    if (chance(5)) return;  // the reply is lost: nobody works on it
    worker.lease = lease;
    worker.has_started = false;
  }

  void heard(Worker& worker, const Result<LeaseOutcome>& outcome) {
    ASSERT_TRUE(outcome) << outcome.error().message;
    if (*outcome != LeaseOutcome::accepted) worker.lease.reset();
  }

  void start(Worker& worker) {
    const auto outcome = queue_->start(worker.lease->key);
    if (chance(5)) return;  // the reply is lost: it asks again
    worker.has_started = outcome == LeaseOutcome::accepted;
    heard(worker, outcome);
  }

  void commit(Worker& worker) {
    const std::string id = worker.lease->task_id;
    CommitRequest request{.key = worker.lease->key, .result = worker.lease->key.exec_id};
    if (id.find('f') == std::string::npos) request.follow_ups = {follow_up_of(id)};
    request.files = {{"who", worker.lease->key.exec_id}};
    const auto answer = queue_->commit(request);
    ASSERT_TRUE(answer) << answer.error().message;
    if (answer->outcome == LeaseOutcome::accepted) {
      EXPECT_TRUE(committed_.emplace(id, worker.lease->key.exec_id).second) << id << " was committed twice";
      for (const SubmitAnswer& follow_up : answer->follow_ups) {
        EXPECT_EQ(follow_up.outcome, SubmitOutcome::accepted);
        accepted_.emplace(follow_up.task_id, "");
      }
    }
    if (chance(10)) return;  // the reply is lost: it asks again
    worker.lease.reset();
  }

  static NewTask follow_up_of(const std::string& id) {
    NewTask task = task_named(id + "f");
    task.retry = {kMostAttempts, Seconds(1), Seconds(4)};
    return task;
  }

  void fail(Worker& worker) {
    const auto answer = queue_->fail_attempt({worker.lease->key, "no luck", chance(50)});
    ASSERT_TRUE(answer) << answer.error().message;
    worker.lease.reset();
  }

  void expire() { ASSERT_TRUE(queue_->expire()); }

  // The owner of the queue dies, perhaps in the middle of a commit, perhaps with the whole machine.
  void die(bool power_cut) {
    Worker& worker = any_worker();
    if (worker.lease && worker.has_started && chance(70)) {
      disk_->cut_power_after(disk_->changes() + random_() % 25);
      cut_off_commit(worker);
    }
    queue_.reset();
    Disk left = disk_->disk();
    if (power_cut) {
      const auto survivors = survivors_of(left, 20, random_()).all;
      const Survivor& survivor = survivors[random_() % survivors.size()];
      left = left.after_power_cut(survivor.kept, survivor.contents);
      clock_.reboot(Seconds(random_() % 60));
    }
    disk_ = std::make_unique<PowerCutFileSystem>(left);
    open();
    adopt_commit_of(worker);
  }

  void cut_off_commit(Worker& worker) {
    const std::string id = worker.lease->task_id;
    CommitRequest request{.key = worker.lease->key, .result = worker.lease->key.exec_id};
    if (id.find('f') == std::string::npos) request.follow_ups = {follow_up_of(id)};
    request.files = {{"who", worker.lease->key.exec_id}};
    static_cast<void>(queue_->commit(request));
  }

  // Nobody heard whether it committed; what the disk says is what happened.
  void adopt_commit_of(Worker& worker) {
    if (!worker.lease) return;
    const std::string id = worker.lease->task_id;
    const auto task = queue_->get(id);
    ASSERT_TRUE(task) << task.error().message;
    if (state_of(*task) != TaskState::succeeded || committed_.contains(id)) return;
    committed_.emplace(id, task->result);
    if (id.find('f') == std::string::npos) accepted_.emplace(id + "f", "");
  }

  void finish_everything() {
    for (int round = 0; round < 3000 && !::testing::Test::HasFailure(); ++round) {
      if (queue_->counts() == TaskCounts{0, 0}) return;
      clock_.advance(Seconds(5));
      expire();
      for (Worker& worker : workers_) {
        if (!worker.lease) lease(worker);
        if (worker.lease && !worker.has_started) start(worker);
        if (worker.lease && worker.has_started) commit(worker);
      }
    }
    EXPECT_EQ(queue_->counts(), (TaskCounts{0, 0}));
  }

  void check() {
    const auto tasks = queue_->list({.limit = 100000});
    ASSERT_TRUE(tasks) << tasks.error().message;
    std::set<std::string> seen;
    for (const Task& task : *tasks) {
      const std::string& id = task.spec.id;
      EXPECT_TRUE(seen.insert(id).second) << id << " is in two states";
      EXPECT_TRUE(accepted_.contains(id)) << id << " came from nowhere";
      const bool is_done = state_of(task) == TaskState::succeeded;
      EXPECT_EQ(is_done, committed_.contains(id)) << id;
      const auto effect = disk_->disk().find_path("/data/effects/" + id + "/who");
      EXPECT_EQ(effect.has_value(), is_done) << id;
      if (!is_done || !effect) continue;
      EXPECT_EQ(task.result, committed_[id]) << id;
      EXPECT_EQ(disk_->disk().at(*effect).data, committed_[id]) << id;
    }
    for (const auto& [id, data] : accepted_) EXPECT_TRUE(seen.contains(id)) << id << " is lost";
  }

  std::mt19937_64 random_;
  FakeClock clock_{kQueueStart};
  CapturingLog log_;
  std::unique_ptr<PowerCutFileSystem> disk_;
  std::unique_ptr<FileQueue> queue_;
  std::vector<Worker> workers_;
  std::map<std::string, std::string> accepted_;
  std::map<std::string, std::string> committed_;  // task → execution that did it
  std::uint64_t highest_token_ = 0;
  std::uint64_t next_task_ = 0;
};

TEST(QueueSimulator, NoHistoryLosesDoublesOrRepeatsATask) {
  const char* replay = std::getenv("KRON_SIM_SEED");
  const std::uint64_t first = replay != nullptr ? std::strtoull(replay, nullptr, 10) : 1;
  const int seeds = replay != nullptr ? 1 : scaled(50);
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(seeds); ++seed) {
    SCOPED_TRACE("replay with KRON_SIM_SEED=" + std::to_string(seed));
    Simulation(seed).run(kStepsPerSeed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kron::testing
