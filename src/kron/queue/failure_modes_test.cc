#include <gtest/gtest.h>
#include <map>

#include "kron/queue/queue_rig.h"

// docs/failure-modes.md names these tests: each failure mode reproduced, prevented and recovered from, and each
// invariant shown to hold.
namespace kron {

// The switch that no program can reach: it is defined in this test only.
class CommitBoundary {
 public:
  static void remove_from(MemoryQueue& queue) { queue.has_boundary_ = false; }
};

namespace testing {
namespace {

std::vector<StagedFile> mail_sent_by(const std::string& worker) { return {{"mail.txt", "sent by " + worker}}; }

// FM_001: A leases and starts; its lease expires; B leases the same task; both finish. What each was told.
struct TwoWorkers {
  LeaseOutcome late;
  LeaseOutcome current;
};

TwoWorkers let_both_commit(QueueRig& rig) {
  rig.submit(task_named("mail"));
  const Lease a = rig.lease_one("A");
  rig.clock.advance(Seconds(60));
  EXPECT_EQ(rig.queue().expire().value().size(), 1U);
  rig.clock.advance(Seconds(10));
  const Lease b = rig.lease_one("B");
  const auto late = rig.queue().commit({.key = a.key, .result = "A", .files = mail_sent_by("A")});
  const auto current = rig.queue().commit({.key = b.key, .result = "B", .files = mail_sent_by("B")});
  return {late.value().outcome, current.value().outcome};
}

TEST(FM_001, ReproducedWithoutTheBoundaryBothWorkersApplyTheirEffect) {
  MemoryRig rig;
  CommitBoundary::remove_from(rig.queue());
  const TwoWorkers told = let_both_commit(rig);
  EXPECT_EQ(told.late, LeaseOutcome::accepted);
  EXPECT_EQ(told.current, LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().effects_of("mail").size(), 2U);
}

TEST(FM_001, PreventedByTheBoundaryInMemory) {
  MemoryRig rig;
  const TwoWorkers told = let_both_commit(rig);
  EXPECT_EQ(told.late, LeaseOutcome::lease_lost);
  EXPECT_EQ(told.current, LeaseOutcome::accepted);
  EXPECT_EQ(rig.queue().effects_of("mail").size(), 1U);
}

TEST(FM_001, PreventedByTheBoundaryOnFiles) {
  FileRig rig;
  const TwoWorkers told = let_both_commit(rig);
  EXPECT_EQ(told.late, LeaseOutcome::lease_lost);
  EXPECT_EQ(told.current, LeaseOutcome::accepted);
  EXPECT_EQ(rig.contents("effects/mail/mail.txt"), "sent by B");
  EXPECT_EQ(rig.names("staging"), std::vector<std::string>());
  EXPECT_EQ(rig.queue().get("mail").value().result, "B");
}

TEST(FM_001, ALateWorkerAfterTheOthersCommitIsToldDuplicate) {
  FileRig rig;
  rig.submit(task_named("mail"));
  const Lease a = rig.lease_one("A");
  rig.clock.advance(Seconds(60));
  ASSERT_TRUE(rig.queue().expire());
  rig.clock.advance(Seconds(10));
  EXPECT_EQ(rig.commit(rig.lease_one("B").key, "B"), LeaseOutcome::accepted);
  EXPECT_EQ(rig.commit(a.key, "A"), LeaseOutcome::duplicate);
  EXPECT_EQ(rig.queue().get("mail").value().result, "B");
}

// Dies at the changing call `death`, from the commit on; returns how many calls the whole commit takes.
std::size_t commit_and_die_before(std::size_t death, FileRig& rig) {
  rig.submit(task_named("mail"));
  const Lease lease = rig.lease_one();
  const std::size_t before = rig.disk.changes();
  rig.disk.cut_power_after(before + death);
  static_cast<void>(rig.queue().commit(
      {.key = lease.key, .result = "B", .follow_ups = {task_named("next")}, .files = mail_sent_by("B")}));
  return rig.disk.changes() - before;
}

TEST(FM_001, RecoveredACommitThatWasCutOffIsFinishedOnce) {
  FileRig whole;
  const std::size_t steps = commit_and_die_before(1000, whole);
  ASSERT_GT(steps, 10U);
  std::size_t finalised = 0;
  for (std::size_t death = 0; death < steps; ++death) {
    FileRig first;
    commit_and_die_before(death, first);
    // The process died; what it had written is in the page cache.
    PowerCutFileSystem disk(first.disk.disk());
    CapturingLog log;
    auto queue = FileQueue::open(disk, first.clock, log, kQueuePath).value();
    const Task task = queue->get("mail").value();
    const bool is_done = state_of(task) == TaskState::succeeded;
    finalised += queue->recovery().finalised;
    EXPECT_EQ(disk.disk().find_path("/data/effects/mail/mail.txt").has_value(), is_done) << death;
    EXPECT_EQ(queue->get("next").has_value(), is_done) << death;
    EXPECT_EQ(queue->lease({.worker = "w", .count = 9}).value().size(), is_done ? 1U : 0U) << death;
    EXPECT_EQ(task.result, is_done ? "B" : "") << death;
  }
  EXPECT_GT(finalised, 3U);
}

TEST(INV_001, AnEffectHappensAtMostOnceHoweverOftenItIsCommitted) {
  FileRig rig;
  rig.submit(task_named("mail"));
  const Lease lease = rig.lease_one();
  const CommitRequest request{
      .key = lease.key, .result = "r", .follow_ups = {task_named("next")}, .files = mail_sent_by("w1")};
  EXPECT_EQ(rig.queue().commit(request).value().outcome, LeaseOutcome::accepted);
  const Lease next = rig.lease_one();
  EXPECT_EQ(rig.commit(next.key), LeaseOutcome::accepted);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.queue().commit(request).value().outcome, LeaseOutcome::duplicate);
    rig.restart();
  }
  EXPECT_EQ(rig.queue().counts(), (TaskCounts{0, 0}));
  EXPECT_EQ(rig.state("next"), TaskState::succeeded);
}

TEST(INV_001, TokensOnlyGrowOverRestarts) {
  FileRig rig({.token_block = 3});
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    rig.submit(task_named("t" + std::to_string(i)));
    const Lease lease = rig.lease_one();
    EXPECT_GT(lease.key.token, last);
    last = lease.key.token;
    if (i % 2 == 0) rig.restart();
  }
}

TEST(INV_001, TokensGoOnBehindTheHighestKnownWhenTheirFileIsGone) {
  FileRig rig;
  rig.submit(task_named("a"));
  const std::uint64_t token = rig.lease_one().key.token;
  ASSERT_TRUE(rig.disk.open_directory("/data").value()->remove("tokens.json"));
  rig.restart();
  EXPECT_EQ(rig.log.lines_of("queue.tokens_rebuilt").size(), 1U);
  rig.submit(task_named("b"));
  EXPECT_GT(rig.lease_one().key.token, token);
}

TEST(INV_002, NothingIsAcknowledgedBeforeItIsDurable) {
  // A sync that fails in any of the verbs' steps must be heard of by whoever asked.
  const auto told_ok = [](std::size_t failing, std::size_t& syncs) {
    FileRig rig;
    std::size_t seen = 0;
    rig.disk.fail_when([&](const CallRecord& call) {
      const bool is_sync = call.call == Call::sync_file || call.call == Call::sync_directory;
      return is_sync && seen++ == failing ? Fault::io_error : Fault::none;
    });
    bool all_ok = rig.queue().submit(task_named("a")).has_value();
    const auto leases = rig.queue().lease({.worker = "w"});
    all_ok = all_ok && leases.has_value();
    if (leases && !leases->empty()) all_ok = all_ok && rig.queue().start(leases->front().key).has_value();
    syncs = seen;
    return all_ok && !rig.queue().has_stopped();
  };
  std::size_t syncs = 0;
  EXPECT_TRUE(told_ok(1000, syncs));
  ASSERT_GE(syncs, 6U);
  for (std::size_t failing = 0; failing < syncs; ++failing) {
    std::size_t unused = 0;
    EXPECT_FALSE(told_ok(failing, unused)) << failing;
  }
}

TEST(INV_002, AFailedSyncIsFinalForEveryVerb) {
  FileRig rig;
  rig.submit(task_named("a"));
  rig.submit(task_named("b"));
  const Lease lease = rig.lease_one();
  rig.disk.fail_when(
      [](const CallRecord& call) { return call.call == Call::sync_directory ? Fault::io_error : Fault::none; });
  EXPECT_EQ(rig.queue().submit(task_named("c")).error().code, Code::io);
  rig.disk.fail_when(nullptr);
  EXPECT_TRUE(rig.queue().has_stopped());
  EXPECT_EQ(rig.queue().submit(task_named("d")).error().code, Code::io);
  EXPECT_EQ(rig.queue().lease({.worker = "w"}).error().code, Code::io);
  EXPECT_EQ(rig.queue().start(lease.key).error().code, Code::io);
  EXPECT_EQ(rig.queue().renew(lease.key).error().code, Code::io);
  EXPECT_EQ(rig.queue().commit({.key = lease.key, .result = ""}).error().code, Code::io);
  EXPECT_EQ(rig.queue().fail_attempt({lease.key, ""}).error().code, Code::io);
  EXPECT_EQ(rig.queue().cancel("b").error().code, Code::io);
  EXPECT_EQ(rig.queue().expire().error().code, Code::io);
  EXPECT_EQ(rig.queue().prune({.over_before = kLastInstant}).error().code, Code::io);
  rig.restart();
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
}

TEST(INV_002, AFollowUpCannotRunBeforeItsParentIsDone) {
  FileRig rig;
  rig.submit(task_named("parent"));
  const Lease lease = rig.lease_one();
  // The disk has room for the commit and the follow-up, but none for completed/.
  rig.disk.fail_when([](const CallRecord& call) {
    return call.call == Call::create && call.path.find("/completed/") != std::string::npos ? Fault::no_space
                                                                                           : Fault::none;
  });
  const auto answer = rig.queue().commit({.key = lease.key, .result = "", .follow_ups = {task_named("child")}});
  EXPECT_EQ(answer.value().outcome, LeaseOutcome::accepted);
  EXPECT_EQ(rig.names("tasks/pending"), std::vector<std::string>{"child.json"});
  EXPECT_TRUE(rig.lease({}).empty());
  EXPECT_EQ(rig.submit(task_named("child", "OTHER")), SubmitOutcome::conflict);
  rig.restart();
  EXPECT_TRUE(rig.lease({}).empty());
  rig.disk.fail_when(nullptr);
  ASSERT_TRUE(rig.queue().expire());
  EXPECT_EQ(rig.state("parent"), TaskState::succeeded);
  EXPECT_EQ(rig.lease_one().task_id, "child");
}

TEST(INV_003, EveryAttemptIsOnRecordWithWhoWhenAndWhy) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease first = rig.lease_one("A");
  rig.clock.advance(Seconds(60));
  ASSERT_TRUE(rig.queue().expire());
  rig.clock.advance(Seconds(10));
  ASSERT_TRUE(rig.queue().fail_attempt({rig.lease_one("B").key, "exit 3"}));
  rig.clock.advance(Seconds(20));
  rig.commit(rig.lease_one("C").key);
  rig.restart();
  const Task task = rig.queue().get("a").value();
  ASSERT_EQ(task.executions.size(), 3U);
  const char* owners[] = {"A", "B", "C"};
  const char* reasons[] = {"lease expired", "exit 3", ""};
  for (std::size_t i = 0; i < 3; ++i) {
    const Execution& e = task.executions[i];
    EXPECT_EQ(e.attempt, static_cast<int>(i) + 1);
    EXPECT_EQ(e.lease_owner, owners[i]);
    EXPECT_EQ(e.reason, reasons[i]);
    EXPECT_EQ(e.status, i < 2 ? ExecutionStatus::aborted : ExecutionStatus::done);
    EXPECT_TRUE(e.finished_at);
    EXPECT_LT(i == 0 ? 0 : task.executions[i - 1].token, e.token);
  }
  EXPECT_EQ(task.executions[0].exec_id, first.key.exec_id);
}

TEST(INV_004, WhenATaskLiesInTwoDirectoriesTheFurthestStateWins) {
  FileRig rig;
  rig.submit(task_named("a"));
  const std::string pending = rig.contents("tasks/pending/a.json");
  const Lease lease = rig.lease_one();
  const std::string running = rig.contents("tasks/running/a.json");
  rig.disk.plant_file("/data/tasks/pending/a.json", pending);
  rig.restart();
  EXPECT_EQ(rig.names("tasks/pending"), std::vector<std::string>());
  EXPECT_EQ(rig.queue().recovery().doubles, 1U);
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
  rig.disk.plant_file("/data/tasks/pending/a.json", pending);
  rig.disk.plant_file("/data/tasks/running/a.json", running);
  rig.restart();
  EXPECT_EQ(rig.names("tasks/pending"), std::vector<std::string>());
  EXPECT_EQ(rig.names("tasks/running"), std::vector<std::string>());
  EXPECT_TRUE(rig.lease({}).empty());
}

TEST(INV_004, AKeptLeaseGetsAtMostOneFullTerm) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  rig.clock.advance(Seconds(50));
  rig.clock.reboot(Seconds(5));
  rig.restart();
  EXPECT_EQ(rig.queue().recovery().kept, 1U);
  rig.clock.advance(Seconds(59));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
  rig.restart();
  rig.clock.advance(Seconds(60));
  EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig.queue().expire().value().size(), 1U);
}

TEST(INV_004, TheAttemptsOfWorkersInsideEndWithTheirProcess) {
  FileRig rig;
  rig.submit(task_named("a"));
  const auto leases = rig.lease({.worker = "self", .holder = Holder::in_process, .starts = true});
  ASSERT_EQ(leases.size(), 1U);
  rig.restart();
  EXPECT_EQ(rig.queue().recovery().aborted, 1U);
  EXPECT_EQ(rig.queue().get("a").value().executions[0].reason, "its process ended");
  EXPECT_EQ(rig.commit(leases[0].key), LeaseOutcome::lease_lost);
  EXPECT_EQ(rig.lease_one("next").attempt, 2);
}

TEST(INV_005, ATornFileIsSetAsideAndReportedAndNothingElseStops) {
  FileRig rig;
  for (const char* id : {"a", "b", "c"}) rig.submit(task_named(id));
  rig.lease_one();
  const std::string good = rig.contents("tasks/pending/b.json");
  for (const std::string path : {"pending/b.json", "running/a.json"}) {
    const auto directory = rig.disk.open_directory("/data/tasks").value()->open_directory(path.substr(0, 7)).value();
    ASSERT_TRUE(directory->remove(path.substr(8)));
    rig.disk.plant_file("/data/tasks/" + path, good.substr(0, 40));
  }
  rig.restart();
  EXPECT_EQ(rig.queue().recovery().set_aside, 2U);
  EXPECT_EQ(rig.log.lines_of("task.set_aside").size(), 2U);
  EXPECT_EQ(rig.names("tasks/pending"), (std::vector<std::string>{"b.json.corrupt.2026-01-06T09:15:30Z", "c.json"}));
  EXPECT_EQ(rig.names("tasks/running"), std::vector<std::string>{"a.json.corrupt.2026-01-06T09:15:30Z"});
  EXPECT_EQ(rig.lease_one().task_id, "c");
}

TEST(INV_005, ExpiryAndRecoveryAreLogged) {
  FileRig rig;
  rig.submit(task_named("a"));
  rig.lease_one();
  rig.clock.advance(Seconds(60));
  ASSERT_TRUE(rig.queue().expire());
  const auto lines = rig.log.lines_of("task.expired");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].field("task"), "a");
  EXPECT_EQ(lines[0].field("reason"), "lease expired");
  rig.restart();
  EXPECT_EQ(rig.log.lines_of("queue.recovered").back().field("pending"), "1");
}

}  // namespace
}  // namespace testing
}  // namespace kron
