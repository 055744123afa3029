#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/core/execution.h"

// What a task and an attempt at it are (contract "durable tasks"): values without any I/O.
namespace kron {

inline constexpr std::size_t kMostIdBytes = 128;
inline constexpr std::size_t kMostTypeBytes = 64;
inline constexpr std::size_t kMostKeyBytes = 256;  // of a unique key, a worker's name, a reason
inline constexpr std::size_t kMostPayloadBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostPayloadDepth = 64;
inline constexpr std::size_t kMostResultBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostFollowUps = 100;
inline constexpr std::size_t kMostFollowUpBytes = std::size_t{4} << 20;  // payloads of one commit's follow-ups together
inline constexpr int kMostPriority = 100;
inline constexpr int kMostAttempts = 1000;
inline constexpr int kMostUncounted = 100;  // attempts that used up none, of which older ones are forgotten
inline constexpr Seconds kMostTaskDuration{365 * 24 * 3600};  // of a back-off or a timeout

struct RetryPolicy {
  int max_attempts = 5;
  Seconds backoff{10};         // before the second attempt; doubles with each further one …
  Seconds most_backoff{3600};  // … up to this

  bool operator==(const RetryPolicy&) const = default;
};

// Whether data has been parsed before. It says nothing about the task, so all are equal.
struct ParsedBefore {
  bool value = false;

  bool operator==(const ParsedBefore&) const { return true; }
};

// What is submitted.
struct NewTask {
  std::string id;             // [A-Za-z0-9][A-Za-z0-9._-]{0,127}
  std::string type;           // the same letters, at most 64
  std::string data = "null";  // JSON, opaque; kept as it was given but for the blanks between tokens
  int priority = 0;           // -100 … 100, higher first
  std::optional<Instant> run_at = {};
  RetryPolicy retry = {};
  std::optional<Seconds> timeout = {};  // of one attempt, from its start
  std::string unique_key = {};          // of all tasks that are not over, one may have it
  // Only for who has parsed `data` as a part of a larger document (new_task_in): it is valid JSON without blanks
  // between its tokens, nested no deeper than kMostPayloadDepth, and is not parsed again when the task is checked.
  ParsedBefore data_is_parsed = {};

  bool operator==(const NewTask&) const = default;
};

// Whether both are the same work: what decides between `already_known` and `conflict`.
inline bool is_same_payload(const NewTask& a, const NewTask& b) { return a.type == b.type && a.data == b.data; }

// Where the holder of a lease lives: in the process that owns the queue (then it dies with it), or outside.
enum class Holder : std::uint8_t { outside, in_process };

struct Execution {
  std::string exec_id;
  int attempt = 1;
  std::string lease_owner;
  std::uint64_t token = 0;
  ExecutionStatus status = ExecutionStatus::leased;
  Holder holder = Holder::outside;
  Seconds lease_term{60};
  Instant lease_expires_at;  // for display; expiry is judged on Clock::boot_time
  Instant leased_at;
  std::optional<Instant> started_at = {};
  std::optional<Instant> committed_at = {};
  std::optional<Instant> finished_at = {};  // DONE or ABORTED
  bool final = false;                       // cancelled: no attempt follows
  std::string reason = {};                  // why it was aborted
  bool counts = true;                       // against max_attempts
  // While it is held: until when on Clock::boot_time, in that boot. Renewals are not in it.
  std::string boot_id = {};
  Nanoseconds boot_deadline{0};

  bool operator==(const Execution&) const = default;
};

struct Task {
  NewTask spec;                // `retry.max_attempts` is raised by a retry and by attempts that do not count, `run_at`
                               // moved by a back-off
  std::uint64_t sequence = 0;  // order of submission
  Instant created_at;
  Instant updated_at;
  std::vector<Execution> executions = {};  // oldest first
  std::string result = {};
  std::vector<NewTask> follow_ups = {};  // of a commit; those that were known before are left out
  std::string staging = {};              // "staging/<exec_id>" when the commit has staged output

  bool operator==(const Task&) const = default;
};

// Names an execution for ever and for all: the task, a dot, the token.
std::string exec_id_of(std::string_view task_id, std::uint64_t token);
// The task of an execution id; nothing when it has not that form.
std::optional<std::string_view> task_of_exec_id(std::string_view exec_id);

// Code invalid, with the rule that is broken.
Status check_task_id(std::string_view id);
Status check_task_type(std::string_view type);
Status check_payload_size(std::string_view data);
Status check_worker_name(std::string_view name);

// The task as it will be kept: everything checked, `data` without blanks between its tokens.
Result<NewTask> checked(NewTask task);
// The follow-ups of one commit, each checked, and their number and size together.
Result<std::vector<NewTask>> checked_follow_ups(std::vector<NewTask> tasks);

// The data of a task that a scheduled job submits: its input, as JSON; text that is none is a JSON text.
std::string task_data_of(const std::optional<std::string>& input);

// The id of the task that a period of a scheduled job submits: the same for every repetition of that submit.
std::string scheduled_task_id(std::string_view job_name, std::string_view identity, std::string_view period_id);

}  // namespace kron
