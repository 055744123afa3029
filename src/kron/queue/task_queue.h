#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/queue/task.h"
#include "kron/queue/transitions.h"

// The contract of a durable task queue. What is an ordinary answer (known already, lease lost …) is a value; an Error
// means that nothing was done, or, with code io, that the queue has stopped and must be opened again.
namespace kron {

enum class SubmitOutcome : std::uint8_t {
  accepted,
  already_known,  // the same id with the same payload, in whatever state
  duplicate,      // another task that is not over has the unique key
  conflict,       // the same id with another payload
};
std::string_view name_of(SubmitOutcome outcome);

struct SubmitAnswer {
  SubmitOutcome outcome = SubmitOutcome::accepted;
  std::string task_id;  // of the task that stands for it: its own, or the holder of the unique key

  bool operator==(const SubmitAnswer&) const = default;
};

struct LeaseRequest {
  std::string worker;
  std::vector<std::string> types = {};  // empty: any
  std::size_t count = 1;                // at most kMostLeases
  Seconds term{60};                     // 1 second … 1 day
  Holder holder = Holder::outside;
  bool starts = false;  // lease and start in one step, for a worker that begins at once
};
inline constexpr std::size_t kMostLeases = 1000;
inline constexpr Seconds kMostLeaseTerm{24 * 3600};
Status check_lease_request(const LeaseRequest& request);

struct Lease {
  LeaseKey key;
  std::string task_id;
  std::string type;
  std::string data;
  int attempt = 1;
  std::optional<Seconds> timeout;
  Instant lease_expires_at;
};

struct StagedFile {
  std::string path;  // relative, '/' between names, none of them empty, "." or ".."
  std::string bytes;
};
inline constexpr std::size_t kMostStagedFiles = 1000;
inline constexpr std::size_t kMostStagedBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostStagedDepth = 8;
Status check_staged_files(std::span<const StagedFile> files);
// What an archive may hold, and a commit may not publish: names that cannot be printed.
Status check_published_names(std::span<const StagedFile> files);

struct CommitRequest {
  LeaseKey key;
  std::string result;  // UTF-8, at most kMostResultBytes
  std::vector<NewTask> follow_ups = {};
  std::vector<StagedFile> files = {};
};
Status check_result(std::string_view result);

struct CommitAnswer {
  LeaseOutcome outcome = LeaseOutcome::accepted;
  std::vector<SubmitAnswer> follow_ups;  // accepted: one for each, in order; none is a conflict
};

struct FailRequest {
  LeaseKey key;
  std::string reason;
  bool counts = true;     // false: the worker asks to try later, which uses up no attempt
  bool backs_off = true;  // false: the next attempt may begin at once
};

struct FailAnswer {
  LeaseOutcome outcome = LeaseOutcome::accepted;
  TaskState state = TaskState::pending;  // of the task after it
};

enum class CancelOutcome : std::uint8_t { cancelled, committed, already_over };
enum class RetryOutcome : std::uint8_t { retried, not_failed };
std::string_view name_of(CancelOutcome outcome);
std::string_view name_of(RetryOutcome outcome);

// An attempt that was ended from outside.
struct Expired {
  std::string task_id;
  std::string exec_id;
  std::string reason;
  TaskState state = TaskState::pending;  // of the task after it
};

struct TaskFilter {
  std::optional<TaskState> state = {};
  std::string type = {};   // empty: any
  std::string after = {};  // only ids behind this one: the last of the page before
  std::size_t limit = 100;
};

// A part of a list. It is as long as was asked for, or as a budget of tasks to look at and of bytes allows.
struct TaskPage : std::vector<Task> {
  std::string next;  // `after` of the page behind it; empty: there is none
};
inline constexpr std::size_t kMostLooksAtAPage = 10'000;
inline constexpr std::size_t kMostPageBytes = std::size_t{8} << 20;  // of payloads and results; the last may exceed it

struct PruneRequest {
  Instant over_before;                  // tasks that are over, last changed before this
  std::optional<TaskState> state = {};  // succeeded or failed: only these; none: both
  std::size_t limit = 10000;            // in one call
};

struct TaskCounts {
  std::size_t pending = 0;
  std::size_t running = 0;

  bool operator==(const TaskCounts&) const = default;
};

// How many tasks there are, for those who watch.
struct TaskSummary {
  struct OfType {
    TaskState state = TaskState::pending;
    std::string type;
    std::size_t count = 0;

    bool operator==(const OfType&) const = default;
  };

  TaskCounts counts;
  std::vector<OfType> types = {};              // pending and running, by type
  std::vector<OfType> ended = {};              // since the queue was opened: succeeded, failed for good
  std::vector<OfType> cancelled = {};          // since then; not among those that failed
  std::optional<Seconds> oldest_pending = {};  // how long the task is ready that has waited longest; none: none is
  std::optional<Error> problem = {};           // why it takes no task at the moment

  bool operator==(const TaskSummary&) const = default;
};

struct QueueOptions {
  Seconds ageing{60};                                                // this much waiting is worth one step of priority
  std::vector<std::pair<std::string, int>> concurrency_limits = {};  // of a type, over all workers
  std::uint64_t token_block = 4096;                                  // tokens reserved at a time
  bool leaves_room = false;  // the last of the disk is for others: nothing is submitted or staged that would take it
};

// What finished tasks are kept, at most; the oldest go first.
struct TaskRetention {
  Seconds age = std::chrono::days(30);
  std::size_t most = 1'000'000;
};

// For one thread. Verbs that take many share their durable work: what arrives together should come in one call.
class TaskQueue {
 public:
  virtual ~TaskQueue() = default;

  // One answer each, in order. Durable when it returns. Code invalid: that one is refused, the others are not affected.
  virtual std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) = 0;

  // One answer each, in order: at most `count` tasks that are ready, the most urgent first; fewer or none is no error.
  virtual std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) = 0;

  // LEASED → IN_PROGRESS, durable when it returns. Accepted again when it already is, for a worker that missed the
  // reply.
  virtual std::vector<Result<LeaseOutcome>> start(std::span<const LeaseKey> keys) = 0;

  // One more full term from now; kept in memory only.
  virtual Result<LeaseOutcome> renew(const LeaseKey& key) = 0;

  // The result, the follow-ups and the files happen exactly once when accepted, and not at all otherwise. Code
  // conflict: it was not started, or a follow-up has the id of another task.
  virtual std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) = 0;

  // The attempt is over; the task waits for the next one or is FAILED.
  virtual std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) = 0;

  virtual Result<CancelOutcome> cancel(std::string_view task_id) = 0;
  virtual Result<RetryOutcome> retry(std::string_view task_id, int attempts) = 0;

  // Ends the attempts whose lease or timeout has run out, and finishes commits that a full disk held up.
  virtual Result<std::vector<Expired>> expire() = 0;

  virtual Result<Task> get(std::string_view task_id) = 0;                // code not_found
  virtual Result<std::vector<Task>> list(const TaskFilter& filter) = 0;  // by id
  virtual Result<std::size_t> prune(const PruneRequest& request) = 0;    // how many
  virtual TaskCounts counts() const = 0;

  // Until when on Clock::boot_time nothing expires; nothing: no lease is held.
  virtual std::optional<Nanoseconds> next_expiry() const = 0;

  Result<SubmitAnswer> submit(const NewTask& task);
  Result<std::vector<Lease>> lease(const LeaseRequest& request);
  Result<LeaseOutcome> start(const LeaseKey& key);
  Result<CommitAnswer> commit(const CommitRequest& request);
  Result<FailAnswer> fail_attempt(const FailRequest& request);
};

}  // namespace kron
