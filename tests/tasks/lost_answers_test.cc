#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <vector>

#include "kron/env/descriptor.h"
#include "kron/queue/memory_queue.h"
#include "kron/testing/temporary_directory.h"
#include "worker.h"

// A worker whose questions, or the answers to them, get lost on the way.
namespace kron::testing {
namespace {

enum class Verb : std::uint8_t { lease, renew, commit, fail };
enum class Lost : std::uint8_t { question, answer };  // a lost answer: it has happened all the same

constexpr int kAlways = 1'000'000;

class LossyClient : public cli::TaskClient {
 public:
  explicit LossyClient(const Clock& clock) : queue(clock), clock_(clock) {}

  void lose(Verb verb, Lost what, int times = 1) { losses_[verb] = {what, times}; }

  Result<std::vector<Lease>> lease(const LeaseRequest& request) override {
    static_cast<void>(queue.expire());
    return passed_on<std::vector<Lease>>(Verb::lease, [&] { return queue.lease(request); });
  }
  Result<LeaseOutcome> renew(const LeaseKey& key) override {
    return passed_on<LeaseOutcome>(Verb::renew, [&] { return queue.renew(key); });
  }
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override {
    std::vector<Result<CommitAnswer>> answers;
    for (const CommitRequest& request : requests) {
      answers.push_back(passed_on<CommitAnswer>(Verb::commit, [&] { return queue.commit(request); }));
    }
    return answers;
  }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override {
    std::vector<Result<FailAnswer>> answers;
    for (const FailRequest& request : requests) {
      answers.push_back(passed_on<FailAnswer>(Verb::fail, [&] { return queue.fail_attempt(request); }));
    }
    return answers;
  }
  cli::NextChance next_chance() override {
    const auto expires = queue.next_expiry();
    if (!expires) return {};
    return {.expires = *expires - clock_.boot_time() + clock_.monotonic()};
  }
  Result<bool> has_left(std::span<const std::string>) override { return queue.counts() != TaskCounts(); }

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override { return queue.submit(tasks); }
  Result<Task> get(std::string_view id) override { return queue.get(id); }
  Result<std::vector<Task>> list(const TaskFilter& filter) override { return queue.list(filter); }
  Result<RetryOutcome> retry(std::string_view id, int attempts) override { return queue.retry(id, attempts); }
  Result<CancelOutcome> cancel(std::string_view id) override { return queue.cancel(id); }
  Result<std::size_t> prune(const PruneRequest& request) override { return queue.prune(request); }

  // When it was asked, on the monotonic clock.
  const std::vector<Nanoseconds>& asked(Verb verb) { return asked_[verb]; }

  MemoryQueue queue;

 private:
  template <class Answer>
  Result<Answer> passed_on(Verb verb, const auto& ask) {
    asked_[verb].push_back(clock_.monotonic());
    auto& [what, times] = losses_[verb];
    if (times-- <= 0) return ask();
    if (what == Lost::answer) static_cast<void>(ask());
    return fail(Code::unreachable, "lost on the way");
  }

  const Clock& clock_;
  std::map<Verb, std::pair<Lost, int>> losses_;
  std::map<Verb, std::vector<Nanoseconds>> asked_;
};

class LostAnswers : public ::testing::Test {
 protected:
  void submit(int attempts = 5) {
    NewTask task{.id = "a", .type = "T"};
    task.retry = {attempts, Seconds(0), Seconds(0)};
    ASSERT_TRUE(client.queue.submit(task));
  }

  // Until no task is left.
  void work(const std::string& script, Seconds lease = Seconds(60)) {
    const Descriptor file(::open(directory.file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    LineLog log(file.get(), clock, LogFormat::text, LogLevel::info);
    const auto commands = cli::Commands::open(directory.file("worker"), KRON_EXEC, clock,
                                              {.command = {"/bin/sh", "-c", script}, .grace = Seconds(5)});
    ASSERT_TRUE(commands) << commands.error().message;
    const cli::WorkerOptions options{.name = "w", .lease = lease, .until = cli::WorkUntil::drained};
    const Status worked = cli::Worker(client, **commands, clock, log, options).run();
    EXPECT_TRUE(worked) << worked.error().message;
  }

  TaskState state() { return state_of(client.queue.get("a").value()); }
  std::size_t effects() { return client.queue.effects_of("a").size(); }
  std::size_t attempts() { return client.queue.get("a").value().executions.size(); }
  std::string logged() const {
    std::ostringstream text;
    text << std::ifstream(directory.file("log")).rdbuf();
    return text.str();
  }
  // Between the first question and the next.
  Nanoseconds pause(Verb verb) { return client.asked(verb).at(1) - client.asked(verb).at(0); }

  const RealClock clock;
  const TemporaryDirectory directory{memory_directory()};
  LossyClient client{clock};
};

TEST_F(LostAnswers, ACommitThatHappenedIsAskedForAgainAndThenDroppedAsADuplicate) {
  submit();
  client.lose(Verb::commit, Lost::answer);
  work("true");
  EXPECT_EQ(client.asked(Verb::commit).size(), 2U);
  EXPECT_GE(pause(Verb::commit), Seconds(1));
  EXPECT_EQ(state(), TaskState::succeeded);
  EXPECT_EQ(effects(), 1U);
  EXPECT_EQ(attempts(), 1U);
  EXPECT_NE(logged().find("task_dropped"), std::string::npos) << logged();
  EXPECT_NE(logged().find("reason=duplicate"), std::string::npos) << logged();
  EXPECT_TRUE(client.asked(Verb::fail).empty());
}

TEST_F(LostAnswers, ACommitThatNeverArrivedIsAskedForAgainAndHappensOnce) {
  submit();
  client.lose(Verb::commit, Lost::question);
  work("true");
  EXPECT_EQ(client.asked(Verb::commit).size(), 2U);
  EXPECT_EQ(effects(), 1U);
  EXPECT_NE(logged().find("task_committed"), std::string::npos) << logged();
}

TEST_F(LostAnswers, RenewalsLostUntilTheLeaseEndsEndTheCommand) {
  submit(1);
  client.lose(Verb::renew, Lost::question, kAlways);
  const std::string ended = directory.file("ended");
  const Nanoseconds before = clock.monotonic();
  work("trap 'echo term > " + ended + "; exit 0' TERM; while :; do sleep 0.05; done", Seconds(3));
  EXPECT_GE(clock.monotonic() - before, Seconds(3));
  EXPECT_TRUE(std::filesystem::exists(ended));
  // After a third of the lease, then at every pause while it may still be ours.
  EXPECT_GE(client.asked(Verb::renew).size(), 2U);
  EXPECT_LE(client.asked(Verb::renew).size(), 4U);
  EXPECT_NE(logged().find("lease_lost"), std::string::npos) << logged();
  EXPECT_TRUE(client.asked(Verb::commit).empty());
  EXPECT_EQ(effects(), 0U);
  EXPECT_EQ(state(), TaskState::failed);
}

TEST_F(LostAnswers, ARenewalLostOnceDoesNoHarm) {
  submit(1);
  client.lose(Verb::renew, Lost::question);
  work("sleep 1.2", Seconds(3));
  EXPECT_EQ(state(), TaskState::succeeded);
  EXPECT_EQ(logged().find("lease_lost"), std::string::npos) << logged();
}

TEST_F(LostAnswers, AShortLeaseIsRenewedThreeTimesATermAndNotAllTheTime) {
  submit(1);
  work("sleep 1", Seconds(1));
  EXPECT_EQ(state(), TaskState::succeeded);
  EXPECT_GE(client.asked(Verb::renew).size(), 1U);
  EXPECT_LE(client.asked(Verb::renew).size(), 4U);
}

TEST_F(LostAnswers, ALeaseThatCouldNotBeAskedForIsAskedForAgainAfterAPause) {
  submit();
  client.lose(Verb::lease, Lost::question);
  work("true");
  EXPECT_GE(pause(Verb::lease), Seconds(1));
  EXPECT_EQ(state(), TaskState::succeeded);
  EXPECT_EQ(attempts(), 1U);
}

TEST_F(LostAnswers, ALeaseThatNobodyHeardOfRunsOutAndTheTaskIsDoneAllTheSame) {
  submit();
  client.lose(Verb::lease, Lost::answer);
  work("true", Seconds(2));
  EXPECT_EQ(state(), TaskState::succeeded);
  EXPECT_EQ(attempts(), 2U);
  EXPECT_EQ(effects(), 1U);
}

TEST_F(LostAnswers, AFailureThatHappenedIsToldAgainAndCountsOnce) {
  submit(2);
  client.lose(Verb::fail, Lost::answer);
  work("exit 1");
  EXPECT_EQ(state(), TaskState::failed);
  EXPECT_EQ(attempts(), 2U);
  EXPECT_EQ(client.asked(Verb::fail).size(), 3U);
}

}  // namespace
}  // namespace kron::testing
