#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kron/queue/task.h"
#include "kron/queue/transitions.h"

// The contract of a durable task queue. What is an ordinary answer (known already, lease lost …) is a value. An Error
// means that nothing was done; with code unreachable, that it may or may not have been done, and may be asked again.
// After a failure that only another start can make good, stopped() says so and every verb fails with code io.
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

struct RetryRequest {
  std::string task_id;
  int attempts = 1;  // more
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

// Work on many tasks, a part at a time, so that leases can be served in between. Must not outlive its queue.
class ListScan {
 public:
  virtual ~ListScan() = default;
  // Does one part. Nothing: the page is not complete yet; call it again. Not to be called after a page or an Error.
  virtual Result<std::optional<TaskPage>> next_part() = 0;
};

class RemovalScan {
 public:
  virtual ~RemovalScan() = default;
  // Does one part. False: there is more to do. What it removed is gone for good when it returns.
  virtual Result<bool> next_part() = 0;
  virtual std::size_t removed() const = 0;  // so far
};

// What was asked at one time, of several kinds; done in the order of the members.
struct QueueRound {
  std::vector<NewTask> submits = {};
  std::vector<LeaseKey> starts = {};
  std::vector<LeaseKey> renewals = {};
  std::vector<CommitRequest> commits = {};
  std::vector<FailRequest> fails = {};
  std::vector<LeaseRequest> leases = {};
};
struct QueueRoundAnswers {
  std::vector<Result<SubmitAnswer>> submits;
  std::vector<Result<LeaseOutcome>> starts;
  std::vector<Result<LeaseOutcome>> renewals;
  std::vector<Result<CommitAnswer>> commits;
  std::vector<Result<FailAnswer>> fails;
  std::vector<Result<std::vector<Lease>>> leases;
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

  // One more full term from now. Need not survive a restart of the queue's owner.
  virtual Result<LeaseOutcome> renew(const LeaseKey& key) = 0;
  // Many at once; a queue on the other side of a network is asked once for all of them.
  virtual std::vector<Result<LeaseOutcome>> renew_all(std::span<const LeaseKey> keys);

  // The result, the follow-ups and the files happen exactly once when accepted, and not at all otherwise. Durable when
  // it returns. Code conflict: it was not started, or a follow-up has the id of another task.
  virtual std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) = 0;

  // The attempt is over; the task waits for the next one or is FAILED. Durable when it returns.
  virtual std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) = 0;

  // The verbs of a round, one after the other. A queue on the other side of a network makes one trip of them.
  virtual QueueRoundAnswers do_round(const QueueRound& round);
  virtual bool is_far_away() const { return false; }

  // Both durable when they return. Code not_found: there is no such task, also of an id that no task can have.
  virtual Result<CancelOutcome> cancel(std::string_view task_id) = 0;
  virtual Result<RetryOutcome> retry(std::string_view task_id, int attempts) = 0;
  // Many at once, in order; as renew_all.
  virtual std::vector<Result<CancelOutcome>> cancel_all(std::span<const std::string> task_ids);
  virtual std::vector<Result<RetryOutcome>> retry_all(std::span<const RetryRequest> requests);

  // Ends the attempts whose lease or timeout has run out, and tries again what has_unfinished() tells of.
  virtual Result<std::vector<Expired>> expire() = 0;

  virtual Result<Task> get(std::string_view task_id) = 0;                            // code not_found
  virtual std::vector<Result<Task>> get_all(std::span<const std::string> task_ids);  // one answer each, in order

  // One page, by id. It shows every task that was there all the while, as it is when it is looked at.
  virtual std::unique_ptr<ListScan> begin_list(const TaskFilter& filter) = 0;
  virtual std::unique_ptr<RemovalScan> begin_prune(const PruneRequest& request) = 0;
  // Removes finished tasks that are too old at `now`, or too many.
  virtual std::unique_ptr<RemovalScan> begin_retention(const TaskRetention& keeps, Instant now) = 0;

  virtual Result<TaskCounts> counts() = 0;
  virtual Result<TaskSummary> summary() = 0;

  // Until when on Clock::boot_time nothing expires; nothing: no lease is held.
  virtual std::optional<Nanoseconds> next_expiry() const = 0;
  // When on the wall clock the first task is ready that no lease() has found ready yet, one that has just been
  // submitted included; nothing: there is none. A queue that others submit to as well says when to look again.
  virtual std::optional<Instant> next_ready() const = 0;
  // Whether something that is safe already could not be brought to its end, and the next expire() tries it again.
  virtual bool has_unfinished() const = 0;
  // Why every further verb fails, until the queue is opened by another process; nothing: it has not stopped.
  virtual const std::optional<Error>& stopped() const = 0;
  bool has_stopped() const { return stopped().has_value(); }

  Result<SubmitAnswer> submit(const NewTask& task);
  Result<std::vector<Lease>> lease(const LeaseRequest& request);
  Result<LeaseOutcome> start(const LeaseKey& key);
  Result<CommitAnswer> commit(const CommitRequest& request);
  Result<FailAnswer> fail_attempt(const FailRequest& request);
  // The whole of it in one call, however long it takes.
  Result<std::vector<Task>> list(const TaskFilter& filter);
  Result<std::size_t> prune(const PruneRequest& request);  // how many
};

// What came of trying to open a queue.
struct OpenedQueue {
  Result<std::unique_ptr<TaskQueue>> queue;  // code not_found: there is none, and none was to be made
  bool is_final = false;                     // when it is not open: only another process may try again
};
// `may_create`: a queue that is not there yet is made.
using QueueOpener = std::function<OpenedQueue(bool may_create)>;

}  // namespace kron
