#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/env/redis_connection.h"
#include "kron/queue/redis_caller.h"
#include "kron/queue/redis_queue_keys.h"
#include "kron/queue/redis_task.h"
#include "kron/queue/task_queue.h"

namespace kron {

// All files of one commit together: they are kept in Redis, which serves nobody else while it takes them.
inline constexpr std::size_t kMostRedisStagedBytes = std::size_t{1} << 20;
// What one answer to a request for leases carries; at least one lease, however large.
inline constexpr std::size_t kMostRedisLeaseBytes = std::size_t{8} << 20;
inline constexpr int kMostRedisLimit = 1'000'000;
// For so long a request for leases, or to prune, can be repeated; all others for ever.
inline constexpr Seconds kRedisRequestIsRemembered{60};

struct RedisQueueOptions {
  std::string name_space = "{cronken}";
  Seconds ageing{60};  // this much waiting is worth one step of priority; should be the same on all hosts
  // Tasks of others are looked for so often though no wake-up came, and leases that ran out; none: never (tests).
  std::optional<Nanoseconds> looks_every = std::chrono::seconds(1);
  RedisCaller::Options calls = {};
};

// A queue that many hosts share: in Redis (docs/formats.md, "Tasks in Redis"), by scripts (scripts/*.lua), each of
// which happens as a whole or not at all. One script is the commit; time is the server's TIME, and tokens only grow,
// also over a server that has lost its last writes. Any number of RedisQueues work on one namespace at a time.
//
// For one thread, that of its QueueThread; it blocks for as long as its connection does. The constructor does no I/O:
// each verb connects when need be, and fails with code unreachable while it cannot. A verb whose answer is lost is
// asked again under the same request id, and answered as if once. What is durable when a verb returns is what Redis
// promises: everything with `appendfsync always`. It never stops (stopped() is nothing).
//
// Others' tasks: scripts publish the type of what has become ready on the channel keys().wake(). Who hears it calls
// QueueThread::wake(). Without it, waiting leases are looked after every `looks_every`.
//
// What stands in Redis and is no task is never a crash: it is left out, with an error that names the key in the log.
class RedisQueue : public TaskQueue {
 public:
  // `clock` and `log` outlive it.
  RedisQueue(std::unique_ptr<RedisConnection> connection, const Clock& clock, Log& log, RedisQueueOptions options = {});
  ~RedisQueue() override;

  using TaskQueue::commit;
  using TaskQueue::lease;
  using TaskQueue::start;
  using TaskQueue::submit;
  std::vector<Result<SubmitAnswer>> submit(std::span<const NewTask> tasks) override;
  std::vector<Result<std::vector<Lease>>> lease(std::span<const LeaseRequest> requests) override;
  std::vector<Result<LeaseOutcome>> start(std::span<const LeaseKey> keys) override;
  Result<LeaseOutcome> renew(const LeaseKey& key) override;
  std::vector<Result<LeaseOutcome>> renew_all(std::span<const LeaseKey> keys) override;
  std::vector<Result<CommitAnswer>> commit(std::span<const CommitRequest> requests) override;
  QueueRoundAnswers do_round(const QueueRound& round) override;
  bool is_far_away() const override { return true; }
  std::vector<Result<FailAnswer>> fail_attempts(std::span<const FailRequest> requests) override;
  Result<CancelOutcome> cancel(std::string_view task_id) override;
  Result<RetryOutcome> retry(std::string_view task_id, int attempts) override;
  std::vector<Result<CancelOutcome>> cancel_all(std::span<const std::string> task_ids) override;
  std::vector<Result<RetryOutcome>> retry_all(std::span<const RetryRequest> requests) override;
  Result<std::vector<Expired>> expire() override;
  Result<Task> get(std::string_view task_id) override;
  std::vector<Result<Task>> get_all(std::span<const std::string> task_ids) override;
  std::unique_ptr<ListScan> begin_list(const TaskFilter& filter) override;
  std::unique_ptr<RemovalScan> begin_prune(const PruneRequest& request) override;
  std::unique_ptr<RemovalScan> begin_retention(const TaskRetention& keeps, Instant now) override;
  Result<TaskCounts> counts() override;
  Result<TaskSummary> summary() override;
  std::optional<Nanoseconds> next_expiry() const override;
  std::optional<Instant> next_ready() const override;
  bool has_unfinished() const override { return false; }
  const std::optional<Error>& stopped() const override { return stopped_; }

  // How many tasks of a type run at a time, over all hosts. None: any number. 0: none is leased any more.
  Status set_limit(std::string_view type, std::optional<int> most);
  Result<std::vector<std::pair<std::string, int>>> limits();  // by type

  // The staged files of the task's commit; none: it had none, or is not committed.
  Result<std::vector<StagedFile>> effects_of(std::string_view task_id);

  const RedisQueueKeys& keys() const { return keys_; }

 private:
  class Page;
  class Removal;
  using Answers = std::vector<RedisValue>;

  // Scripts. All commands as one pipeline; of each the answer without the server's time, which it begins with.
  RedisCommand script(std::string_view name, std::vector<std::string> arguments) const;
  std::vector<Result<Answers>> ask(std::vector<RedisCommand> scripts);
  std::vector<RedisReply> ask_plainly(std::vector<RedisCommand> commands);
  std::string next_request();

  // What is known of time.
  void note_time(std::int64_t microseconds);
  Instant server_second() const;
  void note_ready(Instant ready);
  void note_first_end(const RedisValue& microseconds);
  void note_ended(const Task& task);

  // What is no task.
  Error unreadable(std::string_view key, std::string_view problem);
  void tell_of(std::string_view key, std::string_view problem);
  Result<RedisTask> task_in(std::string_view task_id, const RedisReply& reply);  // of HGETALL
  Result<RedisTask> task_in(std::string_view task_id, const RedisFields& fields);

  // Requests of one kind on their way: the commands for them, and which of them each command is for.
  template <class Answer>
  struct Batch {
    std::vector<Result<Answer>> answers;
    std::vector<RedisCommand> commands = {};
    std::vector<std::vector<std::size_t>> groups = {};  // one for each command
  };
  using Told = std::span<const Result<Answers>>;  // one for each command
  Batch<SubmitAnswer> submit_batch(std::span<const NewTask> tasks);
  void finish(Batch<SubmitAnswer>& batch, std::span<const NewTask> tasks, Told told);
  Batch<LeaseOutcome> move_batch(std::span<const LeaseKey> keys, std::string_view verb);
  void finish(Batch<LeaseOutcome>& batch, std::span<const LeaseKey> keys, Told told);
  Batch<CommitAnswer> commit_batch(std::span<const CommitRequest> requests);
  void finish(Batch<CommitAnswer>& batch, std::span<const CommitRequest> requests, Told told);
  Batch<std::vector<Lease>> lease_batch(std::span<const LeaseRequest> requests);
  void finish(Batch<std::vector<Lease>>& batch, std::span<const LeaseRequest> requests, Told told);
  void add_lease_commands(Batch<std::vector<Lease>>& batch, std::span<const LeaseRequest> requests,
                          std::span<const std::size_t> open);
  Result<std::vector<std::vector<Lease>>> leases_in(const Answers& answer, std::size_t workers, bool& has_odd);
  Result<CommitAnswer> next_commit_answer(const Answers& answer, std::size_t& at, const CommitRequest& request);

  // Changes that are judged here, by what was read, and written when it is still so.
  struct Judged {
    std::optional<Task> after;  // none: nothing is to be done
  };
  using Judge = std::function<Result<Judged>(std::size_t index, const RedisTask& before)>;
  using Settled = std::function<void(std::size_t index, const RedisTask& before, const Task& after)>;
  struct Changes;  // on their way
  struct Failures;
  std::vector<RedisCommand> judge_open(Changes& changes);
  void finish(Changes& changes, Told told);
  void go_on(Changes& changes);
  std::vector<Status> change(std::span<const std::string> task_ids, std::string_view verb, Judge judge,
                             Settled settled);
  void finish(Failures& failures, std::span<const FailRequest> requests);
  void audit();
  std::vector<Result<RedisTask>> read(std::span<const std::string> task_ids);

  RedisQueueKeys keys_;
  const Clock& clock_;
  Log& log_;
  RedisQueueOptions options_;
  RedisCaller caller_;
  std::string name_;  // of this queue, in request ids
  std::uint64_t last_request_ = 0;

  // The server's clock as it was in its last answer, in microseconds, and ours then.
  std::int64_t server_time_ = 0;
  Nanoseconds boot_time_{0};
  Nanoseconds wall_ahead_{0};                // our wall clock, of the server's
  std::optional<Instant> next_ready_;        // by the server's clock; of tasks that no lease has found ready yet
  std::optional<std::int64_t> next_expiry_;  // likewise, in microseconds
  Instant looked_for_ready_;                 // when a lease was asked for last, on our wall clock
  Nanoseconds looked_for_expiry_{0};         // on Clock::boot_time
  Nanoseconds audit_at_{0};                  // not before this, on Clock::boot_time
  std::string audited_;                      // the last id that was looked at; empty: from the first on
  std::set<std::string, std::less<>> told_;  // keys that the log knows of

  std::map<std::pair<std::string, TaskState>, std::size_t> ended_;  // by this queue
  std::map<std::string, std::size_t> cancelled_;
  std::optional<Error> stopped_;
};

}  // namespace kron
