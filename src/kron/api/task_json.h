#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/json/writer.h"
#include "kron/queue/task_queue.h"

// The bodies of the task and lease paths. Code invalid names the member that is wrong.
namespace kron::api {

inline constexpr std::size_t kMostTasksAtOnce = 1000;
inline constexpr std::size_t kMostTasksBody = std::size_t{16} << 20;

// One task, or {"tasks":[…]}. A task of many that is wrong has its own error; one without an id gets a new one.
Result<std::vector<Result<NewTask>>> read_new_tasks(std::string_view body);

struct LeaseBody {
  LeaseRequest request;
  Seconds wait{0};
};
inline constexpr Seconds kMostWait{60};
Result<LeaseBody> read_lease_request(std::string_view body);

Result<std::uint64_t> read_token(std::string_view body);
// A commit, and the request for leases that may come with it.
struct CommitBody {
  CommitRequest request;
  std::optional<LeaseRequest> then = {};
};
Result<CommitBody> read_commit(std::string_view body, std::string_view exec_id);
Result<FailRequest> read_fail(std::string_view body, std::string_view exec_id);

// A body that may be empty.
struct RetryRequest {
  int attempts = 1;
  std::string note = {};
};
Result<RetryRequest> read_retry(std::string_view body);
Result<PruneRequest> read_prune(std::string_view body, Instant now);

void write_answer(JsonWriter& json, const Result<SubmitAnswer>& answer);
void write_lease(JsonWriter& json, const Lease& lease);

}  // namespace kron::api
