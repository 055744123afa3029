#pragma once

#include <memory>
#include <string>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/real_file_system.h"
#include "kron/queue/file_queue.h"
#include "task_direct.h"

namespace kron::cli {

// The tasks of a data directory that no other process has: this one owns it for as long as the client lives.
class OwnedQueue : public DirectTasks {
 public:
  // Code conflict, naming its PID, when another process has the directory. What is missing of it is made, if
  // `may_make`; else code not_found. `clock` and `log` outlive the client.
  static Result<std::unique_ptr<OwnedQueue>> open(const std::string& path, bool may_make, const Clock& clock, Log& log);

  Result<std::vector<Lease>> lease(const LeaseRequest& request) override;

 private:
  explicit OwnedQueue(const Clock& clock) : DirectTasks(clock) {}
  TaskQueue& queue() override { return *queue_; }

  RealFileSystem files_;
  std::unique_ptr<FileQueue> queue_;
};

}  // namespace kron::cli
