#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/http/message.h"
#include "kron/queue/task_queue.h"

// The task and lease paths of krond's API as JSON (docs/formats.md has the names). What cannot be read is code
// internal.
namespace kron::cli {

std::string submit_json(std::span<const NewTask> tasks);
std::string lease_json(const LeaseRequest& request, Seconds wait);
std::string token_json(const LeaseKey& key);
// `then`: leases that are asked for with it; null: none.
std::string commit_json(const CommitRequest& request, const LeaseRequest* then = nullptr);
std::string fail_json(const FailRequest& request);
std::string prune_json(const PruneRequest& request, Instant now);

// One answer for each task that was sent.
Result<std::vector<Result<SubmitAnswer>>> submit_answers_in(std::string_view body, std::size_t count);
Result<std::vector<Lease>> leases_in(std::string_view body);
Result<LeaseOutcome> lease_outcome_in(std::string_view body);
Result<CommitAnswer> commit_answer_in(std::string_view body);
Result<FailAnswer> fail_answer_in(std::string_view body);
Result<CancelOutcome> cancel_outcome_in(std::string_view body);
Result<RetryOutcome> retry_outcome_in(std::string_view body);
Result<std::size_t> removed_in(std::string_view body);

struct TaskPage {
  std::vector<Task> tasks;
  std::string next;  // where the page after it begins; empty on the last
};
Result<TaskPage> task_page_in(std::string_view body);

}  // namespace kron::cli
