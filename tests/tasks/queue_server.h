#pragma once

#include <string>

#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/json/document.h"
#include "task_client.h"

// One owner of a queue and workers in other processes that reach it by a Unix socket: JSON lines, one answer for each.
namespace kron::testing {

// Owns the data directory and serves it until the process is killed.
[[noreturn]] void serve_queue(const std::string& data_directory, const std::string& socket_path);

// What a worker and a test need of the queue behind the socket; waits for the server to be there.
class SocketClient : public cli::TaskClient {
 public:
  explicit SocketClient(const std::string& socket_path);

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override;
  Result<std::vector<Lease>> lease(const LeaseRequest& request) override;
  Result<LeaseOutcome> renew(const LeaseKey& key) override;
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override;
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override;
  cli::NextChance next_chance() override;
  Result<bool> has_left(std::span<const std::string> types) override;

  Result<Task> get(std::string_view) override { return not_served(); }
  Result<std::vector<Task>> list(const TaskFilter&) override { return not_served(); }
  Result<RetryOutcome> retry(std::string_view, int) override { return not_served(); }
  Result<CancelOutcome> cancel(std::string_view) override { return not_served(); }
  Result<std::size_t> prune(const PruneRequest&) override { return not_served(); }

 private:
  static tl::unexpected<Error> not_served() {
    return fail(Code::internal, "the server of the test does not know this");
  }
  Result<Node> ask(std::string request);

  RealClock clock_;
  Descriptor socket_;
  std::string received_;
};

}  // namespace kron::testing
