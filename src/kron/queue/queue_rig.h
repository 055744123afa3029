#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "kron/env/fake/capturing_log.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/env/fake/power_cut_file_system.h"
#include "kron/queue/file_queue.h"
#include "kron/queue/memory_queue.h"

// What the tests of the queue share: a machine in memory, and short verbs.
namespace kron::testing {

inline constexpr Instant kQueueStart = instant_of(1'767'690'930);  // 2026-01-06T09:15:30Z
inline constexpr std::string_view kQueuePath = "/data";

inline NewTask task_named(std::string id, std::string type = "MAIL", std::string data = R"({"n":1})") {
  NewTask task;
  task.id = std::move(id);
  task.type = std::move(type);
  task.data = std::move(data);
  return task;
}

// A queue and the clock it lives by.
class QueueRig {
 public:
  virtual ~QueueRig() = default;
  virtual TaskQueue& queue() = 0;

  FakeClock clock{kQueueStart};
  // Somebody sets the clock that tasks wait by.
  virtual void jump_ahead(Seconds by) { clock.jump(by); }

  SubmitOutcome submit(const NewTask& task) {
    const auto answer = queue().submit(task);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->outcome : SubmitOutcome::conflict;
  }

  std::vector<Lease> lease(LeaseRequest request) {
    if (request.worker.empty()) request.worker = "w1";
    auto leases = queue().lease(request);
    EXPECT_TRUE(leases) << leases.error().message;
    return leases ? *std::move(leases) : std::vector<Lease>();
  }
  // The one lease there is; fails the test when there is none.
  Lease lease_one(std::string worker = "w1", bool starts = true) {
    auto leases = lease({.worker = std::move(worker), .types = {}, .starts = starts});
    EXPECT_EQ(leases.size(), 1U);
    return leases.empty() ? Lease{} : leases.front();
  }
  std::vector<std::string> lease_ids(LeaseRequest request) {
    std::vector<std::string> ids;
    for (const Lease& lease : lease(std::move(request))) ids.push_back(lease.task_id);
    return ids;
  }

  LeaseOutcome commit(const LeaseKey& key, std::string result = "done") {
    const auto answer = queue().commit({.key = key, .result = std::move(result)});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? answer->outcome : LeaseOutcome::lease_lost;
  }

  TaskState state(std::string_view id) {
    const auto task = queue().get(id);
    EXPECT_TRUE(task) << task.error().message;
    return task ? state_of(*task) : TaskState::failed;
  }
};

class MemoryRig : public QueueRig {
 public:
  explicit MemoryRig(QueueOptions options = {}) : queue_(clock, std::move(options)) {}
  MemoryQueue& queue() override { return queue_; }

 private:
  MemoryQueue queue_;
};

// A FileQueue on a disk in memory, whose process can die.
class FileRig : public QueueRig {
 public:
  explicit FileRig(QueueOptions options = {}, bool opens = true) : options_(std::move(options)) {
    if (opens) restart();
  }
  FileQueue& queue() override { return *queue_; }

  Status try_restart() {
    queue_.reset();
    auto opened = FileQueue::open(disk, clock, log, kQueuePath, options_);
    if (!opened) return fail(opened.error());
    queue_ = *std::move(opened);
    return {};
  }
  void restart() {
    const Status opened = try_restart();
    ASSERT_TRUE(opened) << opened.error().message;
  }

  // Names in a directory below the data directory.
  std::vector<std::string> names(const std::string& directory) const {
    std::vector<std::string> found;
    const auto id = disk.disk().find_path(std::string(kQueuePath) + "/" + directory);
    if (!id) return found;
    for (const auto& [name, inode] : disk.disk().at(*id).entries) found.push_back(name);
    return found;
  }
  std::string contents(const std::string& path) const {
    const auto id = disk.disk().find_path(std::string(kQueuePath) + "/" + path);
    return id ? disk.disk().at(*id).data : "(no such file)";
  }

  PowerCutFileSystem disk;
  CapturingLog log;

 private:
  QueueOptions options_;
  std::unique_ptr<FileQueue> queue_;
};

}  // namespace kron::testing
