#include "kron/queue/queue_service.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kron/queue/memory_queue.h"
#include "kron/queue/queue_rig.h"

namespace kron::testing {
namespace {

// A service on a machine in memory, asked as QueueThread asks it.
class Desk : public ::testing::Test {
 protected:
  void make_service(QueueOptions options = {}) {
    use(file_queue_opener(disk, clock, log, std::string(kQueuePath), std::move(options)));
  }
  void use(QueueOpener open) {
    service_.reset();
    service_ = std::make_unique<QueueService>(
        std::move(open), clock, log,
        QueueThread::Options{std::string(kQueuePath), [this](const Error& error) { stopped.push_back(error); }});
  }
  void SetUp() override { make_service(); }

  std::optional<Nanoseconds> step() {
    service_->take(std::exchange(inbox, {}));
    return service_->work();
  }
  // Until there is nothing more to do now.
  std::optional<Nanoseconds> settle() {
    auto wake = step();
    while (wake == Nanoseconds(0)) wake = step();
    return wake;
  }
  void end() {
    service_->take(std::exchange(inbox, {}));
    service_->end();
  }

  void submit(std::vector<NewTask> tasks) {
    inbox.submissions.push_back({std::move(tasks), [this](std::vector<Result<SubmitAnswer>> answers) {
                                   submitted.push_back(std::move(answers));
                                 }});
  }
  // Who is told what: "a accepted" of the commit, and the lease as that of ask_for_lease.
  void commit_and_lease(const Lease& lease, const std::string& worker, bool is_taken = true) {
    inbox.commits_and_leases.push_back(
        {{{.key = lease.key, .result = ""},
          [this, id = lease.task_id](const Result<CommitAnswer>& answer) {
            answered.push_back(id + " " +
                               std::string(answer ? name_of(answer->outcome) : name_of(answer.error().code)));
          }},
         {++tickets_,
          {.worker = worker, .starts = true},
          clock.boot_time(),
          [this, worker, is_taken](Result<std::vector<Lease>> answer) {
            answered.push_back(worker + (answer && !answer->empty() ? " leases " + answer->front().task_id : ""));
            leases.emplace_back(worker, std::move(answer));
            return is_taken;
          }}});
  }
  std::uint64_t ask_for_lease(LeaseRequest request = {}, Seconds wait = Seconds(30), bool is_taken = true) {
    if (request.worker.empty()) request.worker = "w" + std::to_string(tickets_ + 1);
    const std::string worker = request.worker;
    inbox.leases.push_back({++tickets_, std::move(request), clock.boot_time() + wait,
                            [this, worker, is_taken](Result<std::vector<Lease>> answer) {
                              leases.emplace_back(worker, std::move(answer));
                              return is_taken;
                            }});
    return tickets_;
  }
  Lease lease_one(bool starts = true) {
    ask_for_lease({.worker = "w", .starts = starts}, Seconds(0));
    settle();
    EXPECT_FALSE(leases.empty());
    const auto answer = leases.empty() ? Result<std::vector<Lease>>() : leases.back().second;
    leases.clear();
    EXPECT_TRUE(answer && answer->size() == 1);
    return answer && !answer->empty() ? answer->front() : Lease{};
  }
  TaskState state(const std::string& id) {
    TaskState found = TaskState::failed;
    inbox.gets.push_back({id, [&](const Result<Task>& task) {
                            EXPECT_TRUE(task) << task.error().message;
                            if (task) found = state_of(*task);
                          }});
    settle();
    return found;
  }

  // "w1:a,b w2: w3:!conflict": who was answered what.
  std::string told() const {
    std::string text;
    for (const auto& [worker, answer] : leases) {
      text += (text.empty() ? "" : " ") + worker + ":";
      if (!answer) {
        text += "!" + std::string(name_of(answer.error().code));
        continue;
      }
      for (std::size_t i = 0; i < answer->size(); ++i) text += (i == 0 ? "" : ",") + (*answer)[i].task_id;
    }
    return text;
  }
  std::size_t directory_syncs() const {
    return static_cast<std::size_t>(
        std::ranges::count(disk.calls(), Call::sync_directory, [](const CallRecord& record) { return record.call; }));
  }

  FakeClock clock{kQueueStart};
  PowerCutFileSystem disk;
  CapturingLog log;
  Questions inbox;
  std::vector<std::vector<Result<SubmitAnswer>>> submitted;
  std::vector<std::pair<std::string, Result<std::vector<Lease>>>> leases;
  std::vector<Error> stopped;
  std::vector<std::string> answered;  // of commit_and_lease, in their order

 private:
  std::uint64_t tickets_ = 0;
  std::unique_ptr<QueueService> service_;
};
using QueueServiceTest = Desk;

TEST_F(QueueServiceTest, WhatIsAskedTogetherSharesItsSyncs) {
  submit({task_named("first")});
  settle();
  constexpr int kMany = 20;
  const auto syncs_of = [&](auto ask) {
    const std::size_t before = directory_syncs();
    for (int i = 0; i < kMany; ++i) ask(i);
    settle();
    return directory_syncs() - before;
  };
  EXPECT_EQ(syncs_of([&](int i) { submit({task_named("t" + std::to_string(i))}); }), 1U);
  EXPECT_EQ(syncs_of([&](int) { ask_for_lease(); }), 1U);
  ASSERT_EQ(leases.size(), 20U);
  std::vector<LeaseOutcome> started;
  EXPECT_EQ(syncs_of([&](int i) {
              const LeaseKey key = leases[static_cast<std::size_t>(i)].second->front().key;
              inbox.starts.push_back({key, [&](const auto& outcome) { started.push_back(outcome.value()); }});
            }),
            1U);
  EXPECT_EQ(started, std::vector<LeaseOutcome>(kMany, LeaseOutcome::accepted));
  std::size_t committed = 0;
  // Commits with nothing left to do are the moves to completed/.
  EXPECT_EQ(syncs_of([&](int i) {
              const LeaseKey key = leases[static_cast<std::size_t>(i)].second->front().key;
              inbox.commits.push_back({{.key = key, .result = ""}, [&](const auto& answer) {
                                         committed += answer.value().outcome == LeaseOutcome::accepted ? 1 : 0;
                                       }});
            }),
            1U);
  EXPECT_EQ(committed, 20U);
}

TEST_F(QueueServiceTest, QuestionsOfAKindAreAnsweredInTheirOrder) {
  std::string order;
  submit({task_named("a")});
  for (const char* id : {"a", "b", "a", "c"}) {
    inbox.gets.push_back(
        {id, [&order, id](const Result<Task>& task) { order += (task ? "+" : "-") + std::string(id); }});
  }
  settle();
  EXPECT_EQ(order, "+a-b+a-c");
}

TEST_F(QueueServiceTest, ALargeSubmissionIsDoneInPartsAndAnsweredOnce) {
  std::vector<NewTask> many;
  for (int i = 0; i < 1100; ++i) many.push_back(task_named("t" + std::to_string(i)));
  submit(many);
  submit({task_named("small")});
  EXPECT_EQ(step(), Nanoseconds(0));
  EXPECT_TRUE(submitted.empty());
  std::size_t pending = 0;
  inbox.summaries.push_back({{}, [&](const Result<TaskSummary>& summary) { pending = summary->counts.pending; }});
  EXPECT_EQ(step(), Nanoseconds(0));
  EXPECT_EQ(pending, 1024U);
  EXPECT_EQ(step(), std::nullopt);
  ASSERT_EQ(submitted.size(), 2U);
  ASSERT_EQ(submitted[0].size(), 1100U);
  for (int i = 0; i < 1100; ++i) {
    EXPECT_EQ(submitted[0][static_cast<std::size_t>(i)].value().task_id, "t" + std::to_string(i));
  }
  EXPECT_EQ(submitted[1][0].value().task_id, "small");
}

TEST_F(QueueServiceTest, ALongPollIsWokenByASubmit) {
  ask_for_lease();
  EXPECT_EQ(settle(), Nanoseconds(Seconds(30)));
  EXPECT_EQ(told(), "");
  submit({task_named("a")});
  settle();
  EXPECT_EQ(told(), "w1:a");
}

TEST_F(QueueServiceTest, ALongPollIsWokenByTheTimeOfATask) {
  NewTask task = task_named("a");
  task.run_at = kQueueStart + Seconds(20);
  submit({task});
  ask_for_lease();
  EXPECT_EQ(settle(), Nanoseconds(Seconds(20)));
  clock.advance(Seconds(19));
  EXPECT_EQ(settle(), Nanoseconds(Seconds(1)));
  EXPECT_EQ(told(), "");
  clock.advance(Seconds(1));
  settle();
  EXPECT_EQ(told(), "w1:a");
}

TEST_F(QueueServiceTest, ALongPollIsWokenByALeaseThatRunsOut) {
  NewTask task = task_named("a");
  task.retry.backoff = Seconds(0);
  submit({task});
  ask_for_lease({.worker = "lost", .term = Seconds(10)});
  settle();
  ask_for_lease({.worker = "next"});
  EXPECT_EQ(settle(), Nanoseconds(Seconds(10)));
  clock.advance(Seconds(10));
  settle();
  EXPECT_EQ(told(), "lost:a next:a");
}

TEST_F(QueueServiceTest, ALongPollIsWokenByRoomForItsType) {
  make_service({.concurrency_limits = {{"MAIL", 1}}});
  submit({task_named("a"), task_named("b")});
  const Lease lease = lease_one();
  ask_for_lease({.worker = "next"});
  settle();
  EXPECT_EQ(told(), "");
  inbox.commits.push_back({{.key = lease.key, .result = ""}, [](const auto&) {}});
  settle();
  EXPECT_EQ(told(), "next:b");
}

TEST_F(QueueServiceTest, ALongPollIsWokenByRoomThatALostLeaseLeaves) {
  make_service({.concurrency_limits = {{"MAIL", 1}}});
  submit({task_named("a"), task_named("b")});
  ask_for_lease({.worker = "lost", .term = Seconds(10)});
  ask_for_lease({.worker = "next"});
  EXPECT_EQ(settle(), Nanoseconds(Seconds(10)));
  clock.advance(Seconds(10));
  settle();
  EXPECT_EQ(told(), "lost:a next:b");
}

TEST_F(QueueServiceTest, ALongPollEndsWithoutALeaseWhenItsTimeIsOver) {
  ask_for_lease({}, Seconds(5));
  ask_for_lease({}, Seconds(0));
  EXPECT_EQ(settle(), Nanoseconds(Seconds(5)));
  EXPECT_EQ(told(), "w2:");
  clock.advance(Seconds(5));
  EXPECT_EQ(settle(), std::nullopt);
  EXPECT_EQ(told(), "w2: w1:");
}

TEST_F(QueueServiceTest, WhoCameFirstIsServedFirstAndByType) {
  ask_for_lease({.worker = "sms", .types = {"SMS"}});
  ask_for_lease({.worker = "two", .count = 2});
  ask_for_lease({.worker = "last"});
  submit({task_named("a"), task_named("b"), task_named("c")});
  settle();
  EXPECT_EQ(told(), "two:a,b last:c");
  submit({task_named("s", "SMS")});
  settle();
  EXPECT_EQ(told(), "two:a,b last:c sms:s");
}

TEST_F(QueueServiceTest, AWithdrawnTicketIsNeitherGrantedNorAnswered) {
  const auto early = ask_for_lease({.worker = "early"});
  settle();
  const auto late = ask_for_lease({.worker = "late"});
  ask_for_lease({.worker = "stays"});
  inbox.withdrawals = {late, early, 4711};
  submit({task_named("a")});
  settle();
  EXPECT_EQ(told(), "stays:a");
}

TEST_F(QueueServiceTest, ALeaseThatNobodyTookGoesToTheNextAndUsesUpNoAttempt) {
  NewTask task = task_named("a");
  task.retry.max_attempts = 1;
  submit({task});
  ask_for_lease({.worker = "gone", .starts = true}, Seconds(30), false);
  ask_for_lease({.worker = "there", .starts = true});
  settle();
  EXPECT_EQ(told(), "gone:a there:a");
  inbox.failures.push_back({{leases.back().second->front().key, "boom"},
                            [](const auto& answer) { EXPECT_EQ(answer.value().state, TaskState::failed); }});
  settle();
  EXPECT_EQ(state("a"), TaskState::failed);
}

TEST_F(QueueServiceTest, WithoutADirectoryThereAreNoTasksAndNoneIsMade) {
  std::vector<Code> codes;
  const auto note = [&](const auto& answer) { codes.push_back(answer ? Code::internal : answer.error().code); };
  inbox.gets.push_back({"a", note});
  inbox.cancels.push_back({"a", note});
  inbox.retries.push_back({{"a", 1}, note});
  inbox.starts.push_back({{"a.1", 1}, note});
  inbox.renewals.push_back({{"a.1", 1}, note});
  inbox.commits.push_back({{.key = {"a.1", 1}, .result = ""}, note});
  inbox.failures.push_back({{{"a.1", 1}, ""}, note});
  inbox.lists.push_back({{}, [](const auto& tasks) { EXPECT_TRUE(tasks.value().empty()); }});
  inbox.prunes.push_back({{}, [](const auto& removed) { EXPECT_EQ(removed, 0U); }});
  inbox.summaries.push_back({{}, [](const auto& summary) { EXPECT_EQ(summary.value(), TaskSummary()); }});
  ask_for_lease();
  settle();
  EXPECT_EQ(codes, std::vector<Code>(7, Code::not_found));
  EXPECT_EQ(told(), "");
  EXPECT_EQ(disk.changes(), 0U);
  submit({task_named("a")});
  settle();
  EXPECT_EQ(told(), "w1:a");
}

TEST_F(QueueServiceTest, WhatAnotherProcessHasIsAConflictAndTriedAgainAfterASecond) {
  auto other = FileQueue::open(disk, clock, log, kQueuePath).value();
  const auto locks = [&] { return std::ranges::count(disk.calls(), Call::lock, &CallRecord::call); };
  const auto before = locks();
  ask_for_lease();
  submit({task_named("a")});
  Status opened;
  inbox.opens.push_back({{}, [&](const Status& status) { opened = status; }});
  settle();
  EXPECT_EQ(told(), "w1:!conflict");
  EXPECT_EQ(submitted.at(0).at(0).error().code, Code::conflict);
  EXPECT_EQ(opened.error().code, Code::conflict);
  EXPECT_EQ(locks() - before, 1);
  clock.advance(Seconds(1));
  settle();
  ask_for_lease();
  settle();
  EXPECT_EQ(told(), "w1:!conflict w2:!conflict");
  EXPECT_EQ(locks() - before, 2);
  other.reset();
  submit({task_named("a")});
  settle();
  EXPECT_EQ(submitted.at(1).at(0).error().code, Code::conflict);
  clock.advance(Seconds(1));
  submit({task_named("a")});
  settle();
  EXPECT_TRUE(submitted.at(2).at(0));
  EXPECT_EQ(log.lines_of("queue.not_opened").size(), 1U);
}

TEST_F(QueueServiceTest, WhatAnEarlierOwnerLeftIsThereAtTheFirstQuestion) {
  FileQueue::open(disk, clock, log, kQueuePath).value()->submit(task_named("a")).value();
  EXPECT_EQ(state("a"), TaskState::pending);
}

TEST_F(QueueServiceTest, AFailedSyncIsToldOnceAndToThoseWhoWait) {
  submit({task_named("a", "SMS")});
  ask_for_lease();
  settle();
  leases.clear();
  ask_for_lease({.worker = "waits", .types = {"FAX"}});
  settle();
  disk.fail_when(
      [](const CallRecord& record) { return record.call == Call::sync_directory ? Fault::io_error : Fault::none; });
  submit({task_named("b")});
  settle();
  disk.fail_when(nullptr);
  submit({task_named("c")});
  settle();
  EXPECT_EQ(submitted.at(1).at(0).error().code, Code::io);
  EXPECT_EQ(submitted.at(2).at(0).error().code, Code::io);
  EXPECT_EQ(told(), "waits:!io");
  EXPECT_EQ(stopped.size(), 1U);
  clock.advance(Seconds(3600));
  EXPECT_EQ(settle(), std::nullopt);
}

TEST_F(QueueServiceTest, ADiskThatFailsWhileItIsOpenedIsNotTriedAgain) {
  disk.plant_directory(kQueuePath);
  disk.fail_when(
      [](const CallRecord& record) { return record.call == Call::sync_directory ? Fault::io_error : Fault::none; });
  submit({task_named("a")});
  settle();
  disk.fail_when(nullptr);
  clock.advance(Seconds(3600));
  submit({task_named("a")});
  settle();
  EXPECT_EQ(submitted.at(1).at(0).error().code, Code::io);
}

TEST_F(QueueServiceTest, AFullDiskWhileItIsOpenedIsTriedAgainEverySecond) {
  disk.fail_when(
      [](const CallRecord& record) { return record.call == Call::make_directory ? Fault::no_space : Fault::none; });
  Status opened;
  inbox.opens.push_back({{}, [&](const Status& status) { opened = status; }});
  EXPECT_EQ(settle(), Nanoseconds(Seconds(1)));
  EXPECT_EQ(opened.error().code, Code::io);
  submit({task_named("a")});
  EXPECT_EQ(settle(), Nanoseconds(Seconds(1)));
  EXPECT_EQ(submitted.at(0).at(0).error().code, Code::io);
  std::optional<Error> problem;
  inbox.summaries.push_back({{}, [&](const Result<TaskSummary>& answer) { problem = answer.error(); }});
  settle();
  EXPECT_EQ(problem, opened.error());
  disk.fail_when(nullptr);
  clock.advance(Seconds(1));
  EXPECT_EQ(settle(), std::nullopt);
  submit({task_named("a")});
  settle();
  EXPECT_TRUE(submitted.at(1).at(0));
  EXPECT_EQ(log.lines_of("queue.not_opened").size(), 1U);
}

TEST_F(QueueServiceTest, ADiskThatIsAlmostFullTakesNoTaskAndTheSummarySaysWhy) {
  make_service({.leaves_room = true});
  disk.set_space(DiskSpace{(1U << 20) - 1, 1U << 30});
  submit({task_named("a")});
  settle();
  EXPECT_EQ(submitted.at(0).at(0).error().code, Code::io);
  const auto problem = [&] {
    std::optional<Error> found;
    inbox.summaries.push_back({{}, [&](const Result<TaskSummary>& answer) { found = answer.value().problem; }});
    settle();
    return found;
  };
  ASSERT_TRUE(problem());
  EXPECT_NE(problem()->message.find("1024 KiB of the disk of /data is free"), std::string::npos) << problem()->message;
  disk.set_space(DiskSpace{1U << 20, 1U << 30});
  submit({task_named("a")});
  settle();
  EXPECT_TRUE(submitted.at(1).at(0));
  EXPECT_EQ(problem(), std::nullopt);
  // Of a small disk it is an eighth.
  disk.set_space(DiskSpace{16 << 10, 128 << 10});
  submit({task_named("b")});
  settle();
  EXPECT_TRUE(submitted.at(2).at(0));
}

TEST_F(QueueServiceTest, ALongPollIsWokenByATaskThatCanBeReadAgain) {
  submit({task_named("a")});
  settle();
  disk.fail_when([](const CallRecord& record) { return record.call == Call::read ? Fault::io_error : Fault::none; });
  ask_for_lease();
  EXPECT_EQ(settle(), Nanoseconds(Seconds(1)));
  EXPECT_EQ(told(), "");
  disk.fail_when(nullptr);
  clock.advance(Seconds(1));
  settle();
  EXPECT_EQ(told(), "w1:a");
}

TEST_F(QueueServiceTest, WhatWasCancelledIsCountedApart) {
  submit({task_named("a"), task_named("b")});
  settle();
  inbox.cancels.push_back({"a", [](const auto& outcome) { EXPECT_EQ(outcome, CancelOutcome::cancelled); }});
  TaskSummary summary;
  inbox.summaries.push_back({{}, [&](const auto& answer) { summary = answer.value(); }});
  settle();
  EXPECT_EQ(summary.ended, std::vector<TaskSummary::OfType>());
  EXPECT_EQ(summary.cancelled, (std::vector<TaskSummary::OfType>{{TaskState::failed, "MAIL", 1}}));
}

TEST_F(QueueServiceTest, WhatAFullDiskKeepsFromEndingIsTriedAgainLater) {
  submit({task_named("a")});
  ask_for_lease({.worker = "w", .term = Seconds(10)});
  settle();
  clock.advance(Seconds(10));
  disk.fail_when([](const CallRecord& record) { return record.call == Call::create ? Fault::no_space : Fault::none; });
  EXPECT_EQ(settle(), Nanoseconds(Seconds(1)));
  EXPECT_EQ(state("a"), TaskState::running);
  disk.fail_when(nullptr);
  clock.advance(Seconds(1));
  EXPECT_EQ(settle(), std::nullopt);
  EXPECT_EQ(state("a"), TaskState::pending);
}

TEST_F(QueueServiceTest, ACommitThatAFullDiskHeldUpIsFinishedLater) {
  submit({task_named("a")});
  settle();
  const Lease lease = lease_one();
  disk.fail_when([](const CallRecord& record) {
    const bool is_completing = record.call == Call::create && record.path.find("/completed/") != std::string::npos;
    return is_completing ? Fault::no_space : Fault::none;
  });
  inbox.commits.push_back({{.key = lease.key, .result = "", .files = {{"out", "x"}}},
                           [](const auto& answer) { EXPECT_EQ(answer.value().outcome, LeaseOutcome::accepted); }});
  EXPECT_EQ(settle(), Nanoseconds(Seconds(1)));
  EXPECT_EQ(state("a"), TaskState::running);
  disk.fail_when(nullptr);
  clock.advance(Seconds(1));
  EXPECT_EQ(settle(), std::nullopt);
  EXPECT_EQ(state("a"), TaskState::succeeded);
  inbox.summaries.push_back(
      {{}, [](const auto& summary) {
         EXPECT_EQ(summary.value().ended, (std::vector<TaskSummary::OfType>{{TaskState::succeeded, "MAIL", 1}}));
       }});
  settle();
}

TEST_F(QueueServiceTest, ACommitThatAFullDiskRefusesHasNotHappenedAndCanBeAskedForAgain) {
  submit({task_named("a")});
  settle();
  const Lease lease = lease_one();
  disk.fail_when([](const CallRecord& record) {
    const bool is_completing = record.call == Call::create && record.path.find("/completed/") != std::string::npos;
    return is_completing ? Fault::no_space : Fault::none;
  });
  std::vector<Result<CommitAnswer>> answers;
  const auto commit = [&] {
    inbox.commits.push_back({{.key = lease.key, .result = ""}, [&](const auto& answer) { answers.push_back(answer); }});
    settle();
  };
  commit();
  EXPECT_EQ(answers.at(0).error().code, Code::io);
  EXPECT_EQ(state("a"), TaskState::running);
  disk.fail_when(nullptr);
  commit();
  EXPECT_EQ(answers.at(1).value().outcome, LeaseOutcome::accepted);
  EXPECT_EQ(state("a"), TaskState::succeeded);
  EXPECT_TRUE(stopped.empty());
}

TEST_F(QueueServiceTest, TheSummaryCountsByStateAndTypeAndKnowsTheOldest) {
  NewTask later = task_named("later", "FAX");
  later.run_at = kQueueStart + Seconds(1000);
  submit({task_named("a"), task_named("b"), later});
  settle();
  clock.advance(Seconds(5));
  lease_one();
  submit({task_named("c", "SMS")});
  clock.advance(Seconds(7));
  TaskSummary summary;
  inbox.summaries.push_back({{}, [&](const auto& answer) { summary = answer.value(); }});
  settle();
  EXPECT_EQ(summary.counts, (TaskCounts{3, 1}));
  EXPECT_EQ(summary.oldest_pending, Seconds(12));
  EXPECT_EQ(summary.types, (std::vector<TaskSummary::OfType>{{TaskState::pending, "FAX", 1},
                                                             {TaskState::pending, "MAIL", 1},
                                                             {TaskState::pending, "SMS", 1},
                                                             {TaskState::running, "MAIL", 1}}));
}

TEST_F(QueueServiceTest, ItServesWhateverQueueItsOpenerOpensAsSoonAsItCan) {
  int tries = 0;
  use([&](bool may_create) {
    ++tries;
    if (!may_create) return OpenedQueue{fail(Code::not_found, "there is none yet")};
    if (tries < 4) return OpenedQueue{fail(Code::unreachable, "the server does not answer")};
    return OpenedQueue{std::make_unique<MemoryQueue>(clock)};
  });
  ask_for_lease({.worker = "early"}, Seconds(0));
  settle();
  EXPECT_EQ(std::exchange(leases, {}).front().second->size(), 0U);
  submit({task_named("a")});
  settle();
  EXPECT_EQ(submitted.at(0).at(0).error().code, Code::unreachable);
  submit({task_named("a")});
  settle();
  EXPECT_EQ(tries, 2) << "it is not tried again at once";
  for (int i = 0; i < 2; ++i) {
    clock.advance(Seconds(1));
    submit({task_named("a")});
    settle();
  }
  EXPECT_EQ(submitted.back().at(0)->outcome, SubmitOutcome::accepted);
  const Lease lease = lease_one();
  EXPECT_EQ(lease.task_id, "a");
  std::size_t listed = 0;
  inbox.lists.push_back({{}, [&](const auto& page) { listed = page->size(); }});
  std::size_t pruned = 99;
  inbox.prunes.push_back({{.over_before = now(clock)}, [&](const auto& count) { pruned = count.value(); }});
  settle();
  EXPECT_EQ(listed, 1U);
  EXPECT_EQ(pruned, 0U);
  clock.advance(Seconds(60));
  settle();
  EXPECT_EQ(state("a"), TaskState::pending) << "the service sees to what expires";
}

TEST_F(QueueServiceTest, AnOpenerWhoseFailureIsFinalIsNotAskedAgain) {
  int tries = 0;
  use([&](bool) {
    ++tries;
    return OpenedQueue{fail(Code::io, "a sync failed"), true};
  });
  for (int i = 0; i < 3; ++i) {
    submit({task_named("a")});
    inbox.opens.push_back({{}, [](const auto&) {}});
    settle();
    clock.advance(Seconds(10));
  }
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(submitted.back().at(0).error().code, Code::io);
}

TEST_F(QueueServiceTest, AtTheEndEverythingIsAnsweredUnreachable) {
  ask_for_lease({.worker = "waits"});
  settle();
  std::vector<NewTask> many;
  for (int i = 0; i < 600; ++i) many.push_back(task_named("t" + std::to_string(i)));
  submit(many);
  step();
  leases.clear();
  ask_for_lease({.worker = "new", .types = {"FAX"}});
  std::vector<Code> codes;
  inbox.gets.push_back({"a", [&](const auto& answer) { codes.push_back(answer.error().code); }});
  inbox.opens.push_back({{}, [&](const auto& answer) { codes.push_back(answer.error().code); }});
  end();
  EXPECT_EQ(told(), "new:!unreachable");
  EXPECT_EQ(codes, std::vector<Code>(2, Code::unreachable));
  ASSERT_EQ(submitted.size(), 1U);
  EXPECT_TRUE(submitted[0][511]);
  EXPECT_EQ(submitted[0][512].error().code, Code::unreachable);
}

// A queue that others submit to as well: when they do, nobody here knows, and it is looked at every second.
class OthersQueue : public MemoryQueue {
 public:
  OthersQueue(const Clock& clock, int& looks) : MemoryQueue(clock), clock_(clock), looks_(looks) {}
  std::optional<Instant> next_ready() const override { return now(clock_) + Seconds(1); }
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override {
    ++looks_;
    return MemoryQueue::lease(requests);
  }
  using MemoryQueue::lease;

 private:
  const Clock& clock_;
  int& looks_;
};

TEST_F(QueueServiceTest, WhoWaitsForATypeIsServedAtOnceWhenOthersSayThatThereIsOne) {
  int looks = 0;
  OthersQueue* queue = nullptr;
  use([&](bool) {
    auto made = std::make_unique<OthersQueue>(clock, looks);
    queue = made.get();
    return OpenedQueue{.queue = std::move(made)};
  });
  ask_for_lease({.worker = "mail", .types = {"MAIL"}});
  ask_for_lease({.worker = "fax", .types = {"FAX"}});
  settle();
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(told(), "");
  ASSERT_TRUE(queue->submit(NewTask{.id = "a", .type = "MAIL"}));
  settle();
  EXPECT_EQ(told(), "") << "nobody has told";

  const int before = looks;
  inbox.wakes = {"SMS"};
  settle();
  EXPECT_EQ(looks, before) << "nobody here waits for that type";
  inbox.wakes = {"SMS", "MAIL"};
  settle();
  EXPECT_EQ(told(), "mail:a");

  ASSERT_TRUE(queue->submit(NewTask{.id = "b", .type = "FAX"}));
  inbox.wakes = {""};
  settle();
  EXPECT_EQ(told(), "mail:a fax:b") << "no type: any";
}

TEST_F(QueueServiceTest, ACommitAndTheLeaseBehindItAreAnsweredInThisOrder) {
  submit({task_named("a"), task_named("b")});
  settle();
  const Lease first = lease_one();
  commit_and_lease(first, "w");
  settle();
  EXPECT_EQ(std::exchange(answered, {}), (std::vector<std::string>{"a accepted", "w leases b"}));
  const Lease second = leases.at(0).second->at(0);
  commit_and_lease(first, "w");
  step();
  EXPECT_EQ(std::exchange(answered, {}), (std::vector<std::string>{"a duplicate", "w"})) << "it does not wait";
  Lease unknown = first;
  unknown.key = {"nobody.1", 1};
  unknown.task_id = "nobody";
  commit_and_lease(unknown, "w");
  settle();
  EXPECT_EQ(std::exchange(answered, {}), (std::vector<std::string>{"nobody not_found", "w"}));

  submit({task_named("c")});
  settle();
  commit_and_lease(second, "gone", false);
  settle();
  EXPECT_EQ(std::exchange(answered, {}), (std::vector<std::string>{"b accepted", "gone leases c"}));
  EXPECT_EQ(state("c"), TaskState::pending) << "nobody took it";
}

TEST_F(QueueServiceTest, NoLeaseOvertakesItsCommitHoweverManyThereAre) {
  constexpr std::size_t kMany = 700;
  std::vector<NewTask> tasks;
  for (std::size_t i = 0; i < 2 * kMany; ++i) tasks.push_back(task_named("t" + std::to_string(i)));
  use([&](bool) { return OpenedQueue{std::make_unique<MemoryQueue>(clock)}; });
  submit(tasks);
  settle();
  ask_for_lease({.worker = "w", .count = kMany, .starts = true}, Seconds(0));
  settle();
  const std::vector<Lease> held = leases.at(0).second.value();
  ASSERT_EQ(held.size(), kMany);
  for (const Lease& lease : held) commit_and_lease(lease, "of-" + lease.task_id);
  settle();
  ASSERT_EQ(answered.size(), 2 * kMany);
  for (const Lease& lease : held) {
    const auto committed = std::ranges::find(answered, lease.task_id + " accepted");
    const auto leased = std::ranges::find_if(
        answered, [&](const std::string& line) { return line.starts_with("of-" + lease.task_id + " leases "); });
    EXPECT_TRUE(committed < leased && leased != answered.end()) << lease.task_id;
  }
}

TEST_F(QueueServiceTest, AtTheEndACommitAndItsLeaseAreBothRefused) {
  submit({task_named("a")});
  settle();
  commit_and_lease(lease_one(), "w");
  end();
  EXPECT_EQ(answered, (std::vector<std::string>{"a unreachable", "w"}));
  EXPECT_EQ(told(), "w:!unreachable");
}

class FarQueue : public MemoryQueue {
 public:
  FarQueue(const Clock& clock, int& trips) : MemoryQueue(clock), trips_(trips) {}
  bool is_far_away() const override { return true; }
  QueueRoundAnswers do_round(const QueueRound& round) override {
    const int before = trips_;
    QueueRoundAnswers answers = MemoryQueue::do_round(round);
    trips_ = before + 1;
    return answers;
  }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    ++trips_;
    return MemoryQueue::commit(requests);
  }
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override {
    ++trips_;
    return MemoryQueue::lease(requests);
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    ++trips_;
    return MemoryQueue::fail_attempts(requests);
  }
  using MemoryQueue::commit;
  using MemoryQueue::lease;

 private:
  int& trips_;
};

TEST_F(QueueServiceTest, ACommitAndTheLeaseBehindItAreOneTripToAQueueThatIsFarAway) {
  int trips = 0;
  use([&](bool) { return OpenedQueue{std::make_unique<FarQueue>(clock, trips)}; });
  submit({task_named("a"), task_named("b")});
  settle();
  const Lease first = lease_one();
  trips = 0;
  commit_and_lease(first, "w");
  step();
  EXPECT_EQ(answered, (std::vector<std::string>{"a accepted", "w leases b"}));
  EXPECT_EQ(trips, 1);
}

TEST_F(QueueServiceTest, AttemptsThatFailedGoToAQueueThatIsFarAwayWithAllTheRest) {
  int trips = 0;
  use([&](bool) { return OpenedQueue{std::make_unique<FarQueue>(clock, trips)}; });
  submit({task_named("a"), task_named("b")});
  settle();
  const Lease good = lease_one();
  const Lease bad = lease_one();
  trips = 0;
  commit_and_lease(good, "w");
  std::vector<TaskState> states;
  inbox.failures.push_back(
      {{bad.key, "no", false, false}, [&](const auto& answer) { states.push_back(answer->state); }});
  step();
  EXPECT_EQ(answered, (std::vector<std::string>{"a accepted", "w leases b"})) << "the task of the attempt that failed";
  EXPECT_EQ(states, std::vector{TaskState::pending});
  EXPECT_EQ(trips, 1);
}

}  // namespace
}  // namespace kron::testing
