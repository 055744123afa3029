#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/real_file_system.h"
#include "kron/queue/file_queue.h"
#include "kron/queue/id_list.h"
#include "kron/queue/queue_rig.h"
#include "kron/queue/task_file.h"
#include "kron/testing/temporary_directory.h"

// More tasks than one thread reads by itself, on a real disk.
namespace kron::testing {
namespace {

constexpr int kMany = 2'500;

class RecoveryOfMany : public ::testing::Test {
 protected:
  RecoveryOfMany() {
    for (const char* place : {"pending", "running", "completed"}) std::filesystem::create_directories(path(place));
    for (int i = 0; i < kMany; ++i) put("pending", waiting(i));
  }

  static std::string name(int number) { return "t" + std::to_string(number); }
  // The later, the more urgent.
  static Task waiting(int number) {
    NewTask spec = task_named(name(number));
    spec.run_at = kQueueStart - Seconds(number);
    if (number % 500 == 0) spec.unique_key = "key" + std::to_string(number);
    return new_task(spec, static_cast<std::uint64_t>(number + 1), kQueueStart - Seconds(100'000));
  }
  static Task done(int number) {
    auto task = leased(waiting(number), {.owner = "w", .token = 70'000}, kQueueStart);
    task = committed(started(*task, kQueueStart).value(), {"result", {}, ""}, kQueueStart);
    return finished(*task, kQueueStart).value();
  }

  std::string path(const std::string& place) const { return directory.file("data/tasks/" + place); }
  void put(const std::string& place, const Task& task) const {
    std::ofstream(path(place) + "/" + task_file_name(task.spec.id)) << task_text(task);
  }
  std::unique_ptr<FileQueue> open() {
    auto queue = FileQueue::open(files, clock, log, directory.file("data"));
    EXPECT_TRUE(queue) << queue.error().message;
    return *std::move(queue);
  }

  const TemporaryDirectory directory{memory_directory()};
  RealFileSystem files;
  FakeClock clock{kQueueStart};
  CapturingLog log;
};

TEST_F(RecoveryOfMany, FindsEveryTaskAndTheirOrder) {
  const auto queue = open();
  EXPECT_EQ(queue->counts(), (TaskCounts{kMany, 0}));
  const auto leases = queue->lease({.worker = "w", .count = 3}).value();
  ASSERT_EQ(leases.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(leases[static_cast<std::size_t>(i)].task_id, name(kMany - 1 - i));
  NewTask other = task_named("other");
  other.unique_key = "key1500";
  EXPECT_EQ(queue->submit(other).value(), (SubmitAnswer{SubmitOutcome::duplicate, name(1500)}));
}

TEST_F(RecoveryOfMany, FindsWhatIsDamagedAndWhatIsFurtherElsewhere) {
  put("completed", done(17));
  put("running", done(2'400));
  std::ofstream(path("pending") + "/" + task_file_name(name(1'242))) << "{\"taskId\":\"t1242\"";
  std::ofstream(path("completed") + "/" + task_file_name(name(5))) << "torn";
  const auto queue = open();
  EXPECT_EQ(queue->counts(), (TaskCounts{kMany - 3, 0}));
  EXPECT_EQ(queue->recovery().doubles, 2U);
  EXPECT_EQ(queue->recovery().set_aside, 2U);
  EXPECT_EQ(state_of(queue->get(name(17)).value()), TaskState::succeeded);
  EXPECT_EQ(state_of(queue->get(name(2'400)).value()), TaskState::succeeded);
  EXPECT_EQ(state_of(queue->get(name(5)).value()), TaskState::pending);
  EXPECT_FALSE(std::filesystem::exists(path("pending") + "/" + task_file_name(name(17))));
}

TEST_F(RecoveryOfMany, RebuildsTheTokensFromWhatTheTasksKnow) {
  put("completed", done(1));
  const auto queue = open();
  EXPECT_GT(queue->lease({.worker = "w"}).value().at(0).key.token, 70'000U);
  EXPECT_EQ(log.lines_of("queue.tokens_rebuilt").size(), 1U);
}

TEST(IdList, KeepsTheOrderAndEachIdOnce) {
  IdList list;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(list.add("id-" + std::to_string(i)));
  EXPECT_FALSE(list.add("id-77"));
  ASSERT_EQ(list.ids().size(), 10'000U);
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(list.ids()[static_cast<std::size_t>(i)], "id-" + std::to_string(i));
  EXPECT_TRUE(list.contains("id-9999"));
  EXPECT_FALSE(list.contains("id-10000"));
}

}  // namespace
}  // namespace kron::testing
