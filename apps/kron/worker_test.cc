#include "worker.h"

#include <csignal>
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "kron/env/descriptor.h"
#include "worker_output.h"

// A worker on tasks and commands that are made up: what it leases, commits, gives up, and when it ends.
namespace kron::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Always readable: a worker that waits looks again at once.
class Bell {
 public:
  int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_{::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class MadeUpCommands : public CommandsOfWorker {
 public:
  // How a command of that task ends; by default with status 0.
  std::map<std::string, EndedCommand> ends = {};
  std::map<std::string, Result<Output>> outputs = {};
  std::map<std::string, Error> cannot_start = {};
  std::vector<std::string> started = {};
  std::vector<std::uint64_t> terminated = {};
  bool goes_on = false;  // none ends by itself

  Status start(const Lease& lease) override {
    if (const auto error = cannot_start.find(lease.task_id); error != cannot_start.end()) return fail(error->second);
    started.push_back(lease.task_id);
    running_[lease.key.token] = lease.task_id;
    most_at_once = std::max(most_at_once, running_.size());
    return {};
  }
  void terminate(std::uint64_t token) override {
    terminated.push_back(token);
    killed_.insert(token);
  }
  std::vector<EndedCommand> drain() override {
    std::vector<EndedCommand> ended;
    for (auto run = running_.begin(); run != running_.end();) {
      if (goes_on && !killed_.contains(run->first)) {
        ++run;
        continue;
      }
      const auto how = ends.find(run->second);
      EndedCommand end = how == ends.end() ? EndedCommand{.code = 0} : how->second;
      end.token = run->first;
      ended.push_back(end);
      names_[run->first] = run->second;
      run = running_.erase(run);
    }
    return ended;
  }
  std::size_t running() const override { return running_.size(); }
  Result<Output> output_of(std::uint64_t token) override {
    const auto output = outputs.find(names_.at(token));
    return output == outputs.end() ? Output{"result of " + names_.at(token), {}, {}} : output->second;
  }
  void forget(std::uint64_t token) override { names_.erase(token); }
  int descriptor() const override { return bell_.descriptor(); }

  std::size_t most_at_once = 0;

 private:
  std::map<std::uint64_t, std::string> running_;
  std::map<std::uint64_t, std::string> names_;
  std::set<std::uint64_t> killed_;
  Bell bell_;
};

class MadeUpTasks : public TaskClient {
 public:
  std::deque<std::string> waiting = {};
  std::vector<std::string> committed = {};
  std::vector<std::string> failed = {};  // "task: reason", with "(free)" when it does not count
  std::deque<Error> lease_errors = {};   // before anything is leased
  std::deque<Error> commit_errors = {};
  LeaseOutcome renewal = LeaseOutcome::accepted;
  int renewals = 0;
  bool was_stopped = false;
  std::function<void()> on_lease = {};

  Result<std::vector<Lease>> lease(const LeaseRequest& request) override {
    ++leases_of_their_own;
    if (const auto hook = on_lease) hook();
    if (!lease_errors.empty()) {
      const Error error = lease_errors.front();
      lease_errors.pop_front();
      return fail(error);
    }
    std::vector<Lease> leases;
    while (!waiting.empty() && leases.size() < request.count && !was_stopped) {
      Lease lease;
      lease.key = {waiting.front() + ".1", ++last_token_};
      lease.task_id = waiting.front();
      names_[last_token_] = waiting.front();
      leases.push_back(lease);
      waiting.pop_front();
    }
    return leases;
  }
  Result<LeaseOutcome> renew(const LeaseKey&) override {
    ++renewals;
    return renewal;
  }
  // A client whose commits and leases are one trip.
  bool leases_with_commits = false;
  int leases_of_their_own = 0;
  CommitsAndLeases commit_and_lease(std::span<const CommitRequest> requests, const LeaseRequest& then) override {
    CommitsAndLeases answers{commit(requests)};
    if (leases_with_commits) {
      answers.leases = lease(then);
      --leases_of_their_own;
    }
    return answers;
  }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    std::vector<Result<CommitAnswer>> answers;
    for (const CommitRequest& request : requests) {
      if (!commit_errors.empty()) {
        answers.emplace_back(fail(commit_errors.front()));
        commit_errors.pop_front();
        continue;
      }
      committed.push_back(names_.at(request.key.token) + ": " + request.result);
      answers.emplace_back(CommitAnswer{LeaseOutcome::accepted, {}});
    }
    return answers;
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    std::vector<Result<FailAnswer>> answers;
    for (const FailRequest& request : requests) {
      failed.push_back(names_.at(request.key.token) + ": " + request.reason + (request.counts ? "" : " (free)"));
      answers.emplace_back(FailAnswer{});
    }
    return answers;
  }
  NextChance next_chance() override { return {}; }
  Result<bool> has_left(std::span<const std::string>) override { return !waiting.empty(); }
  void stop_leasing() override { was_stopped = true; }

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask>) override { return {}; }
  Result<Task> get(std::string_view) override { return fail(Code::not_found, "no"); }
  Result<std::vector<Task>> list(const TaskFilter&) override { return std::vector<Task>(); }
  Result<RetryOutcome> retry(std::string_view, int) override { return RetryOutcome::not_failed; }
  Result<CancelOutcome> cancel(std::string_view) override { return CancelOutcome::already_over; }
  Result<std::size_t> prune(const PruneRequest&) override { return std::size_t{0}; }

 private:
  std::uint64_t last_token_ = 0;
  std::map<std::uint64_t, std::string> names_;
};

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() { ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_); }
  // The worker blocks signals of its thread, which is the test's.
  ~WorkerTest() override { ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }

  Status work(WorkUntil until = WorkUntil::idle, std::size_t concurrency = 1) {
    LineLog log(file_.get(), clock_, LogFormat::text, LogLevel::info);
    const Status worked =
        Worker(tasks_, commands_, clock_, log,
               {.name = "w", .types = {}, .concurrency = concurrency, .lease = Seconds(60), .until = until})
            .run();
    log.finish();
    return worked;
  }
  std::string logged() const {
    std::string text(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file_.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  sigset_t mask_{};
  RealClock clock_;
  Descriptor file_{::memfd_create("log", MFD_CLOEXEC)};
  MadeUpTasks tasks_;
  MadeUpCommands commands_;
};

TEST_F(WorkerTest, EndsAtOnceWhenThereIsNothingToDo) {
  EXPECT_TRUE(work(WorkUntil::idle));
  EXPECT_TRUE(work(WorkUntil::drained));
  EXPECT_THAT(commands_.started, IsEmpty());
}

TEST_F(WorkerTest, RunsACommandForEachTaskAndCommitsWhatItLeaves) {
  tasks_.waiting = {"a", "b", "c"};
  EXPECT_TRUE(work());
  EXPECT_THAT(commands_.started, ElementsAre("a", "b", "c"));
  EXPECT_THAT(tasks_.committed, ElementsAre("a: result of a", "b: result of b", "c: result of c"));
  EXPECT_THAT(tasks_.failed, IsEmpty());
  EXPECT_EQ(commands_.most_at_once, 1U);
  EXPECT_THAT(logged(), HasSubstr("task_committed"));
}

TEST_F(WorkerTest, HasNoMoreCommandsAtATimeThanItMay) {
  for (int i = 0; i < 20; ++i) tasks_.waiting.push_back("t" + std::to_string(i));
  EXPECT_TRUE(work(WorkUntil::idle, 3));
  EXPECT_EQ(commands_.most_at_once, 3U);
  EXPECT_EQ(tasks_.committed.size(), 20U);
}

TEST_F(WorkerTest, WhatIsLeasedWithACommitIsRunAndNotAskedForAgain) {
  tasks_.leases_with_commits = true;
  for (const std::size_t concurrency : {std::size_t{1}, std::size_t{3}}) {
    tasks_.committed.clear();
    tasks_.leases_of_their_own = 0;
    commands_.most_at_once = 0;
    for (int i = 0; i < 20; ++i) tasks_.waiting.push_back("t" + std::to_string(i));
    EXPECT_TRUE(work(WorkUntil::idle, concurrency));
    EXPECT_EQ(tasks_.committed.size(), 20U);
    EXPECT_THAT(tasks_.failed, IsEmpty());
    EXPECT_EQ(commands_.most_at_once, concurrency);
    // The first of all; and where the last leases were fewer than it has room for, it asks whether there are more.
    EXPECT_LE(tasks_.leases_of_their_own, 2);
  }
}

TEST_F(WorkerTest, LeasesThatCouldNotBeAskedForWithACommitAreAskedForAgain) {
  tasks_.leases_with_commits = true;
  tasks_.waiting = {"a", "b"};
  tasks_.on_lease = [this] {
    if (tasks_.committed.size() == 1 && !commands_.started.empty() && commands_.started.back() == "a") {
      tasks_.lease_errors = {{Code::unreachable, "Redis is away"}};
      tasks_.on_lease = {};
    }
  };
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.committed, ElementsAre("a: result of a", "b: result of b"));
  EXPECT_THAT(logged(), HasSubstr("tasks_unreachable"));
}

TEST_F(WorkerTest, ToldToEndItLeasesNothingWithItsLastCommit) {
  tasks_.leases_with_commits = true;
  tasks_.waiting = {"a", "b"};
  tasks_.on_lease = [] { ::raise(SIGTERM); };
  EXPECT_TRUE(work(WorkUntil::stopped));
  EXPECT_THAT(tasks_.committed, ElementsAre("a: result of a"));
  EXPECT_THAT(commands_.started, ElementsAre("a"));
}

TEST_F(WorkerTest, AnEndSaysWhetherTheAttemptCounts) {
  tasks_.waiting = {"bad", "later", "timeout", "unseen"};
  commands_.ends = {{"bad", {.code = 3}},
                    {"later", {.code = 75}},
                    {"timeout", {.code = 124, .reason = "timed out after 2s"}},
                    {"unseen", {.code = std::nullopt}}};
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.committed, IsEmpty());
  EXPECT_THAT(tasks_.failed, ElementsAre("bad: exit status 3", "later: exit status 75 (free)",
                                         "timeout: timed out after 2s", "unseen: nobody saw how the command ended"));
}

TEST_F(WorkerTest, OutputThatCannotBeCommittedIsAFailedAttempt) {
  tasks_.waiting = {"a"};
  commands_.outputs.emplace("a", fail(Code::invalid, "staged 'x': is a link"));
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.failed, ElementsAre("a: staged 'x': is a link"));
}

TEST_F(WorkerTest, ACommandThatIsNoneEndsItAndNoAttemptIsUsedUp) {
  tasks_.waiting = {"a", "b"};
  commands_.ends = {{"a", {.code = 127, .reason = "cannot execute x: No such file or directory"}}};
  const Status worked = work();
  ASSERT_FALSE(worked);
  EXPECT_EQ(worked.error().code, Code::unreadable);
  EXPECT_THAT(worked.error().message, HasSubstr("--exec: cannot execute x"));
  EXPECT_THAT(tasks_.failed, ElementsAre("a: cannot execute x: No such file or directory (free)"));
  EXPECT_TRUE(tasks_.was_stopped);
  EXPECT_THAT(commands_.started, ElementsAre("a")) << "every other would end the same way";
}

TEST_F(WorkerTest, AMachineThatCannotStartACommandIsNotTheTasksFault) {
  tasks_.waiting = {"a"};
  commands_.cannot_start = {{"a", {Code::io, "no memory"}}};
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.failed, ElementsAre("a: cannot start: no memory (free)"));
}

TEST_F(WorkerTest, TasksThatCannotBeReachedForAMomentAreAskedForAgain) {
  tasks_.waiting = {"a"};
  tasks_.lease_errors = {{Code::unreachable, "krond restarts"}};
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.committed, ElementsAre("a: result of a"));
  EXPECT_THAT(logged(), ::testing::AllOf(HasSubstr("tasks_unreachable"), HasSubstr("tasks_reachable")));
}

TEST_F(WorkerTest, ALostAnswerToACommitIsAskedForAgain) {
  tasks_.waiting = {"a"};
  tasks_.commit_errors = {{Code::unreachable, "lost"}};
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.committed, ElementsAre("a: result of a"));
  EXPECT_THAT(tasks_.failed, IsEmpty());
}

TEST_F(WorkerTest, ADiskThatFailsEndsItAndARefusalOfTheTasksToo) {
  tasks_.waiting = {"a"};
  tasks_.commit_errors = {{Code::io, "the disk is full"}};
  EXPECT_FALSE(work());
  tasks_.lease_errors = {{Code::refused, "you may not"}};
  const Status refused = work();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused);
}

TEST_F(WorkerTest, ACommitThatIsRefusedIsAFailedAttempt) {
  tasks_.waiting = {"a"};
  tasks_.commit_errors = {{Code::invalid, "the result is too long"}};
  EXPECT_TRUE(work());
  EXPECT_THAT(tasks_.failed, ElementsAre("a: the result is too long"));
}

TEST_F(WorkerTest, ToldToEndItLeasesNoMoreAndSeesWhatRunsToItsEnd) {
  tasks_.waiting = {"a", "b"};
  tasks_.on_lease = [this] {
    if (!commands_.started.empty()) return;
    ::raise(SIGTERM);
  };
  EXPECT_TRUE(work(WorkUntil::stopped));
  EXPECT_THAT(tasks_.committed, ElementsAre("a: result of a"));
  EXPECT_THAT(commands_.terminated, IsEmpty());
  EXPECT_THAT(logged(), HasSubstr("worker_stopping"));
}

TEST_F(WorkerTest, ToldTwiceItEndsWhatRunsAndTheLeasesAreGivenBack) {
  tasks_.waiting = {"a"};
  commands_.goes_on = true;
  commands_.ends = {{"a", {.code = 143}}};
  tasks_.on_lease = [] {
    ::raise(SIGTERM);
    ::raise(SIGINT);
  };
  EXPECT_TRUE(work(WorkUntil::stopped));
  EXPECT_EQ(commands_.terminated.size(), 1U);
  EXPECT_THAT(tasks_.failed, ElementsAre("a: the worker was stopped (free)"));
}

}  // namespace
}  // namespace kron::cli
