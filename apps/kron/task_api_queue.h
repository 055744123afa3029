#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kron/env/clock.h"
#include "kron/env/descriptor.h"
#include "kron/http/client.h"
#include "task_client.h"

namespace kron::cli {

// The tasks of a running krond, over its API. While krond is not there every answer is code unreachable; when it is
// back, the next question reaches it.
class ApiQueue : public TaskClient {
 public:
  // `patience`: how long a request for leases waits at krond for a task to be ready. 0: not at all, and lease() is a
  // plain question. Else lease() returns at once with what has arrived, and descriptor() tells when to ask it again.
  static Result<std::unique_ptr<ApiQueue>> open(http::Endpoint krond, Seconds patience, const Clock& clock);
  ~ApiQueue() override { stop_leasing(); }

  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override;
  Result<Task> get(std::string_view task_id) override;
  Result<std::vector<Task>> list(const TaskFilter& filter) override;
  Result<RetryOutcome> retry(std::string_view task_id, int attempts) override;
  Result<CancelOutcome> cancel(std::string_view task_id) override;
  Result<std::size_t> prune(const PruneRequest& request) override;

  Result<std::vector<Lease>> lease(const LeaseRequest& request) override;
  Result<LeaseOutcome> renew(const LeaseKey& key) override;
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override;
  CommitsAndLeases commit_and_lease(std::span<const CommitRequest> requests, const LeaseRequest& then) override;
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override;
  NextChance next_chance() override { return {}; }
  Result<bool> has_left(std::span<const std::string> types) override;
  int descriptor() const override { return wakeup_.get(); }
  void stop_leasing() override;

 private:
  ApiQueue(http::Endpoint krond, Seconds patience, const Clock& clock, Descriptor wakeup);

  // The body of a success, and of a "no" that is an answer (409 with JSON).
  Result<std::string> ask(std::string_view method, const std::string& target, std::string body = {},
                          http::Fields headers = {});
  void submit_group(std::span<const NewTask> tasks, std::vector<Result<SubmitAnswer>>& answers);
  Result<std::string> send_commit(const CommitRequest& request, const LeaseRequest* then);
  Result<CommitAnswer> commit_one(const CommitRequest& request);
  Status begin_waiting(const LeaseRequest& request);
  void end_waiting();

  const Clock& clock_;
  http::Endpoint krond_;
  Seconds patience_;
  http::Client calls_;
  http::Client poll_;
  Descriptor wakeup_;  // an epoll, because the connection of the long poll comes and goes
  int waits_on_ = -1;  // the connection in it
  bool is_waiting_ = false;
  bool leases_with_commits_ = true;  // false: krond is older than that
};

}  // namespace kron::cli
