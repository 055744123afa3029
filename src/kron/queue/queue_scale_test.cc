#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "kron/env/real_file_system.h"
#include "kron/queue/queue_rig.h"
#include "kron/queue/queue_service.h"
#include "kron/queue/task_file.h"
#include "kron/testing/scale.h"

// Very many finished tasks: what looks through them does a part in each round, and leases are served in every one.
namespace kron::testing {
namespace {

constexpr int kMostRounds = 1'000'000;

Task finished_task(int number, const std::string& type, Instant at) {
  Task task = new_task(task_named("t" + std::to_string(number), type), static_cast<std::uint64_t>(number) + 1, at);
  task = leased(task, {.owner = "w", .token = static_cast<std::uint64_t>(number) + 1}, at).value();
  task = committed(started(task, at).value(), {}, at).value();
  return finished(task, at).value();
}

// A service, and rounds of it that are counted.
class Rounds {
 public:
  Rounds(FileSystem& files, const std::string& path, std::optional<TaskRetention> keeps = {})
      : service_(file_queue_opener(files, clock, log, path), clock, log, {.place = path, .keeps = keeps}) {}

  std::optional<Nanoseconds> round() {
    service_.take(std::exchange(inbox, {}));
    return service_.work();
  }
  // One round of `ask`, and whether it was answered in it.
  bool submits_leases_and_renews_at_once(int number) {
    int answers = 0;
    const std::string id = "new" + std::to_string(number);
    inbox.submissions.push_back({{task_named(id, "FAX")}, [&](const auto& all) { answers += all[0] ? 1 : 0; }});
    round();
    LeaseKey key;
    inbox.leases.push_back(
        {1, {.worker = "w", .types = {"FAX"}, .starts = true}, clock.boot_time(), [&](const auto& leases) {
           answers += leases && leases->size() == 1 ? 1 : 0;
           if (leases && !leases->empty()) key = leases->front().key;
           return true;
         }});
    round();
    inbox.renewals.push_back({key, [&](const auto& outcome) { answers += outcome == LeaseOutcome::accepted ? 1 : 0; }});
    round();
    return answers == 3;
  }
  // The first question opens the queue, which is not what a round costs.
  void open() {
    inbox.summaries.push_back({{}, [](const auto&) {}});
    round();
  }
  void list(TaskFilter filter) {
    page.reset();
    inbox.lists.push_back({std::move(filter), [this](Result<TaskPage> answer) {
                             ASSERT_TRUE(answer) << answer.error().message;
                             page = *std::move(answer);
                           }});
  }

  FakeClock clock{kQueueStart};
  CapturingLog log;
  Questions inbox;
  std::optional<TaskPage> page;

 private:
  QueueService service_;
};

// On the machine's own files, because there are many.
class ManyFinishedTasks : public ::testing::Test {
 protected:
  ManyFinishedTasks() {
    std::string pattern =
        (std::filesystem::exists("/dev/shm") ? "/dev/shm" : ::testing::TempDir()) + "/kron-many-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    FileQueue::open(files_, FakeClock(kQueueStart), log_, path_).value();
    for (int i = 0; i < count_; ++i) {
      const std::string type = i % (count_ / 5) == 0 ? "RARE" : "MAIL";
      std::ofstream(path_ + "/tasks/completed/t" + std::to_string(i) + ".json")
          << task_text(finished_task(i, type, kQueueStart));
    }
  }
  ~ManyFinishedTasks() override { std::filesystem::remove_all(path_); }
  std::size_t completed() const {
    const auto names = std::filesystem::directory_iterator(path_ + "/tasks/completed");
    return static_cast<std::size_t>(std::ranges::distance(begin(names), end(names)));
  }

  const int count_ = std::min(100'000, scaled(5'000));
  CapturingLog log_;
  RealFileSystem files_;
  std::string path_;
};

TEST_F(ManyFinishedTasks, AreListedPageByPageWhileLeasesAreServedInEveryRound) {
  Rounds rounds(files_, path_);
  std::vector<std::string> found;
  std::string after;
  int asked = 0;
  int pages = 0;
  do {
    rounds.list({.type = "RARE", .after = after, .limit = 100});
    for (int i = 0; !rounds.page && i < kMostRounds; ++i) {
      if (i % 100 == 3) {
        ASSERT_TRUE(rounds.submits_leases_and_renews_at_once(asked++));
      } else {
        rounds.round();
      }
    }
    ASSERT_TRUE(rounds.page);
    for (const Task& task : *rounds.page) found.push_back(task.spec.id);
    EXPECT_TRUE(std::ranges::is_sorted(found));
    after = rounds.page->next;
    ASSERT_LE(++pages, count_ / 1000 + 2);
  } while (!after.empty());
  EXPECT_EQ(found.size(), 5U);
  EXPECT_GT(asked, 0);
}

TEST_F(ManyFinishedTasks, ThatAreTooManyGoOldestFirstAndNobodyWaits) {
  // Written an hour ago, as the file system has it.
  const auto hours = [](int number) { return std::chrono::hours(number); };
  for (int i = 0; i < count_ / 2; ++i) {
    const auto path = path_ + "/tasks/completed/t" + std::to_string(i) + ".json";
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - hours(3));
  }
  const auto most = static_cast<std::size_t>(count_ - count_ / 4);
  Rounds rounds(files_, path_, TaskRetention{.age = std::chrono::days(30), .most = most});
  rounds.list({.limit = 1});
  rounds.round();
  rounds.clock.advance(Seconds(20));
  int asked = 0;
  for (int i = 0; rounds.log.lines_of("tasks.old_removed").empty() && i < kMostRounds; ++i) {
    rounds.clock.advance(std::chrono::milliseconds(10));
    if (i % 50 == 3) {
      ASSERT_TRUE(rounds.submits_leases_and_renews_at_once(asked++));
    } else {
      rounds.round();
    }
  }
  ASSERT_EQ(rounds.log.lines_of("tasks.old_removed").size(), 1U);
  EXPECT_EQ(rounds.log.lines_of("tasks.old_removed")[0].field("count"), std::to_string(count_ / 4));
  EXPECT_EQ(completed(), most);
  for (int i = count_ / 2; i < count_; ++i) {
    ASSERT_TRUE(std::filesystem::exists(path_ + "/tasks/completed/t" + std::to_string(i) + ".json"))
        << "not the oldest";
  }
}

// On a disk that counts what is asked of it.
class BudgetOfARound : public ::testing::Test {
 protected:
  BudgetOfARound() {
    auto queue = FileQueue::open(disk_, FakeClock(kQueueStart), log_, kQueuePath).value();
    queue.reset();
    for (int i = 0; i < kTasks; ++i) {
      disk_.plant_file("/data/tasks/completed/t" + std::to_string(i) + ".json",
                       task_text(finished_task(i, "MAIL", kQueueStart)));
    }
  }
  // The most reads and removals of one round, until `is_done`.
  template <class Done>
  std::size_t most_in_a_round(Rounds& rounds, Done is_done) {
    std::size_t most = 0;
    for (int i = 0; !is_done() && i < kMostRounds; ++i) {
      rounds.clock.advance(std::chrono::milliseconds(10));
      const std::size_t before = disk_.calls().size();
      rounds.round();
      const auto begin = disk_.calls().begin() + static_cast<std::ptrdiff_t>(before);
      const auto count = std::count_if(begin, disk_.calls().end(), [](const CallRecord& call) {
        return call.call == Call::read || call.call == Call::remove;
      });
      most = std::max(most, static_cast<std::size_t>(count));
    }
    EXPECT_TRUE(is_done());
    return most;
  }

  static constexpr int kTasks = 300;
  CapturingLog log_;
  PowerCutFileSystem disk_;
};

TEST_F(BudgetOfARound, BoundsAList) {
  Rounds rounds(disk_, std::string(kQueuePath));
  rounds.open();
  rounds.list({.type = "NONE", .limit = 100});
  EXPECT_LE(most_in_a_round(rounds, [&] { return rounds.page.has_value(); }), kReadsAtOnce);
  EXPECT_TRUE(rounds.page->empty());
  EXPECT_EQ(rounds.page->next, "");
}

TEST_F(BudgetOfARound, BoundsAPrune) {
  Rounds rounds(disk_, std::string(kQueuePath));
  rounds.open();
  std::optional<std::size_t> removed;
  rounds.inbox.prunes.push_back(
      {{.over_before = kLastInstant, .limit = 100}, [&](const auto& answer) { removed = answer.value(); }});
  EXPECT_LE(most_in_a_round(rounds, [&] { return removed.has_value(); }), 2 * kReadsAtOnce);
  EXPECT_EQ(removed, 100U);
}

TEST_F(BudgetOfARound, BoundsTheRemovalOfOldTasks) {
  Rounds rounds(disk_, std::string(kQueuePath), TaskRetention{.age = Seconds(60), .most = 1'000'000});
  rounds.open();
  rounds.clock.advance(Seconds(100));
  EXPECT_LE(most_in_a_round(rounds, [&] { return !rounds.log.lines_of("tasks.old_removed").empty(); }),
            2 * kReadsAtOnce);
  EXPECT_EQ(rounds.log.lines_of("tasks.old_removed")[0].field("count"), "300");
}

TEST_F(BudgetOfARound, APageIsNoLargerThanItsBytes) {
  Rounds rounds(disk_, std::string(kQueuePath));
  const std::string large = '"' + std::string(kMostPayloadBytes - 2, 'x') + '"';
  for (int i = 0; i < 12; ++i) {
    rounds.inbox.submissions.push_back(
        {{task_named("large" + std::to_string(10 + i), "L", large)}, [](const auto&) {}});
  }
  std::size_t seen = 0;
  std::string after;
  int pages = 0;
  do {
    rounds.list({.type = "L", .after = after, .limit = 100});
    for (int i = 0; !rounds.page && i < kMostRounds; ++i) rounds.round();
    ASSERT_TRUE(rounds.page);
    EXPECT_LE(rounds.page->size(), kMostPageBytes / kMostPayloadBytes);
    seen += rounds.page->size();
    after = rounds.page->next;
  } while (!after.empty() && ++pages < 10);
  EXPECT_EQ(seen, 12U);
}

class Retention : public BudgetOfARound {
 protected:
  std::size_t completed() const {
    return disk_.disk().at(*disk_.disk().find_path("/data/tasks/completed")).entries.size();
  }
  void pass(Rounds& rounds, Seconds time) {
    for (Seconds i(0); i < time; ++i) {
      for (int j = 0; j < 30; ++j) rounds.round();
      rounds.clock.advance(Seconds(1));
    }
  }
  static constexpr TaskRetention kDay{.age = std::chrono::days(1), .most = 1'000'000};
};

TEST_F(Retention, AClockThatIsYearsAheadForAMomentRemovesNothing) {
  Rounds rounds(disk_, std::string(kQueuePath), kDay);
  rounds.list({.limit = 1});
  pass(rounds, Seconds(5));
  rounds.clock.jump(std::chrono::years(10));
  pass(rounds, Seconds(5));
  rounds.clock.jump(-std::chrono::years(10));
  pass(rounds, Seconds(60));
  EXPECT_EQ(completed(), 300U);
  EXPECT_TRUE(rounds.log.lines_of("tasks.old_removed").empty());
}

TEST_F(Retention, WhatIsYoungerThanTheAgeStaysAndGoesWhenItIsOld) {
  Rounds rounds(disk_, std::string(kQueuePath), kDay);
  rounds.list({.limit = 1});
  pass(rounds, Seconds(60));
  EXPECT_EQ(completed(), 300U);
  rounds.clock.advance(std::chrono::hours(24));
  pass(rounds, Seconds(60));
  EXPECT_EQ(completed(), 0U);
}

TEST_F(Retention, AnIdThatWasRemovedIsANewTask) {
  Rounds rounds(disk_, std::string(kQueuePath), kDay);
  rounds.list({.limit = 1});
  rounds.clock.advance(std::chrono::hours(25));
  pass(rounds, Seconds(60));
  std::optional<SubmitOutcome> outcome;
  rounds.inbox.submissions.push_back({{task_named("t0")}, [&](const auto& all) { outcome = all[0].value().outcome; }});
  rounds.round();
  EXPECT_EQ(outcome, SubmitOutcome::accepted);
}

}  // namespace
}  // namespace kron::testing
