#include "kron/queue/file_queue.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/env/real_file_system.h"
#include "kron/json/document.h"
#include "kron/queue/queue_rig.h"
#include "kron/queue/task_file.h"

namespace kron::testing {
namespace {

using Names = std::vector<std::string>;

// A member of the JSON object in a file, read with nothing but the seed in hand.
std::string member(const FileRig& rig, const std::string& path, std::string_view key) {
  const auto document = parse_json(rig.contents(path));
  const Node* found = document ? document->find(key) : nullptr;
  const auto* text = found != nullptr ? found->as<std::string>() : nullptr;
  return text != nullptr ? *text : "(none)";
}

TEST(FileQueueLayout, IsThatOfTheSeedInEveryState) {
  FileRig rig;
  rig.submit(task_named("task-123", "EMAIL_SEND", R"({"to":"user@example.com"})"));
  EXPECT_EQ(rig.names("tasks"), (Names{"completed", "pending", "running"}));
  EXPECT_EQ(rig.names("tasks/pending"), Names{"task-123.json"});
  EXPECT_EQ(member(rig, "tasks/pending/task-123.json", "taskId"), "task-123");
  EXPECT_EQ(member(rig, "tasks/pending/task-123.json", "state"), "PENDING");
  EXPECT_EQ(member(rig, "tasks/pending/task-123.json", "createdAt"), "2026-01-06T09:15:30Z");
  const auto document = parse_json(rig.contents("tasks/pending/task-123.json"));
  const Node* payload = document->find("payload");
  ASSERT_NE(payload, nullptr);
  EXPECT_EQ(*payload->find("type")->as<std::string>(), "EMAIL_SEND");
  EXPECT_EQ(*payload->find("data")->find("to")->as<std::string>(), "user@example.com");

  const Lease lease = rig.lease_one();
  EXPECT_EQ(rig.names("tasks/pending"), Names());
  EXPECT_EQ(rig.names("tasks/running"), Names{"task-123.json"});
  EXPECT_EQ(member(rig, "tasks/running/task-123.json", "state"), "RUNNING");
  rig.commit(lease.key);
  EXPECT_EQ(rig.names("tasks/running"), Names());
  EXPECT_EQ(rig.names("tasks/completed"), Names{"task-123.json"});
  EXPECT_EQ(member(rig, "tasks/completed/task-123.json", "state"), "COMPLETED");
  EXPECT_EQ(member(rig, "tasks/completed/task-123.json", "outcome"), "SUCCEEDED");
}

TEST(FileQueueLayout, AFailedTaskLivesInCompleted) {
  FileRig rig;
  rig.submit(task_named("a"));
  ASSERT_TRUE(rig.queue().cancel("a"));
  EXPECT_EQ(rig.names("tasks/completed"), Names{"a.json"});
  EXPECT_EQ(member(rig, "tasks/completed/a.json", "outcome"), "FAILED");
}

// The steps of the seed, and between them the syncs it forgets.
TEST(FileQueueLayout, AMoveIsWriteSyncRenameSyncRemove) {
  FileRig rig;
  rig.submit(task_named("a"));
  const std::size_t before = rig.disk.calls().size();
  rig.lease_one();
  std::string story;
  for (std::size_t i = before; i < rig.disk.calls().size(); ++i) {
    const CallRecord& call = rig.disk.calls()[i];
    if (is_change(call.call)) story += std::string(name_of(call.call)) + " " + call.path.substr(12) + "\n";
  }
  EXPECT_EQ(story,
            "create running/.tmp-a.json\nwrite running/.tmp-a.json\nsync running/.tmp-a.json\n"
            "rename running/.tmp-a.json\nsync running\nremove pending/a.json\n");
}

TEST(FileQueueLayout, ACommitWithNothingLeftToDoIsOneMoveToCompleted) {
  FileRig rig;
  rig.submit(task_named("a"));
  const std::uint64_t syncs = rig.queue().syncs();
  const Lease lease = rig.lease_one();
  const std::size_t before = rig.disk.calls().size();
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
  std::string story;
  for (std::size_t i = before; i < rig.disk.calls().size(); ++i) {
    const CallRecord& call = rig.disk.calls()[i];
    if (is_change(call.call)) story += std::string(name_of(call.call)) + " " + call.path.substr(12) + "\n";
  }
  EXPECT_EQ(story,
            "create completed/.tmp-a.json\nwrite completed/.tmp-a.json\nsync completed/.tmp-a.json\n"
            "rename completed/.tmp-a.json\nsync completed\nremove running/a.json\n");
  EXPECT_EQ(rig.queue().syncs() - syncs, 4U) << "two for the lease that has started, two for the commit";
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::duplicate);
}

TEST(FileQueueLayout, TasksOfTheSeedsOwnSchedulerAreTakenOver) {
  FileRig rig;
  const auto seed_file = [](const std::string& id, const std::string& state) {
    return "{\n  \"taskId\": \"" + id + "\",\n  \"state\": \"" + state +
           "\",\n  \"createdAt\": \"2026-01-06T08:00:00Z\",\n  \"payload\": {\"type\": \"MAIL\", \"data\": {}}\n}\n";
  };
  rig.disk.plant_file("/data/tasks/pending/waits.json", seed_file("waits", "PENDING"));
  rig.disk.plant_file("/data/tasks/running/ran.json", seed_file("ran", "RUNNING"));
  rig.disk.plant_file("/data/tasks/completed/over.json", seed_file("over", "COMPLETED"));
  rig.disk.plant_file("/data/tasks/pending/.tmp-torn.json", "{\"taskId\": \"to");
  rig.restart();
  EXPECT_EQ(rig.names("tasks/pending"), (Names{"ran.json", "waits.json"}));
  EXPECT_EQ(rig.names("tasks/running"), Names());
  EXPECT_EQ(rig.queue().recovery().leftovers, 1U);
  EXPECT_EQ(rig.state("over"), TaskState::succeeded);
  EXPECT_EQ(rig.lease({.worker = "w", .count = 9}).size(), 2U);
}

TEST(FileQueueCommit, PublishesStagedFilesWithTheirDirectories) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  const auto answer = rig.queue().commit(
      {.key = lease.key, .result = "", .files = {{"b/deep/er.txt", "1"}, {"b-c", "2"}, {"b/x", "3"}, {"z", ""}}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(rig.names("effects/a"), (Names{"b", "b-c", "z"}));
  EXPECT_EQ(rig.contents("effects/a/b/deep/er.txt"), "1");
  EXPECT_EQ(rig.contents("effects/a/b/x"), "3");
  EXPECT_EQ(rig.names("staging"), Names());
}

TEST(FileQueueCommit, PathsThatLeadOutOrClashAreRefused) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  const std::vector<std::vector<StagedFile>> bad{{{"", ""}},
                                                 {{"/etc/passwd", ""}},
                                                 {{"../x", ""}},
                                                 {{"a/../../x", ""}},
                                                 {{"a//b", ""}},
                                                 {{"a/", ""}},
                                                 {{".", ""}},
                                                 {{"a/./b", ""}},
                                                 {{std::string("a\0b", 3), ""}},
                                                 {{"x", ""}, {"x", ""}},
                                                 {{"x", ""}, {"x/y", ""}},
                                                 {{"1/2/3/4/5/6/7/8/9", ""}}};
  for (const auto& files : bad) {
    const auto answer = rig.queue().commit({.key = lease.key, .result = "", .files = files});
    ASSERT_FALSE(answer) << files[0].path;
    EXPECT_EQ(answer.error().code, Code::invalid);
  }
  EXPECT_EQ(rig.names("staging"), Names());
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
}

TEST(FileQueueCommit, PathsThatCannotBePrintedAreRefused) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  for (const std::string path : {"a\nb", "d/\x1b[31m", "\x7f", "\xff", "a\xc2\x9b", "\xed\xa0\x80", "a\tb"}) {
    const auto answer = rig.queue().commit({.key = lease.key, .result = "", .files = {{path, ""}}});
    ASSERT_FALSE(answer) << path;
    EXPECT_EQ(answer.error().code, Code::invalid);
    EXPECT_NE(answer.error().message.find("printable"), std::string::npos);
  }
  EXPECT_EQ(rig.names("staging"), Names());
  const std::string good = "\xc3\xa4 b/\xe2\x82\xac.txt";
  EXPECT_TRUE(rig.queue().commit({.key = lease.key, .result = "", .files = {{good, "1"}}}));
  EXPECT_EQ(rig.contents("effects/a/" + good), "1");
}

TEST(FileQueueCommit, EffectsOfAnEarlierTaskAreNotOverwritten) {
  FileRig rig;
  rig.disk.plant_directory("/data/effects/a");
  rig.disk.plant_file("/data/effects/a/precious", "old");
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  const auto answer = rig.queue().commit({.key = lease.key, .result = "", .files = {{"new", ""}}});
  EXPECT_EQ(answer.error().code, Code::conflict);
  EXPECT_EQ(rig.state("a"), TaskState::running);
  EXPECT_EQ(rig.contents("effects/a/precious"), "old");
  EXPECT_EQ(rig.names("staging"), Names());
}

TEST(FileQueueCommit, StagedFilesWithoutACommitAreClearedAway) {
  FileRig rig;
  rig.submit(task_named("a"));
  rig.lease_one();
  rig.disk.plant_directory("/data/staging/a.99");
  rig.disk.plant_directory("/data/staging/a.99/sub");
  rig.disk.plant_file("/data/staging/a.99/sub/x", "half");
  rig.disk.plant_directory("/data/staging/gone.7");
  rig.restart();
  EXPECT_EQ(rig.names("staging"), Names());
}

TEST(FileQueueGroup, ManySubmitsShareOneSyncOfTheDirectory) {
  FileRig rig;
  rig.submit(task_named("first"));
  const std::uint64_t before = rig.queue().syncs();
  std::vector<NewTask> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(task_named("t" + std::to_string(i)));
  for (const auto& answer : rig.queue().submit(tasks)) EXPECT_EQ(answer.value().outcome, SubmitOutcome::accepted);
  EXPECT_EQ(rig.queue().syncs() - before, 101U);
}

TEST(FileQueueGroup, AFollowUpOfACommitThatFailedIsStillTheOthers) {
  FileRig rig;
  rig.submit(task_named("a"));
  rig.submit(task_named("b"));
  const auto leases = rig.lease({.worker = "w", .count = 2, .starts = true});
  rig.disk.fail_when([](const CallRecord& call) {
    return call.call == Call::create && call.path.ends_with("running/.tmp-a.json") ? Fault::no_space : Fault::none;
  });
  std::vector<CommitRequest> requests;
  for (const Lease& lease : leases) {
    requests.push_back({.key = lease.key, .result = "", .follow_ups = {task_named("shared")}});
  }
  const auto answers = rig.queue().commit(requests);
  EXPECT_EQ(answers[0].error().code, Code::io);
  EXPECT_EQ(answers[1].value().follow_ups.at(0).outcome, SubmitOutcome::accepted);
  EXPECT_EQ(rig.state("shared"), TaskState::pending);
  rig.disk.fail_when(nullptr);
  EXPECT_EQ(rig.queue().commit(requests[0]).value().follow_ups.at(0).outcome, SubmitOutcome::already_known);
}

TEST(FileQueueRecovery, ASecondProcessIsKeptOut) {
  FileRig rig;
  CapturingLog log;
  const auto second = FileQueue::open(rig.disk, rig.clock, log, kQueuePath);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
}

TEST(FileQueueRecovery, OrderKeysLimitsAndDelaysAreTheSameAfterARestart) {
  FileRig rig({.concurrency_limits = {{"MAIL", 2}}});
  NewTask keyed = task_named("z");
  keyed.unique_key = "k";
  NewTask later = task_named("later", "SMS");
  later.run_at = kQueueStart + Seconds(100);
  for (const NewTask& task : {keyed, task_named("y"), task_named("x"), later}) rig.submit(task);
  EXPECT_EQ(rig.lease_one().task_id, "z");
  rig.restart();
  NewTask same_key = task_named("other");
  same_key.unique_key = "k";
  EXPECT_EQ(rig.submit(same_key), SubmitOutcome::duplicate);
  EXPECT_EQ(rig.lease_ids({.worker = "w", .count = 9}), Names{"y"});
  EXPECT_EQ(rig.queue().next_ready(), kQueueStart + Seconds(100));
}

TEST(FileQueueRecovery, AnAttemptsTimeoutGoesOnOverARestart) {
  FileRig rig;
  NewTask task = task_named("a");
  task.timeout = Seconds(50);
  rig.submit(task);
  rig.lease_one();
  rig.clock.advance(Seconds(30));
  rig.restart();
  rig.clock.advance(Seconds(19));
  EXPECT_TRUE(rig.queue().expire().value().empty());
  rig.clock.advance(Seconds(1));
  EXPECT_EQ(rig.queue().expire().value().at(0).reason, "timeout");
}

TEST(FileQueueHostile, LinksAndOtherThingsInTheDirectoriesAreSetAside) {
  FileRig rig;
  rig.submit(task_named("good"));
  const FileInfo link{FileType::symlink, 0, 0777, 0, kQueueStart};
  rig.disk.plant("/data/tasks/pending/link.json", "/etc/passwd", link);
  rig.disk.plant("/data/tasks/running/link2.json", "/etc/passwd", link);
  rig.disk.plant_directory("/data/tasks/pending/dir.json");
  rig.disk.plant_file("/data/tasks/pending/not a task.json", "{}");
  rig.restart();
  EXPECT_EQ(rig.queue().recovery().set_aside, 3U);
  EXPECT_EQ(rig.lease_ids({.worker = "w", .count = 9}), Names{"good"});
}

TEST(FileQueueHostile, ALinkPlantedUnderTheNextTasksNamesIsNotFollowed) {
  FileRig rig;
  const FileInfo link{FileType::symlink, 0, 0777, 0, kQueueStart};
  rig.disk.plant_file("/precious", "do not touch");
  rig.disk.plant("/data/tasks/pending/.tmp-a.json", "/precious", link);
  EXPECT_EQ(rig.submit(task_named("a")), SubmitOutcome::accepted);
  rig.disk.plant("/data/tasks/pending/b.json", "/precious", link);
  EXPECT_EQ(rig.queue().submit(task_named("b")).error().code, Code::conflict);
  EXPECT_EQ(rig.disk.disk().at(*rig.disk.disk().find_path("/precious")).data, "do not touch");
}

TEST(FileQueueHostile, AFileTornWhileTheQueueRunsIsSetAsideWhenItsTurnComes) {
  FileRig rig;
  rig.submit(task_named("a"));
  rig.submit(task_named("b"));
  ASSERT_TRUE(rig.disk.open_directory("/data/tasks/pending").value()->remove("a.json"));
  rig.disk.plant_file("/data/tasks/pending/a.json", "{\"taskId\"");
  EXPECT_EQ(rig.lease_ids({.worker = "w", .count = 9}), Names{"b"});
  EXPECT_EQ(rig.log.lines_of("task.set_aside").size(), 1U);
}

Fault read_fault(const CallRecord& call, std::string_view path) {
  return call.call == Call::read && call.path == path ? Fault::io_error : Fault::none;
}

TEST(FileQueueHostile, ATaskThatCannotBeReadForAMomentIsLeasedWhenItCan) {
  FileRig rig;
  rig.submit(task_named("a"));
  rig.submit(task_named("b"));
  rig.disk.fail_when([](const CallRecord& call) { return read_fault(call, "/data/tasks/pending/a.json"); });
  EXPECT_EQ(rig.lease_ids({.worker = "w", .count = 9}), Names{"b"});
  EXPECT_EQ(rig.queue().counts(), (TaskCounts{1, 1}));
  EXPECT_EQ(rig.log.lines_of("task.unreadable").size(), 1U);
  EXPECT_TRUE(rig.lease_ids({.worker = "w"}).empty());
  EXPECT_EQ(rig.log.lines_of("task.unreadable").size(), 1U);
  rig.disk.fail_when(nullptr);
  EXPECT_EQ(rig.submit(task_named("a")), SubmitOutcome::already_known);
  EXPECT_EQ(rig.lease_ids({.worker = "w"}), Names{"a"});
  EXPECT_EQ(rig.queue().counts(), (TaskCounts{0, 2}));
}

TEST(FileQueueHostile, AFollowUpThatCannotBeReadForAMomentIsLeasedWhenItCan) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  int reads = 0;
  rig.disk.fail_when([&](const CallRecord& call) {
    const bool is_of_follow_up = call.call == Call::read && call.path == "/data/tasks/pending/f.json";
    return is_of_follow_up && ++reads == 2 ? Fault::io_error : Fault::none;
  });
  ASSERT_TRUE(rig.queue().commit({.key = lease.key, .result = "", .follow_ups = {task_named("f")}}));
  EXPECT_EQ(rig.state("a"), TaskState::succeeded);
  rig.disk.fail_when(nullptr);
  EXPECT_EQ(rig.queue().counts(), (TaskCounts{1, 0}));
  EXPECT_EQ(rig.lease_ids({.worker = "w"}), Names{"f"});
}

TEST(FileQueueRunning, ATaskThatRunsIsNotReadToBeStartedRenewedAndCommitted) {
  FileRig rig;
  rig.submit(task_named("a"));
  NewTask large = task_named("large");
  large.data = '"' + std::string(100'000, 'x') + '"';
  rig.submit(large);
  const auto leases = rig.lease({.worker = "w", .count = 2});
  ASSERT_EQ(leases.size(), 2U);
  const auto reads_of = [&](const Lease& lease) {
    std::size_t reads = 0;
    rig.disk.fail_when([&](const CallRecord& record) {
      reads += record.call == Call::read && record.path.find("/running/") != std::string::npos ? 1 : 0;
      return Fault::none;
    });
    EXPECT_EQ(rig.queue().start(lease.key), LeaseOutcome::accepted);
    EXPECT_EQ(rig.queue().renew(lease.key), LeaseOutcome::accepted);
    EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
    rig.disk.fail_when(nullptr);
    return reads;
  };
  EXPECT_EQ(reads_of(leases[0]), 0U);
  EXPECT_EQ(reads_of(leases[1]), 3U) << "it is too large to be kept";
  EXPECT_EQ(rig.queue().get("large").value().spec.data, large.data);
}

TEST(FileQueueRunning, WhatIsKeptInMemoryIsWhatTheFileHoldsAfterEveryStep) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one("w", false);
  const auto is_same = [&] {
    const auto of_file = parse_task(rig.contents("tasks/running/a.json"), "a");
    return of_file && *of_file == rig.queue().get("a").value();
  };
  EXPECT_TRUE(is_same());
  EXPECT_EQ(rig.queue().start(lease.key), LeaseOutcome::accepted);
  EXPECT_TRUE(is_same());
  rig.disk.fail_when([](const CallRecord& record) {
    return record.call == Call::create && record.path.find("/pending/") != std::string::npos ? Fault::no_space
                                                                                             : Fault::none;
  });
  const CommitRequest request{.key = lease.key, .result = "r", .follow_ups = {task_named("b")}};
  EXPECT_EQ(rig.queue().commit(request).value().outcome, LeaseOutcome::accepted);
  EXPECT_TRUE(is_same()) << "committed, and not finished";
  EXPECT_EQ(rig.queue().commit(request).value().outcome, LeaseOutcome::duplicate);
  rig.disk.fail_when(nullptr);
  ASSERT_TRUE(rig.queue().expire());
  EXPECT_EQ(rig.state("a"), TaskState::succeeded);
  EXPECT_EQ(rig.state("b"), TaskState::pending);
}

TEST(FileQueueRunning, AStepThatTheDiskRefusedIsNotInMemoryEither) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one("w", false);
  rig.disk.fail_when(
      [](const CallRecord& record) { return record.call == Call::create ? Fault::no_space : Fault::none; });
  EXPECT_EQ(rig.queue().start(lease.key).error().code, Code::io);
  rig.disk.fail_when(nullptr);
  EXPECT_EQ(rig.queue().commit({.key = lease.key, .result = ""}).error().code, Code::conflict) << "it has not started";
}

TEST(FileQueueRunning, ARunningTasksFileThatSomeoneTookAwayIsWrittenAnewByItsCommit) {
  FileRig rig;
  rig.submit(task_named("a"));
  const Lease lease = rig.lease_one();
  const auto running = rig.disk.open_directory("/data/tasks/running").value();
  ASSERT_TRUE(running->remove("a.json"));
  EXPECT_EQ(rig.commit(lease.key), LeaseOutcome::accepted);
  EXPECT_FALSE(rig.queue().has_stopped());
  EXPECT_EQ(rig.names("tasks/completed"), std::vector<std::string>{"a.json"});
}

TEST(FileQueueHostile, EffectsOnAnotherFileSystemAreRefusedAtTheStart) {
  FileRig rig({}, false);
  rig.disk.plant_directory("/data");
  rig.disk.plant("/data/effects", "", {FileType::directory, rig.disk.user(), 0700, 0, kQueueStart, 7});
  const Status opened = rig.try_restart();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::conflict);
  EXPECT_NE(opened.error().message.find("/data/effects is on another file system than /data/staging"),
            std::string::npos)
      << opened.error().message;
}

// A full disk at any one call: whoever was told no finds everything as before, and can ask again.
TEST(FileQueueHostile, AFullDiskLeavesNothingHalfDone) {
  const auto history = [](FileRig& rig, std::size_t failing) {
    const std::size_t start = rig.disk.changes();
    rig.disk.fail_when([=](const CallRecord& call) {
      const bool needs_room =
          call.call == Call::create || call.call == Call::write || call.call == Call::make_directory;
      return needs_room && call.index == start + failing ? Fault::no_space : Fault::none;
    });
    bool all_ok = true;
    const auto until_ok = [&](auto verb) {
      for (int i = 0; i < 3; ++i) {
        if (auto result = verb()) return result;
        all_ok = false;
      }
      ADD_FAILURE() << "never accepted";
      return verb();
    };
    static_cast<void>(until_ok([&] { return rig.queue().submit(task_named("a")); }));
    const auto leases = until_ok([&] { return rig.queue().lease({.worker = "w", .starts = true}); });
    const LeaseKey key = leases->at(0).key;
    static_cast<void>(until_ok([&] {
      return rig.queue().commit(
          {.key = key, .result = "r", .follow_ups = {task_named("f")}, .files = {{"d/x", "1"}, {"y", "2"}}});
    }));
    EXPECT_FALSE(rig.queue().has_stopped());
    EXPECT_TRUE(rig.queue().expire());
    EXPECT_EQ(rig.state("a"), TaskState::succeeded) << failing;
    EXPECT_EQ(rig.names("tasks/pending"), Names{"f.json"}) << failing;
    EXPECT_EQ(rig.names("tasks/running"), Names()) << failing;
    EXPECT_EQ(rig.names("effects/a"), (Names{"d", "y"})) << failing;
    EXPECT_EQ(rig.names("staging"), Names()) << failing;
    return all_ok;
  };
  FileRig whole;
  EXPECT_TRUE(history(whole, 100000));
  const std::size_t steps = whole.disk.changes();
  std::size_t refused = 0;
  for (std::size_t failing = 0; failing < steps; ++failing) {
    FileRig rig;
    refused += history(rig, failing) ? 0 : 1;
  }
  EXPECT_GT(refused, 8U);
}

// On the machine's own file system: modes, links, and directories that are not empty.
class RealQueue : public ::testing::Test {
 protected:
  RealQueue() {
    std::string pattern = ::testing::TempDir() + "kron-queue-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~RealQueue() override {
    queue_.reset();
    std::filesystem::remove_all(path_);
  }
  FileQueue& open() {
    queue_.reset();
    auto opened = FileQueue::open(file_system_, clock_, log_, path_ + "/data");
    EXPECT_TRUE(opened) << opened.error().message;
    queue_ = *std::move(opened);
    return *queue_;
  }
  mode_t mode_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat((path_ + "/data/" + name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }

  std::string path_;
  RealFileSystem file_system_;
  FakeClock clock_{kQueueStart};
  CapturingLog log_;
  std::unique_ptr<FileQueue> queue_;
};

TEST_F(RealQueue, KeepsTasksToItsOwner) {
  FileQueue& queue = open();
  ASSERT_TRUE(queue.submit(task_named("a")));
  EXPECT_EQ(mode_of("tasks"), 0700U);
  EXPECT_EQ(mode_of("tasks/pending"), 0700U);
  EXPECT_EQ(mode_of("staging"), 0700U);
  EXPECT_EQ(mode_of("tasks/pending/a.json"), 0600U);
  EXPECT_EQ(mode_of("tokens.json"), 0600U);
}

TEST_F(RealQueue, CarriesATaskWithEverythingThroughARestart) {
  ASSERT_TRUE(open().submit(task_named("a")));
  const auto leases = open().lease({.worker = "w", .starts = true}).value();
  ASSERT_EQ(leases.size(), 1U);
  const auto answer = open().commit({.key = leases[0].key,
                                     .result = "r",
                                     .follow_ups = {task_named("f")},
                                     .files = {{"sub/x", "1"}, {"y", std::string(100000, 'y')}}});
  ASSERT_TRUE(answer) << answer.error().message;
  FileQueue& queue = open();
  EXPECT_EQ(queue.get("a").value().result, "r");
  EXPECT_EQ(queue.lease({.worker = "w"}).value().at(0).task_id, "f");
  EXPECT_EQ(std::filesystem::file_size(path_ + "/data/effects/a/y"), 100000U);
  EXPECT_TRUE(std::filesystem::is_empty(path_ + "/data/staging"));
}

TEST_F(RealQueue, OutputThatCannotBePublishedStaysAndIsReported) {
  ASSERT_TRUE(open().submit(task_named("a")));
  FileQueue& queue = open();
  const auto lease = queue.lease({.worker = "w", .starts = true}).value().at(0);
  ASSERT_TRUE(queue.commit({.key = lease.key, .result = "", .files = {{"x", "1"}}}));
  // As if the commit had been cut off before its output was published, and someone had taken the name since.
  const std::string data = path_ + "/data/";
  std::filesystem::rename(data + "effects/a", data + "staging/" + lease.key.exec_id);
  std::filesystem::create_directory(data + "effects/a");
  std::ofstream(data + "effects/a/mine") << "mine";
  std::ifstream in(data + "tasks/completed/a.json");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("\"DONE\""), 6, "\"COMMITTED\"");
  text.replace(text.find("\"COMPLETED\""), 11, "\"RUNNING\"");
  std::filesystem::remove(data + "tasks/completed/a.json");
  std::ofstream(data + "tasks/running/a.json") << text;
  FileQueue& again = open();
  EXPECT_EQ(state_of(again.get("a").value()), TaskState::succeeded);
  EXPECT_EQ(log_.lines_of("task.output_not_published").size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(data + "effects/a/mine"));
  open();
  EXPECT_TRUE(std::filesystem::exists(data + "staging/" + lease.key.exec_id + "/x"));
}

TEST_F(RealQueue, ADirectoryBehindALinkIsNotUsed) {
  std::filesystem::create_directories(path_ + "/data/tasks");
  std::filesystem::create_directories(path_ + "/elsewhere");
  std::filesystem::create_directory_symlink(path_ + "/elsewhere", path_ + "/data/tasks/pending");
  const auto opened = FileQueue::open(file_system_, clock_, log_, path_ + "/data");
  ASSERT_FALSE(opened);
  EXPECT_TRUE(std::filesystem::is_empty(path_ + "/elsewhere"));
}

}  // namespace
}  // namespace kron::testing
